"""Shared runs: the stretches that some texts have in common with the sources of a corpus.

The sources are large and the texts small. Every stretch of TILE characters of a text is in a dict; a source is cut
into tiles of that length, each looked up once. A run of LEAST characters holds a whole tile wherever it lies, so that
none of that length is missed; what is found is then drawn out to its ends.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

TILE = 32
LEAST = 2 * TILE - 1
"""The shortest run that is always found, and the shortest that is given."""

SourceKey = tuple[str, str]
"""A corpus of a set by its name, and the id of a source in it."""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch that text number `text` has from `at`, and a source from `start`. It is as long as it can be."""

    text: int
    at: int
    source: SourceKey
    start: int
    length: int

    @property
    def end(self) -> int:
        """Where it ends in the source."""
        return self.start + self.length


def shared_runs(texts: Sequence[str], sources: Iterable[tuple[SourceKey, str]]) -> Iterator[Run]:
    """The runs of LEAST characters and more, source by source."""
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, text in enumerate(texts):
        for at in range(len(text) - TILE + 1):
            places[text[at : at + TILE]].append((number, at))
    for key, source in sources:
        for number, at, start, end in _tiled(source, places):
            run = _drawn_out(texts[number], at, source, start, end)
            if run[2] >= LEAST:
                yield Run(number, run[0], key, run[1], run[2])


def _tiled(
    source: str, places: dict[str, list[tuple[int, int]]]
) -> Iterator[tuple[int, int, int, int]]:
    """Tiles that texts have, too, with those that follow each other in both joined: text, at, start and end."""
    # By text and by how far the two are apart: in a run, that stays the same.
    open_runs: dict[tuple[int, int], list[int]] = {}
    for start in range(0, len(source) - TILE + 1, TILE):
        for number, at in places.get(source[start : start + TILE], ()):
            run = open_runs.setdefault((number, start - at), [start, start])
            if run[1] != start:
                yield number, run[0] - start + at, run[0], run[1]
                run[0] = start
            run[1] = start + TILE
    for (number, apart), (start, end) in open_runs.items():
        yield number, start - apart, start, end


def _drawn_out(text: str, at: int, source: str, start: int, end: int) -> tuple[int, int, int]:
    """A run drawn out to both of its ends: where it begins in the text and in the source, and its length."""
    last = at + end - start
    while at and start and text[at - 1] == source[start - 1]:
        at, start = at - 1, start - 1
    while last < len(text) and end < len(source) and text[last] == source[end]:
        last, end = last + 1, end + 1
    return at, start, end - start
