"""Pareto: which of some points no other one beats, where quality should be high and every cost low.

A point beats another if it is at least as good at costs that are all at most as high, and better in one of these. A
cost that is not known counts as the highest there is: it never makes a point look cheap, and where nobody knows it, it
decides nothing. A point whose quality is undefined is on no front and beats nobody.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Point:
    """Something by its quality (higher is better) and its costs by name (lower is better); None is not known.

    A cost that is not named is not known. Raises ValueError for numbers that are not finite.
    """

    name: str
    quality: float | None
    costs: Mapping[str, float | None]

    def __post_init__(self) -> None:
        for value in (self.quality, *self.costs.values()):
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{self.name} has a value that is not finite: {value}")


def front(points: Sequence[Point], by: Collection[str] | None = None) -> tuple[Point, ...]:
    """The points that no other one beats, in the order in which they are given; equal points are all on it.

    `by` are the costs that count, or None for all that a point names.
    """
    counted = _counted(points, by)
    return tuple(
        each
        for each in points
        if each.quality is not None and not any(_beats(other, each, counted) for other in points)
    )


def unbeaten(items: Sequence[_T], place: Callable[[_T], tuple[float, float]]) -> list[_T]:
    """The items that no other one beats by the cost and the quality that `place` gives, in their order."""
    points = [
        Point(str(at), quality, {"cost": cost})
        for at, (cost, quality) in enumerate(map(place, items))
    ]
    return [items[int(each.name)] for each in front(points)]


def shortfall(point: Point, points: Sequence[Point], by: Collection[str] | None = None) -> float:
    """How much more quality another one has at costs that are all at most as high: 0 for all that is on the front.

    0 is also what a point has that is only dearer than another one of its quality. Raises ValueError where the
    quality of the point is undefined.
    """
    if point.quality is None:
        raise ValueError(f"the quality of {point.name} is undefined")
    counted = _counted(points, by)
    reached = (
        each.quality
        for each in points
        if each.quality is not None and _within(each, point, counted)
    )
    return max(0.0, max(reached, default=point.quality) - point.quality)


def _counted(points: Sequence[Point], by: Collection[str] | None) -> tuple[str, ...]:
    if by is not None:
        return tuple(by)
    return tuple(dict.fromkeys(name for each in points for name in each.costs))


def _beats(one: Point, other: Point, counted: Sequence[str]) -> bool:
    """Whether a point beats one whose quality is defined."""
    if one.quality is None or other.quality is None or one.quality < other.quality:
        return False
    if not _within(one, other, counted):
        return False
    cheaper = any(_cost(one, name) < _cost(other, name) for name in counted)
    return cheaper or one.quality > other.quality


def _within(one: Point, other: Point, counted: Sequence[str]) -> bool:
    return all(_cost(one, name) <= _cost(other, name) for name in counted)


def _cost(point: Point, name: str) -> float:
    known = point.costs.get(name)
    return math.inf if known is None else known
