"""How a support judge is asked, and how its verdict is read: in words with a reason, or by the likelihood of a yes."""

from typing import Any, Literal, Protocol

import dspy
from pydantic import BaseModel, ConfigDict

from evals.calibration import THRESHOLDS
from evals.likelihood import likelihood
from evals.verdict_cache import VerdictCache, VerdictKey
from runtime.errors import ModelError, UserError
from runtime.models.local.weights import PREFIX
from runtime.models.one_word import OneWordAdapter
from signatures import AffirmSupport, JudgeSupport, SupportVerdict

WORDS, LIKELIHOOD = WAYS = ("words", "likelihood")
EVEN = 0.5
"""The threshold of a model that was not calibrated."""
MOST_TOKENS = 20
"""Of those that could stand in a place, told with their probability: what hosted models allow."""
REPLY_TOKENS = 16
"""Enough for one word; what is said after it costs time and is not read."""
UNREADABLE = "UnreadableLikelihood"
"""Why a claim is unjudged whose reply has an answer, and no token with which it begins."""


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

    def __init__(self, threshold: float = EVEN) -> None:
        """Raises UserError for a threshold outside [0, 1]."""
        if not 0 <= threshold <= 1:
            raise UserError(f"{threshold:g} is no likelihood", hint="choose one from 0 to 1")
        self.threshold = threshold
        self.adapter = OneWordAdapter()
        self.predictor = dspy.Predict(
            AffirmSupport, logprobs=True, top_logprobs=MOST_TOKENS, max_tokens=REPLY_TOKENS
        )

    def find(self, cache: VerdictCache, key: VerdictKey) -> Judgment | None:
        known = cache.find_likelihood(key)
        return None if known is None else self._verdict(known)

    def keep(self, cache: VerdictCache, key: VerdictKey, said: Any) -> Judgment:
        """Raises ModelError where the model tells no probabilities. Those that cannot be read are no verdict."""
        tokens = (said.get("logprobs") or {}).get("content") or ()
        if not any(each.get("top_logprobs") for each in tokens):
            raise no_likelihoods("the model")
        found = likelihood(tokens, "yes", "no")
        if found is None:
            return Judgment(verdict="unjudged", reason=f"{UNREADABLE}: {said.supported}")
        cache.keep_likelihood(key, found)
        return self._verdict(found)

    def _verdict(self, found: float) -> Judgment:
        return Judgment(
            verdict="supported" if found >= self.threshold else "unsupported",
            reason=f"yes has a likelihood of {found:.3f}, and {self.threshold:g} counts as support",
            likelihood=found,
        )


def default_way(model: str) -> str:
    """A local model, which knows more than it can say, is asked for a likelihood, any other one for words."""
    return LIKELIHOOD if model.startswith(PREFIX) else WORDS


def asked_by(lm: dspy.LM, way: str | None = None, threshold: float | None = None) -> Asking:
    """How a model is asked: in the way of that name, or in its own.

    Raises UserError for another way, for a threshold where words are asked for, or for one outside [0, 1]; ModelError
    for a model that is known to tell no likelihoods.
    """
    way = way or default_way(lm.model)
    if way not in WAYS:
        raise UserError(f"a judge is not asked by {way!r}", hint=f"--judge-by {' or '.join(WAYS)}")
    if way == LIKELIHOOD:
        made = Likelihood(THRESHOLDS.get(lm.model, EVEN) if threshold is None else threshold)
        if "logprobs" not in lm.supported_params:
            raise no_likelihoods(lm.model)
        return made
    if threshold is not None:
        raise UserError(
            "a verdict in words has no threshold", hint=f"ask for one: --judge-by {LIKELIHOOD}"
        )
    return Words()


def no_likelihoods(model: str) -> ModelError:
    """What is raised for a model that tells none."""
    return ModelError(
        f"{model} does not tell how likely its words are",
        hint=f"ask it for a verdict in words (--judge-by {WORDS}), or choose another model",
    )
