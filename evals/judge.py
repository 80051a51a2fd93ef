"""The support judge: a model that says whether the quotes of a claim support it. Optional, and never the only truth.

A verdict is one of three words; a reply that holds none of them, also after one retry that names the mistake, leaves
the claim unjudged. Its agreement with people is measured (`evals/agreement.py`, `benchmarks/judge.py`); report it.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import dspy
from pydantic import BaseModel, ConfigDict

from evals.log import JudgeName
from evals.verdict_cache import VerdictCache, VerdictKey
from programs.answer import Answer
from runtime.calls import Caller, CallRecord
from runtime.claims import Claim
from runtime.errors import LimitReached, StepError
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.request import signature_name
from runtime.untrusted import neutralized
from signatures import JudgeSupport, SupportVerdict


class Judgment(BaseModel):
    """A verdict on one claim. `cached`: it was not asked for again. `unjudged` claims have the reason why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: SupportVerdict | Literal["unjudged"]
    reason: str
    cached: bool = False

    @property
    def supported(self) -> bool | None:
        """What a score needs to know; None where nobody can say."""
        return {"supported": True, "unsupported": False}.get(self.verdict)


class Statement(NamedTuple):
    """What is put before a judge: a claim with its quotes."""

    claim: str
    quotes: tuple[str, ...]


def statements(claims: Iterable[Claim]) -> dict[str, Statement]:
    """The statements to be judged by claim id: those with a citation; what code computed is not judged by words."""
    return {
        each.id: Statement(each.text, tuple(cited.quote for cited in each.citations))
        for each in claims
        if each.status != "insufficient" and not each.computed and each.citations
    }


class Judge:
    """Asks a model about claims, and remembers what it said. `limits` are those of all its calls together.

    Any number of tasks of one event loop; the cache may be shared by judges of other versions.
    """

    def __init__(
        self,
        lm: dspy.BaseLM,
        *,
        cache: VerdictCache | None = None,
        limits: Limits | None = None,
        predictor: dspy.Module | None = None,
    ) -> None:
        self._predictor = predictor or dspy.Predict(JudgeSupport)
        self._cache = cache or VerdictCache()
        used = limits or Limits()
        self._ledger = Ledger(used)
        self._caller = Caller(self._ledger, _Forgetful(), limits=used, lm=lm)
        self.name = JudgeName(model=lm.model, version=_version(self._predictor, lm))

    @property
    def version(self) -> str:
        """A hash over what a verdict depends on beside its claim."""
        return self.name.version

    @property
    def spent(self) -> Usage:
        """What its calls have used."""
        return self._ledger.spent

    async def judge(self, claim: str, quotes: Sequence[str]) -> Judgment:
        """The verdict on a claim. Without a quote nothing supports it, and nobody is asked.

        Raises ModelError when the model cannot be asked at all.
        """
        if not any(quote.strip() for quote in quotes):
            return Judgment(verdict="unsupported", reason="There is no quote.")
        key = VerdictKey.of(claim, quotes, self.version)
        known = self._cache.find(key)
        if known is not None:
            return Judgment(verdict=known[0], reason=known[1], cached=True)
        inputs: dict[str, Any] = neutralized({"claim": claim, "quotes": list(quotes)})
        try:
            said = await self._caller.call(self._predictor, inputs, key="/".join(key))
        except (StepError, LimitReached) as error:
            # Not kept: the next evaluation may ask again.
            return Judgment(verdict="unjudged", reason=f"{type(error).__name__}: {error}")
        self._cache.keep(key, said.verdict, said.reason)
        return Judgment(verdict=said.verdict, reason=said.reason)

    async def judge_answer(self, answer: Answer) -> dict[str, Judgment]:
        """The verdicts on the statements of an answer by claim id."""
        asked = statements(answer.claims)
        found = await asyncio.gather(*(self.judge(*each) for each in asked.values()))
        return dict(zip(asked, found, strict=True))


class _Forgetful:
    """A log of calls that keeps none: verdicts have a cache of their own."""

    def completed(self, key: str) -> CallRecord | None:
        return None

    def intent(self, record: CallRecord) -> None: ...

    def settled(self, record: CallRecord) -> None: ...


def _version(predictor: Any, lm: dspy.BaseLM) -> str:
    """A hash over what a verdict depends on beside its claim: the prompt with its demos, the model, its settings."""
    predict = getattr(predictor, "predict", predictor)
    settings = {name: value for name, value in lm.kwargs.items() if "key" not in name}
    told = [signature_name(predict.signature), predict.signature.instructions, lm.model]
    rendered = json.dumps(
        [told, [dict(each) for each in predict.demos], settings], default=str, sort_keys=True
    )
    return hashlib.sha256(rendered.encode()).hexdigest()[:16]
