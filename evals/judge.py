"""The support judge: a model that says whether the quotes of a claim support it. Optional, and never the only truth.

It is asked for one of three words, or for the likelihood of a yes (`evals/asking.py`). A reply that cannot be read,
also after one retry that names the mistake, leaves the claim unjudged. Its agreement with people is measured
(`evals/agreement.py`, `benchmarks/judge.py`); report it.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import dspy

from evals.asking import Asking, Judgment, Words, no_likelihoods
from evals.log import JudgeName
from evals.verdict_cache import VerdictCache, VerdictKey
from programs.answer import Answer
from runtime.calls import Caller, CallRecord
from runtime.claims import Claim
from runtime.errors import LimitReached, StepError, Unavailable
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.facts import told_parameters
from runtime.models.request import signature_name
from runtime.untrusted import neutralized

__all__ = ["Judge", "Judgment", "Statement", "statements"]


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
        asking: Asking | None = None,
    ) -> None:
        self._asking = asking or Words()
        self._cache = cache or VerdictCache()
        used = limits or Limits()
        self._ledger = Ledger(used)
        self._caller = Caller(
            self._ledger, _Forgetful(), limits=used, lm=lm, adapter=self._asking.adapter
        )
        self.name = JudgeName(
            model=lm.model,
            version=_version(self._asking, lm),
            threshold=self._asking.threshold,
        )

    @property
    def version(self) -> str:
        """A hash over what is asked beside the claim, and of whom. What was said to that is remembered."""
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
        known = self._asking.find(self._cache, key)
        if known is not None:
            return known.model_copy(update={"cached": True})
        inputs: dict[str, Any] = neutralized({"claim": claim, "quotes": list(quotes)})
        try:
            said = await self._caller.call(self._asking.predictor, inputs, key="/".join(key))
        except (StepError, LimitReached) as error:
            if self.name.threshold is not None and _refused(error):
                raise no_likelihoods(self.name.model) from error
            # Not kept: the next evaluation may ask again.
            return Judgment(verdict="unjudged", reason=f"{type(error).__name__}: {error}")
        return self._asking.keep(self._cache, key, said)

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


def _refused(error: Exception) -> bool:
    """Whether a service does not take the wish for log probabilities, which no other claim will mend."""
    return isinstance(error, Unavailable) and "logprob" in str(error).lower()


def _version(asking: Asking, lm: dspy.BaseLM) -> str:
    """A hash over what a reply depends on beside its claim: the prompt with its demos, the model, its settings."""
    predict: Any = getattr(asking.predictor, "predict", asking.predictor)
    told: list[Any] = [signature_name(predict.signature), predict.signature.instructions, lm.model]
    if asking.adapter:
        told += asking.adapter.format(predict.signature, [], {"claim": "c", "quotes": ["q"]})
        told.append(predict.config)
    demos = [dict(each) for each in predict.demos]
    rendered = json.dumps([told, demos, told_parameters(lm)], default=str, sort_keys=True)
    return hashlib.sha256(rendered.encode()).hexdigest()[:16]
