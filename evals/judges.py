"""Judges by name of a model: how each is asked unless one says otherwise, and from which threshold it counts."""

import dspy

from evals.asking import Asking, Likelihood, Words, no_likelihoods
from evals.calibration import THRESHOLDS
from runtime.errors import UserError
from runtime.models.local.weights import PREFIX

WORDS, LIKELIHOOD = "words", "likelihood"
EVEN = 0.5
"""The threshold of a model that was not calibrated."""


def default_way(model: str) -> str:
    """A local model, which knows more than it can say, is asked for a likelihood, any other one for words."""
    return LIKELIHOOD if model.startswith(PREFIX) else WORDS


def asking(lm: dspy.LM, way: str | None = None, threshold: float | None = None) -> Asking:
    """How a model is asked: in a way, or in its own.

    Raises UserError for another way, or for a threshold where words are asked for; LimitsError for one outside [0, 1];
    ModelError for a model that is known to tell no likelihoods.
    """
    way = way or default_way(lm.model)
    if way not in (WORDS, LIKELIHOOD):
        raise UserError(
            f"a judge is not asked by {way!r}", hint=f"--judge-by {WORDS} or {LIKELIHOOD}"
        )
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
