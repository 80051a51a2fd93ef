"""Picks: the candidate that fits a wish lies on the front, and nothing unknown is taken for cheap."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.optimization import Candidate
from evals.picks import COSTS, Wish, on_front, pick
from runtime.errors import LimitsError, RunError, UserError


def candidate(
    order: int, score: float | None, tokens: float | None = 100, **more: Any
) -> Candidate:
    """A candidate by its score and its costs."""
    given: dict[str, Any] = {"calls": 2.0, "cost_usd": 0.0, "seconds": 1.0, "complete": True}
    given |= {"scores": {"correct": score} if score is not None else {}} | more
    return Candidate(
        id=f"{order:012x}",
        order=order,
        state={},
        rollouts=4,
        validated=4,
        score=score,
        tokens=tokens,
        **given,
    )


def test_without_a_wish_it_is_the_best_and_of_equals_the_one_of_fewer_tokens() -> None:
    found = [candidate(0, 0.5), candidate(1, 0.7, 300), candidate(2, 0.7, 200)]
    picked = pick(found, Wish())
    assert picked.candidate.order == 2
    assert "the best score, 0.700, among 3 of 3 complete candidates" in picked.why


def test_caps_leave_out_what_takes_more() -> None:
    found = [candidate(0, 0.5, 100), candidate(1, 0.9, 300), candidate(2, 0.7, 200)]
    picked = pick(found, Wish(caps={"tokens": 200}))
    assert picked.candidate.order == 2
    assert "2 of 3 complete candidates within 200 tokens a question" in picked.why


def test_within_takes_the_cheapest_that_is_about_as_good() -> None:
    found = [candidate(0, 0.5, 10), candidate(1, 0.60, 300), candidate(2, 0.58, 200)]
    assert pick(found, Wish(within=0.02)).candidate.order == 2
    assert pick(found, Wish(within=0.01)).candidate.order == 1
    assert pick(found, Wish(within=0.1)).candidate.order == 0
    assert "gives up 0.020" in pick(found, Wish(within=0.02)).why


def test_what_is_cheap_can_be_chosen() -> None:
    found = [candidate(0, 0.6, 300, calls=1.0), candidate(1, 0.6, 200, calls=3.0)]
    assert pick(found, Wish(within=0.0, by="calls")).candidate.order == 0
    assert pick(found, Wish(within=0.0, by="tokens")).candidate.order == 1


def test_another_objective_decides() -> None:
    found = [
        candidate(0, 0.9, scores={"evidence_recall": 0.2}),
        candidate(1, 0.1, scores={"evidence_recall": 0.8}),
        candidate(2, 1.0, scores={}),
    ]
    assert pick(found, Wish(objective="evidence_recall")).candidate.order == 1
    with pytest.raises(UserError, match="supported is undefined for every candidate"):
        pick(found, Wish(objective="supported"))


def test_an_unknown_price_is_not_zero() -> None:
    found = [candidate(0, 0.5, cost_usd=0.1), candidate(1, 0.9, cost_usd=None)]
    with pytest.raises(LimitsError, match="USD is not known of 1 of 2 candidates"):
        pick(found, Wish(caps={"cost_usd": 1.0}))
    assert pick(found, Wish()).candidate.order == 1


def test_where_nobody_stays_within_the_caps_it_says_what_would_be_enough() -> None:
    with pytest.raises(LimitsError, match="no candidate stays within 50 tokens") as raised:
        pick([candidate(0, 0.5), candidate(1, 0.5, 80)], Wish(caps={"tokens": 50}))
    assert raised.value.hint == "the least that candidates take is 80 tokens"


def test_a_candidate_that_was_not_run_on_all_questions_is_never_picked() -> None:
    found = [candidate(0, 0.5), candidate(1, 1.0, complete=False)]
    assert pick(found, Wish()).candidate.order == 0
    with pytest.raises(RunError, match="no candidate was run on all validation questions"):
        pick(found[1:], Wish())


@pytest.mark.parametrize("wish", [Wish(objective="magic"), Wish(by="magic")])
def test_a_wish_that_means_nothing_is_refused(wish: Wish) -> None:
    with pytest.raises(UserError, match="there is no"):
        wish.check()


values = st.floats(0, 1, allow_nan=False) | st.just(0.5)
costs = st.integers(1, 5).map(float)


@given(
    st.lists(st.tuples(values, costs, costs, costs), min_size=1, max_size=8),
    st.sampled_from(COSTS),
    st.none() | st.sampled_from([0.0, 0.02, 0.3]),
    st.none() | costs,
)
def test_what_is_picked_is_on_the_front_and_keeps_its_promises(
    drawn: list[tuple[float, float, float, float]],
    by: str,
    within: float | None,
    cap: float | None,
) -> None:
    found = [
        candidate(order, score, tokens, calls=calls, seconds=seconds)
        for order, (score, tokens, calls, seconds) in enumerate(drawn)
    ]
    wish = Wish(caps={} if cap is None else {"tokens": cap}, within=within, by=by)
    fit = [each for each in found if cap is None or (each.tokens or 0) <= cap]
    if not fit:
        with pytest.raises(LimitsError):
            pick(found, wish)
        return
    picked = pick(found, wish)
    assert picked.candidate in fit
    best = max(each.score or 0 for each in fit)
    assert (picked.quality or 0) >= best - (within or 0) - 1e-8
    # What is equal up to rounding counts as equal: of these the cheaper one, which a purist would call beaten.
    if all(each.score == best or (each.score or 0) < best - 1e-6 for each in fit):
        assert picked.candidate.id in on_front(fit)
