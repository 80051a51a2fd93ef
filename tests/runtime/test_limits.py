"""Limits: sensible values only, and children that can only narrow."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import LimitsError
from runtime.limits import Limits

CAPS = ("calls", "input_tokens", "output_tokens", "tokens", "cost_usd", "wall_seconds")


def test_nothing_is_capped_unless_asked() -> None:
    limits = Limits()
    assert all(getattr(limits, name) is None for name in CAPS)
    assert (limits.depth, limits.in_flight, limits.retries) == (3, 8, 2)


@pytest.mark.parametrize("name", [*CAPS, "depth", "retries", "call_seconds"])
@pytest.mark.parametrize("value", [-1, -0.5])
def test_a_negative_limit_is_a_mistake_of_the_user(name: str, value: float) -> None:
    with pytest.raises(LimitsError, match=name):
        Limits.model_validate({name: int(value - 0.5) if name != "cost_usd" else value})


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_limit_is_a_number(value: float) -> None:
    with pytest.raises(LimitsError, match="wall_seconds"):
        Limits(wall_seconds=value)


@pytest.mark.parametrize(
    "name", ["in_flight", "steps_per_frame", "frames", "call_seconds", "tool_output_chars"]
)
def test_a_limit_under_which_nothing_could_run_contradicts_itself(name: str) -> None:
    with pytest.raises(LimitsError, match="nothing could run"):
        Limits.model_validate({name: 0})


@pytest.mark.parametrize(
    "name", ["calls", "tokens", "input_tokens", "output_tokens", "wall_seconds"]
)
def test_a_budget_that_is_too_small_to_start(name: str) -> None:
    limits = Limits.model_validate({name: 0})
    with pytest.raises(LimitsError, match=name):
        limits.check_start()


def test_no_money_is_a_budget_for_models_that_cost_nothing() -> None:
    Limits(cost_usd=0.0).check_start()


def test_narrowing_takes_the_smaller_value() -> None:
    limits = Limits(calls=10, tokens=1000)
    narrowed = limits.narrowed(calls=20, tokens=500, wall_seconds=3.0, depth=1, cost_usd=None)
    assert (narrowed.calls, narrowed.tokens, narrowed.wall_seconds, narrowed.depth) == (
        10,
        500,
        3.0,
        1,
    )
    assert narrowed.cost_usd is None


def test_narrowing_by_an_unknown_limit_is_refused() -> None:
    with pytest.raises(LimitsError, match="pages"):
        Limits().narrowed(pages=3)


amounts = st.none() | st.integers(0, 1000)


@given(
    st.fixed_dictionaries(dict.fromkeys(CAPS, amounts)),
    st.fixed_dictionaries(dict.fromkeys(CAPS, amounts)),
)
def test_a_child_never_gets_more_than_its_parent_or_than_it_asked(
    mine: dict[str, int | None], asked: dict[str, int | None]
) -> None:
    narrowed = Limits.model_validate(mine).narrowed(**asked)
    for name in CAPS:
        caps = [cap for cap in (mine[name], asked[name]) if cap is not None]
        assert getattr(narrowed, name) == (min(caps) if caps else None)
