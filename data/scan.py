"""Scan: every line that contains all of some patterns, counted completely and shown page by page.

The masks of the patterns are computed by Arrow's RE2 kernels over the mapped columns. Only the lines of
the page asked for become Python objects; counts by source and by time come from the columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
from pyarrow.compute import call_function

from data.lines import Ints
from data.pattern import Pattern, mask
from data.text import SourceText
from data.timestamp import NO_YEAR

NO_TIME = "(no time)"
"""Label for the hits that have no time, where others do: the buckets always add up to the total."""

_LABEL_LENGTHS = {"minute": 16, "hour": 13, "day": 10}
_MICROSECONDS = {"minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}
_AUTO_BUCKETS = 120


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that matches. Offsets are those of the line without its line end; lines count from 1."""

    source: str
    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class TimeCount:
    """Hits within one bucket of time; `label` is the bucket's start in ISO 8601, as precise as the bucket."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The outcome of a scan: complete counts, and one page of hits in the order of the corpus.

    `by_source` names the sources with hits. `by_time` is in order of time and adds up to `total`, or is empty
    when no hit has a time. `next_cursor` is None after the last page.
    """

    patterns: tuple[str, ...]
    total: int
    by_source: dict[str, int]
    by_time: tuple[TimeCount, ...]
    hits: tuple[Hit, ...]
    cursor: int
    next_cursor: int | None
    sources_scanned: tuple[str, ...]
    sources_unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """The lines of some sources, one after the other. `ends` is the row after the last one of each source."""

    texts: tuple[SourceText, ...]
    ends: Ints
    text: pa.ChunkedArray
    time: pa.ChunkedArray

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the sources."""
        return tuple(text.source for text in self.texts)


def scan(
    columns: Columns,
    patterns: Sequence[Pattern],
    *,
    unreadable: tuple[str, ...],
    cursor: int,
    page: int,
    bucket: str,
) -> ScanResult:
    """All lines that match all patterns. `cursor` counts hits; `bucket` is auto, minute, hour or day."""
    if cursor < 0 or page < 1 or (bucket != "auto" and bucket not in _LABEL_LENGTHS):
        raise ValueError(f"no such page or bucket: cursor={cursor}, page={page}, bucket={bucket!r}")
    rows = matching_rows(columns.text, patterns)
    following = cursor + page
    return ScanResult(
        patterns=tuple(pattern.render() for pattern in patterns),
        total=len(rows),
        by_source=_by_source(columns, rows),
        by_time=_by_time(columns, rows, bucket),
        hits=_hits(columns, rows[cursor:following]),
        cursor=cursor,
        next_cursor=following if following < len(rows) else None,
        sources_scanned=columns.sources,
        sources_unreadable=unreadable,
    )


def matching_rows(lines: pa.ChunkedArray, patterns: Sequence[Pattern]) -> Ints:
    """Rows of which all patterns are true, ascending. Each stage sees only the lines that are left."""
    ordered = sorted(patterns, key=lambda pattern: (pattern.negated, pattern.kind == "regex"))
    stages = [(pattern, stage) for pattern in ordered for stage in pattern.stages]
    rows: Ints | None = None
    for number, (pattern, expression) in enumerate(stages, 1):
        found = mask(lines, expression, pattern.ignore_case)
        if pattern.negated:
            found = call_function("invert", [found])
        at = np.flatnonzero(found.to_numpy())
        rows = at if rows is None else rows[at]
        if number < len(stages):
            lines = lines.filter(found)
    return np.empty(0, dtype=np.int64) if rows is None else rows


def _by_source(columns: Columns, rows: Ints) -> dict[str, int]:
    counts = np.diff(np.searchsorted(rows, columns.ends), prepend=0)
    return {columns.texts[at].source: int(counts[at]) for at in np.flatnonzero(counts)}


def _hits(columns: Columns, rows: Ints) -> tuple[Hit, ...]:
    hits = []
    places = np.searchsorted(columns.ends, rows, side="right")
    for row, at in zip(rows.tolist(), places.tolist(), strict=True):
        text = columns.texts[at]
        line = row - int(columns.ends[at]) + text.lines
        hits.append(Hit(text.source, line + 1, *text.line(line)))
    return tuple(hits)


def _by_time(columns: Columns, rows: Ints, bucket: str) -> tuple[TimeCount, ...]:
    times = columns.time.take(pa.array(rows)).drop_null()
    known = times.cast(pa.int64()).to_numpy()
    if not len(known):
        return ()
    unit = bucket if bucket != "auto" else _fitting_bucket(int(known.max() - known.min()))
    size = _MICROSECONDS[unit]
    numbers, counts = np.unique(known // size, return_counts=True)
    buckets = [
        TimeCount(_label(int(number) * size, unit), int(count))
        for number, count in zip(numbers, counts, strict=True)
    ]
    if len(known) < len(rows):
        buckets.append(TimeCount(NO_TIME, len(rows) - len(known)))
    return tuple(buckets)


def _fitting_bucket(microseconds: int) -> str:
    """The finest bucket of which the range has no more than can be read at a glance."""
    fitting = [unit for unit, size in _MICROSECONDS.items() if microseconds < size * _AUTO_BUCKETS]
    return fitting[0] if fitting else "day"


def _label(microseconds: int, unit: str) -> str:
    moment = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    label = moment.isoformat()[: _LABEL_LENGTHS[unit]]
    return label[5:] if moment.year == NO_YEAR else label
