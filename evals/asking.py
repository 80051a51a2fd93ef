"""How a support judge is asked, and how its verdict is read: in words with a reason, or by the likelihood of a yes."""

from typing import Any, Literal, Protocol

import dspy
from pydantic import BaseModel, ConfigDict

from evals.likelihood import likelihood
from evals.verdict_cache import VerdictCache, VerdictKey
from runtime.errors import LimitsError, ModelError
from runtime.models.one_word import OneWordAdapter
from signatures import AffirmSupport, JudgeSupport, SupportVerdict

MOST_TOKENS = 20
"""Of those that could stand in a place, told with their probability: what hosted models allow."""


class Judgment(BaseModel):
    """A verdict on one claim. `cached`: it was not asked for again. `unjudged` claims have the reason why.

    `likelihood`: that of support, in [0, 1], of a judge that is asked for it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: SupportVerdict | Literal["unjudged"]
    reason: str
    cached: bool = False
    likelihood: float | None = None

    @property
    def supported(self) -> bool | None:
        """What a score needs to know; None where nobody can say."""
        return {"supported": True, "unsupported": False}.get(self.verdict)


class Asking(Protocol):
    """A way of asking. `threshold`: from which likelihood a claim counts as supported; None without one.

    `keep` reads a reply and remembers what it says; `find` is what was remembered.
    """

    @property
    def predictor(self) -> dspy.Module: ...

    @property
    def adapter(self) -> dspy.Adapter | None: ...

    @property
    def threshold(self) -> float | None: ...

    def find(self, cache: VerdictCache, key: VerdictKey) -> Judgment | None: ...

    def keep(self, cache: VerdictCache, key: VerdictKey, said: Any) -> Judgment: ...


class Words:
    """For a reason and one of three words."""

    adapter = None
    threshold = None

    def __init__(self, predictor: dspy.Module | None = None) -> None:
        self.predictor = predictor or dspy.Predict(JudgeSupport)

    def find(self, cache: VerdictCache, key: VerdictKey) -> Judgment | None:
        known = cache.find(key)
        return known and Judgment(verdict=known[0], reason=known[1])

    def keep(self, cache: VerdictCache, key: VerdictKey, said: Any) -> Judgment:
        cache.keep(key, said.verdict, said.reason)
        return Judgment(verdict=said.verdict, reason=said.reason)


class Likelihood:
    """For yes or no: the share of yes in the probability of both, held against a threshold.

    The threshold is no part of what is remembered: with another one nobody is asked again. After Kadavath et al.,
    "Language Models (Mostly) Know What They Know" (2022), where it is the probability of "True".
    """

    def __init__(self, threshold: float = 0.5) -> None:
        """Raises LimitsError for a threshold outside [0, 1]."""
        if not 0 <= threshold <= 1:
            raise LimitsError(
                f"{threshold:g} is no likelihood", hint="choose a threshold from 0 to 1"
            )
        self.threshold = threshold
        self.adapter = OneWordAdapter()
        self.predictor = dspy.Predict(AffirmSupport, logprobs=True, top_logprobs=MOST_TOKENS)

    def find(self, cache: VerdictCache, key: VerdictKey) -> Judgment | None:
        known = cache.find_likelihood(key)
        return None if known is None else self._verdict(known)

    def keep(self, cache: VerdictCache, key: VerdictKey, said: Any) -> Judgment:
        """Raises ModelError where the model tells no probabilities."""
        tokens = (said.get("logprobs") or {}).get("content")
        found = likelihood(tokens, "yes", "no") if tokens else None
        if found is None:
            raise no_likelihoods("the model")
        cache.keep_likelihood(key, found)
        return self._verdict(found)

    def _verdict(self, found: float) -> Judgment:
        return Judgment(
            verdict="supported" if found >= self.threshold else "unsupported",
            reason=f"yes has a likelihood of {found:.2f}, and {self.threshold:g} counts as support",
            likelihood=found,
        )


def no_likelihoods(model: str) -> ModelError:
    """What is raised for a model that tells none."""
    return ModelError(
        f"{model} does not tell how likely its words are",
        hint="ask it for a verdict in words (--judge-by words), or choose another model",
    )
