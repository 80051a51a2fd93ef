"""Surroundings: a stretch of a source with some text around it, and in it what was cited and what is gold."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from data.stretches import Stretches
from evals.metrics import Texts
from evals.report.text import shown

Mark = Literal["", "cited", "gold", "both"]
Tag = tuple[str, str]
"""A word beside something, and its tone."""

_AROUND = 80
_INSIDE = 240
"""Characters of a stretch that are shown; what is longer is shown by its two ends."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text that is marked in one way."""

    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch as a page shows it: where it stands, what is said of it, its text in pieces."""

    place: str
    tags: tuple[Tag, ...]
    pieces: tuple[Piece, ...]


def pieces(
    texts: Texts, place: tuple[str, int, int], cited: Stretches, gold: Stretches
) -> tuple[Piece, ...]:
    """The text of a stretch and around it, in pieces. Nothing where the range is not in the text."""
    source, start, end = place
    length = texts.characters(source)
    if length is None or not 0 <= start < end <= length:
        return ()
    first, last = max(0, start - _AROUND), min(length, end + _AROUND)
    lead, trail = "… " if first else "", " …" if last < length else ""
    windows = [(first, last)]
    gap = ""
    if end - start > _INSIDE:
        half = _INSIDE // 2
        windows = [(first, start + half), (end - half, last)]
        gap = f" … {end - start - 2 * half:,} characters … "
    found: list[Piece] = [Piece(lead, "")] if lead else []
    for at, (begin, stop) in enumerate(windows):
        if at:
            found.append(Piece(gap, ""))
        found.extend(_window(texts, source, begin, stop, cited, gold))
    return (*found, Piece(trail, "")) if trail else tuple(found)


def _window(
    texts: Texts, source: str, start: int, end: int, cited: Stretches, gold: Stretches
) -> Iterator[Piece]:
    text = texts.slice(source, start, end)
    intervals = {"cited": cited.by_source.get(source, ()), "gold": gold.by_source.get(source, ())}
    edges = sorted(
        {start, end}
        | {
            edge
            for each in intervals.values()
            for interval in each
            for edge in interval
            if start < edge < end
        }
    )
    for begin, stop in pairwise(edges):
        on = [
            name
            for name, each in intervals.items()
            if any(low <= begin < high for low, high in each)
        ]
        mark: Mark = "both" if len(on) == 2 else "cited" if "cited" in on else "gold" if on else ""
        yield Piece(shown(text[begin - start : stop - start]), mark)
