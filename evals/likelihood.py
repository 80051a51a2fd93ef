"""The likelihood of an answer: how sure a model was of its word, by the log probabilities of its tokens."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from runtime.models.one_word import first_word

Token = Mapping[str, Any]
"""As DSPy hands it on: `token`, `logprob`, and `top_logprobs`, which are the same of the likeliest in its place."""


def likelihood(tokens: Iterable[Token], answer: str, other: str) -> float | None:
    """The share that an `answer` has of the probability of it and of the `other` one, in [0, 1].

    It is read at the first token with a word, which must begin one of them, however it is written there (`yes`,
    ` Yes.`, `"ye`). None where it does not (what a model thinks aloud is no answer), or where nothing is told beside
    it.
    """
    for place in tokens:
        if first_word(place["token"]):
            return _share(place, answer, other)
    return None


def _share(place: Token, answer: str, other: str) -> float | None:
    told = {each["token"]: each["logprob"] for each in place.get("top_logprobs") or ()}
    if not told or not _begins(place["token"], answer, other):
        return None
    told.setdefault(
        place["token"], place["logprob"]
    )  # providers differ on whether it is among them
    mine, its = (
        sum(math.exp(logprob) for token, logprob in told.items() if _begins(token, each))
        for each in (answer, other)
    )
    return mine / (mine + its) if mine + its else None


def _begins(token: str, *answers: str) -> bool:
    start = first_word(token)
    return bool(start) and any(each.startswith(start) for each in answers)
