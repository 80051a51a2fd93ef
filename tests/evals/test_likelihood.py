"""The likelihood of an answer, read from the tokens of a reply."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.likelihood import likelihood

SHARES = st.floats(0.0, 1.0)


def token(text: str, **top: float) -> dict[str, Any]:
    """A token that was chosen, and the probabilities of what could have stood there."""
    told = [{"token": each, "logprob": math.log(share)} for each, share in top.items()]
    return {"token": text, "logprob": math.log(top.get(text, 0.01)), "top_logprobs": told}


def test_it_is_the_share_of_both_answers() -> None:
    """Whatever else could have stood there."""
    found = likelihood([token("yes", yes=0.3, no=0.1, maybe=0.6)], "yes", "no")
    assert found == pytest.approx(0.75)


def test_all_ways_of_writing_an_answer_count() -> None:
    place = token("yes", **{"yes": 0.2, "Yes": 0.2, " YES": 0.1, "y": 0.1, "no": 0.1, "N": 0.1})
    assert likelihood([place], "yes", "no") == pytest.approx(0.75)


def test_it_is_read_where_the_answer_begins() -> None:
    last = token('"No', **{"no": 0.2, '"No': 0.6, "yes": 0.2})
    tokens = [token("\n", yes=0.9), token('"', no=0.9), last]
    assert likelihood(tokens, "yes", "no") == pytest.approx(0.2)


def test_the_word_that_was_chosen_counts_where_it_is_not_told_again() -> None:
    """Providers differ on whether it is among the likeliest."""
    place = {**token("yes", no=0.2), "logprob": math.log(0.6)}
    assert likelihood([place], "yes", "no") == pytest.approx(0.75)


@pytest.mark.parametrize(
    "chosen", ["yes", " Yes.", "YES!", "\u2581yes", "\u0120yes", '"ye', "**Yes", "yes, all"]
)
def test_a_token_is_read_however_it_is_written(chosen: str) -> None:
    place = {**token("no", no=0.25), "token": chosen, "logprob": math.log(0.75)}
    assert likelihood([place], "yes", "no") == pytest.approx(0.75)


@pytest.mark.parametrize(
    "texts", [(), ("maybe",), ("\n", " "), ("yesterday",), ("Hmm", " no", "yes")]
)
def test_where_the_first_word_is_no_answer_there_is_none(texts: tuple[str, ...]) -> None:
    """Whatever follows: what a model thinks aloud has answers of all kinds in it."""
    assert likelihood([token(each, yes=0.5) for each in texts], "yes", "no") is None


def test_a_word_alone_has_no_likelihood() -> None:
    """Some services tell the probability of the chosen token and nothing beside it."""
    assert likelihood([{"token": "yes", "logprob": -0.7}], "yes", "no") is None
    assert likelihood([{"token": "yes", "logprob": -0.7, "top_logprobs": []}], "yes", "no") is None


@given(st.sampled_from(["yes", "no", " Yes", "N"]), SHARES, SHARES, st.booleans())
def test_it_is_a_share(chosen: str, yes: float, no: float, told: bool) -> None:
    """Also where a service tells nothing but the word, or tells that it was impossible."""
    top = {name: share for name, share in (("yes", yes), ("no", no)) if told and share > 0}
    place = {**token("yes", **top), "token": chosen, "logprob": -math.inf}
    found = likelihood([place], "yes", "no")
    assert found is None or 0 <= found <= 1
