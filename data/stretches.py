"""Stretches: sets of characters of sources, as unions of half-open intervals of code points."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

Stretch = tuple[str, int, int]
"""A source, and a half-open interval of its code points."""


@dataclass(frozen=True, slots=True)
class Stretches:
    """A set of characters: by source the intervals, in order, with a gap between any two."""

    by_source: Mapping[str, tuple[tuple[int, int], ...]]

    @classmethod
    def of(cls, places: Iterable[Stretch]) -> Self:
        """The union of some stretches, which may overlap."""
        found: dict[str, list[tuple[int, int]]] = {}
        for source, start, end in places:
            if start < end:
                found.setdefault(source, []).append((start, end))
        return cls({source: _joined(intervals) for source, intervals in found.items()})

    def __iter__(self) -> Iterator[Stretch]:
        for source, intervals in self.by_source.items():
            yield from ((source, start, end) for start, end in intervals)

    def __or__(self, other: "Stretches") -> "Stretches":
        return Stretches.of([*self, *other])

    def __and__(self, other: "Stretches") -> "Stretches":
        shared = self.by_source.keys() & other.by_source.keys()
        both = {each: _common(self.by_source[each], other.by_source[each]) for each in shared}
        return Stretches({source: intervals for source, intervals in both.items() if intervals})

    def __len__(self) -> int:
        return sum(end - start for _, start, end in self)


def _joined(intervals: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Intervals in order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _common(
    first: tuple[tuple[int, int], ...], second: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    """What two unions of intervals have in common."""
    common: list[tuple[int, int]] = []
    i = j = 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if start < end:
            common.append((start, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)
