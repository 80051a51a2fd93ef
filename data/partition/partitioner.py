"""Partitioner: the seam for knowledge about where a text falls into parts that must be judged together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Protocol

from data.source import Source

MAX_LABEL = 120
SMALL = 8
"""Neighbours are joined while together they stay below this fraction of a partition's size."""

PATH = " > "
"""Between the titles of a label that is a path of headings."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a text before it is cut to size. The segments of a text tile it.

    An empty label means that the text gives the part no name. Times are ISO 8601, or empty.
    """

    start: int
    end: int
    label: str
    time_start: str = ""
    time_end: str = ""


class Partitioner(Protocol):
    """Cuts a text into segments where its structure says so. `name` is what it is chosen by.

    Sizes are seen to afterwards.
    """

    name: ClassVar[str]

    def cut(self, text: str, source: Source) -> list[Segment]:
        """Segments that tile the text, in order; an empty list when the text has no such structure."""
        ...


def segments_from(marks: Sequence[tuple[int, str]], length: int, opening: str) -> list[Segment]:
    """Segments that begin at the marks (offset, label); text before the first gets the label `opening`."""
    if not marks:
        return []
    if marks[0][0] > 0:
        marks = [(0, opening), *marks]
    return [
        Segment(start, end, shorten(label))
        for (start, label), (end, _) in pairwise([*marks, (length, "")])
        if end > start
    ]


def merge_small(segments: Iterable[Segment], minimum: int) -> list[Segment]:
    """Join neighbours while together they have fewer than `minimum` characters."""
    groups: list[list[Segment]] = []
    for segment in segments:
        if groups and segment.end - groups[-1][0].start < minimum:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return [_joined(group) for group in groups]


def shorten(label: str) -> str:
    """The label on one line, cut to MAX_LABEL characters."""
    label = " ".join(label.split())
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"


def _joined(group: list[Segment]) -> Segment:
    first, last = group[0], group[-1]
    label = shorten(_joined_label(first.label, last.label))
    starts = [segment.time_start for segment in group if segment.time_start]
    ends = [segment.time_end for segment in group if segment.time_end]
    return replace(
        first,
        end=last.end,
        label=label,
        time_start=min(starts, default=""),
        time_end=max(ends, default=""),
    )


def _joined_label(first: str, last: str) -> str:
    """`A > B .. C` for `A > B` and `A > C`."""
    if first == last:
        return first
    above, between, _ = first.rpartition(PATH)
    for shared in (first + PATH, above + between):
        last = last.removeprefix(shared)
    return f"{first} .. {last}"
