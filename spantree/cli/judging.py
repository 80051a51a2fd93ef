"""Judging from the command line: the judge that was chosen, what it is asked, and what that used."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors import UserError
from runtime.limits import Limits
from spantree.cli.flags import FLAGS
from spantree.cli.terminal import count

if TYPE_CHECKING:
    import dspy

    from evals.asking import Asking
    from evals.judging import Judging
    from evals.log import SampleRecord
    from spantree.cli.progress import Watcher

WIDTH = 8


@dataclass
class ChosenJudge:
    """A judge as it was chosen, and after it was asked what it said."""

    lm: "dspy.LM"
    asking: "Asking"
    cache: Path | None
    limits: Limits
    found: "Judging | None" = None

    @classmethod
    def of(
        cls,
        model: str | None,
        *,
        way: str | None,
        threshold: float | None,
        cache: Path | None,
        api_base: str | None,
        concurrency: int | None,
        **caps: float | None,
    ) -> "ChosenJudge | None":
        """The judge of a model, None without one. Raises UserError for an unknown model, or options without a model."""
        if model is None:
            given = {"--judge-by": way, "--judge-threshold": threshold, "--judge-cache": cache}
            given |= {"--api-base": api_base, "--concurrency": concurrency}
            given |= {FLAGS[name]: cap for name, cap in caps.items()}
            useless = [name for name, value in given.items() if value is not None]
            if useless:
                raise UserError(
                    f"{', '.join(useless)}: of no use where no model is called",
                    hint="name a model that judges: --judge MODEL",
                )
            return None
        from evals.asking import asked_by
        from runtime.models.make import make_lm

        limits = Limits.model_validate({**caps, "in_flight": concurrency or WIDTH})
        lm = make_lm(model, api_base=api_base)
        return cls(lm, asked_by(lm, way, threshold), cache, limits)

    def judged(
        self, log: Path, watching: "Watcher"
    ) -> "Callable[[Sequence[SampleRecord]], Judging]":
        """Asks the judge about the answers of a log."""

        def asked(records: "Sequence[SampleRecord]") -> "Judging":
            from evals.judge import Judge
            from evals.judging import judged
            from evals.verdict_cache import VerdictCache

            cache = VerdictCache(self.cache or log / "verdicts.db")
            try:
                judge = Judge(self.lm, cache=cache, limits=self.limits, asking=self.asking)
                width = self.limits.in_flight
                work = judged(judge, records, width=width, progress=watching.judged)
                self.found = asyncio.run(work)
            finally:
                cache.close()
            return self.found

        return asked

    def told(self) -> list[str]:
        """What it was asked, what it used and what it said, in words."""
        found = self.found
        if found is None:
            return []
        spent = found.spent
        cost = "not known" if spent.unknown_cost_calls else f"${spent.cost_usd:.4g}"
        said = ", ".join(f"{name} {number:,}" for name, number in found.tally.items())
        lines = [
            f"judge, apart from the programs: {count(spent.calls, 'call')},"
            f" {count(spent.input_tokens + spent.output_tokens, 'token')}, cost {cost}",
            f"{count(len(found.said), 'different statement')}, {found.cached:,} judged earlier;"
            f" verdicts: {said or 'none'}",
        ]
        if found.reasons:
            why = ", ".join(f"{name} {number:,}" for name, number in found.reasons.items())
            lines.append(f"different statements without a verdict: {why}")
        return lines

    def to_json(self) -> dict[str, Any] | None:
        """The same as plain data; None where nobody was asked."""
        found = self.found
        return found and {
            "different": len(found.said),
            "cached": found.cached,
            "verdicts": dict(found.tally),
            "unjudged": dict(found.reasons),
            "spent": found.spent.model_dump(mode="json"),
        }
