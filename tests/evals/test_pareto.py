"""The front has all that no other point beats, and nothing else; what is not known makes nothing look better."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.pareto import Point, front, shortfall

few = st.integers(0, 3).map(float)
costs = st.fixed_dictionaries({"tokens": st.none() | few, "seconds": st.none() | few})
clouds = st.lists(st.tuples(st.none() | few, costs), max_size=8).map(
    lambda each: [Point(str(at), quality, spent) for at, (quality, spent) in enumerate(each)]
)


def known(point: Point, name: str) -> float:
    value = point.costs[name]
    return math.inf if value is None else value


def beats(one: Point, other: Point) -> bool:
    """The definition, word by word."""
    if one.quality is None or other.quality is None:
        return False
    gains = [
        one.quality - other.quality,
        *(
            (known(other, name) > known(one, name)) - (known(other, name) < known(one, name))
            for name in ("tokens", "seconds")
        ),
    ]
    return min(gains) >= 0 and max(gains) > 0


@given(clouds)
def test_what_no_other_point_beats_is_on_the_front_and_the_rest_is_beaten_by_it(
    points: list[Point],
) -> None:
    found = front(points)
    for each in points:
        beaten = any(beats(other, each) for other in points)
        assert (each in found) == (each.quality is not None and not beaten)
        if each.quality is not None and each not in found:
            assert any(beats(other, each) for other in found)


@given(clouds)
def test_there_is_a_front_wherever_a_quality_is_defined(points: list[Point]) -> None:
    assert bool(front(points)) == any(each.quality is not None for each in points)


@given(clouds, st.randoms(use_true_random=False))
def test_the_order_of_the_points_decides_only_the_order(points: list[Point], chance) -> None:
    found = front(points)
    assert list(found) == [each for each in points if each in found]
    mixed = chance.sample(points, len(points))
    assert {each.name for each in front(mixed)} == {each.name for each in found}


@given(clouds)
def test_a_front_is_its_own_front(points: list[Point]) -> None:
    assert front(front(points)) == front(points)


@given(clouds)
def test_what_is_on_the_front_falls_short_by_nothing(points: list[Point]) -> None:
    found = front(points)
    for each in points:
        if each.quality is None:
            continue
        short = shortfall(each, points)
        assert short >= 0
        if each in found:
            assert short == 0
        if short > 0:
            assert any(beats(other, each) for other in found)


@given(clouds)
def test_with_fewer_costs_that_count_a_point_is_beaten_by_more(points: list[Point]) -> None:
    """A front over one cost has one quality a cost; whatever is best stays."""
    found = front(points, by=("tokens",))
    by_cost = {each.costs["tokens"]: each.quality for each in found}
    assert all(by_cost[each.costs["tokens"]] == each.quality for each in found)
    best = max((each.quality for each in points if each.quality is not None), default=None)
    assert not found or max(each.quality or 0 for each in found) == best


def test_equal_points_are_all_on_the_front() -> None:
    twins = [Point("a", 0.5, {"tokens": 1}), Point("b", 0.5, {"tokens": 1})]
    assert front(twins) == tuple(twins)


def test_a_cost_that_is_not_known_never_makes_a_point_look_cheap() -> None:
    """An unknown price is not 0."""
    priced = Point("priced", 0.5, {"calls": 3, "cost_usd": 0.1})
    unpriced = Point("unpriced", 0.5, {"calls": 3, "cost_usd": None})
    unnamed = Point("unnamed", 0.5, {"calls": 3})
    assert front([unpriced, priced, unnamed]) == (priced,)


def test_a_cost_that_nobody_knows_decides_nothing() -> None:
    one = Point("one", 0.5, {"calls": 3, "cost_usd": None})
    other = Point("other", 0.5, {"calls": 4, "cost_usd": None})
    assert front([one, other]) == (one,)


def test_numbers_that_are_not_finite_are_refused() -> None:
    for quality, tokens in ((math.nan, 1.0), (0.5, math.nan), (0.5, math.inf)):
        with pytest.raises(ValueError, match="not finite"):
            Point("odd", quality, {"tokens": tokens})


def test_how_far_a_point_is_from_the_front_is_what_others_reach_for_no_more() -> None:
    points = [
        Point("cheap", 0.5, {"tokens": 10}),
        Point("good", 0.9, {"tokens": 20}),
        Point("dear", 0.85, {"tokens": 30}),
    ]
    assert [round(shortfall(each, points), 3) for each in points] == [0, 0, 0.05]
    with pytest.raises(ValueError, match="undefined"):
        shortfall(Point("none", None, {}), points)
