"""The likelihood of an answer: how sure a model was of its word, by the log probabilities of its tokens."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

Token = Mapping[str, Any]
"""As DSPy hands it on: `token`, `logprob`, and `top_logprobs`, which are the same of the likeliest in its place."""


def likelihood(tokens: Iterable[Token], answer: str, other: str) -> float | None:
    """The share that an `answer` has of the probability of it and of the `other` one, in [0, 1].

    It is read at the first token that begins one of them, however it is written there (`yes`, ` Yes`, `"ye`). None
    where none does.
    """
    for place in tokens:
        if _begins(place["token"], answer, other):
            mine, its = (_mass(place, each) for each in (answer, other))
            return mine / (mine + its) if mine + its else None
    return None


def _mass(place: Token, answer: str) -> float:
    """The probability of all tokens with which an answer can begin in a place."""
    known = {each["token"]: each["logprob"] for each in place.get("top_logprobs") or ()}
    known.setdefault(place["token"], place["logprob"])
    return sum(math.exp(logprob) for token, logprob in known.items() if _begins(token, answer))


def _begins(token: str, *answers: str) -> bool:
    start = token.strip(" \t\r\n\"'`*").casefold()
    return bool(start) and any(each.startswith(start) for each in answers)
