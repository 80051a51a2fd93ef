"""TimePartitioner: windows of time over a text whose lines bear timestamps.

The length of the window is chosen from round lengths: the longest for which at least half of the text lies in
windows that are not larger than a partition; in a text that comes in bursts, a longer one, so that partitions are at
least half full on average. Windows begin at round times. A line that is a little late stays
in the window that is open; a jump back by more than a window (a second log behind the first) opens a new one. Where the
clock jumps back again and again, the windows are crumbs that say nothing: then the partitioner does not apply.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from data.partition.lines import Ints, line_heads, line_starts
from data.partition.partitioner import SMALL, Segment, merge_small
from data.source import Source
from data.timestamp import SAMPLE_LINES, TimestampReader, render

HEAD = 240
"""A timestamp is looked for in so many characters of a line."""

_MOST_CRUMBS = 50
_CRUMBLED = 4
"""Times the number of partitions that a text of this size asks for."""

_MICROSECOND = 1_000_000
_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
_DAYS = (1, 2, 7, 14, 28, 91, 364)
_LENGTHS = (*_SECONDS, *(days * 86400 for days in _DAYS))
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))

Times = npt.NDArray[np.datetime64]


@dataclass(frozen=True, slots=True)
class TimePartitioner:
    """Applies to a text in which `TimestampReader` finds a format."""

    name: ClassVar[str] = "time"

    max_chars: int

    def cut(self, text: str, source: Source) -> list[Segment]:
        """One segment a window, with the first and last time in it."""
        starts = line_starts(text)
        reader = reader_of(text, starts)
        times = line_times(text, starts, reader) if reader else None
        if times is None:
            return []
        micros = times.astype(np.int64)
        sizes = np.diff(starts, append=len(text))
        length = _window_seconds(micros, sizes, self.max_chars)
        firsts = _window_starts(micros // (length * _MICROSECOND))
        segments = _segments(starts[firsts], len(text), times, firsts, length)
        kept = len(merge_small(segments, self.max_chars // SMALL))
        crumbled = kept > max(_MOST_CRUMBS, _CRUMBLED * len(text) / self.max_chars)
        return [] if crumbled else segments


def reader_of(text: str, starts: Ints) -> TimestampReader | None:
    """The reader for the timestamps of the text, found on lines spread evenly over it."""
    step = max(1, -(-len(starts) // SAMPLE_LINES))
    heads = (next(line_heads(text, starts, at, at + 1, HEAD)) for at in starts[::step].tolist())
    return TimestampReader.detect(list(heads))


def line_times(text: str, starts: Ints, reader: TimestampReader) -> Times | None:
    """The time of each line. A line without one has that of the line before, the first lines that of the first."""
    heads = line_heads(text, starts, 0, len(text), HEAD)
    found = pa.array(map(reader.read, heads), pa.timestamp("us"))
    times = found.to_numpy(zero_copy_only=False)
    known = np.flatnonzero(~np.isnat(times))
    if not len(known):
        return None
    source = np.zeros(len(times), dtype=np.int64)
    source[known] = known
    source = np.maximum(np.maximum.accumulate(source), known[0])
    return times[source]


def _window_seconds(micros: Ints, sizes: Ints, max_chars: int) -> int:
    """The length of the windows. Too large ones are divided later, hence the count of parts."""
    seconds, inverse = np.unique(micros // _MICROSECOND, return_inverse=True)
    weights = np.bincount(inverse, weights=sizes)
    total = weights.sum()
    whole, full = _LENGTHS[0], _LENGTHS[-1]
    for length in reversed(_LENGTHS):
        windows = np.add.reduceat(weights, _changes(seconds // length))
        if whole == _LENGTHS[0] and 2 * windows[windows <= max_chars].sum() >= total:
            whole = length
        if 2 * total >= max_chars * np.ceil(windows / max_chars).sum():
            full = length
    return max(whole, full)


def _changes(keys: Ints) -> Ints:
    """The rows at which a key differs from the one before; the first row is one."""
    return np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))


def _window_starts(keys: Ints) -> Ints:
    """The rows at which a window opens. A row of the window before the open one is late, not a new window."""
    current = int(keys[0])
    firsts = [0]
    for row in (np.flatnonzero(np.diff(keys)) + 1).tolist():
        key = int(keys[row])
        if key > current or key < current - 1:
            firsts.append(row)
            current = key
    return np.array(firsts, dtype=np.int64)


def _segments(
    offsets: Ints, length: int, times: Times, firsts: Ints, seconds: int
) -> list[Segment]:
    micros = times.astype(np.int64)
    earliest = np.minimum.reduceat(micros, firsts)
    latest = np.maximum.reduceat(micros, firsts)
    window = seconds * _MICROSECOND
    opened = micros[firsts] // window * window
    ends = [*offsets[1:].tolist(), length]
    return [
        Segment(start, end, f"{_iso(opens)} +{_duration(seconds)}", _iso(first), _iso(last))
        for start, end, opens, first, last in zip(
            offsets.tolist(), ends, opened.tolist(), earliest.tolist(), latest.tolist(), strict=True
        )
    ]


def _iso(micros: int) -> str:
    moment: datetime = np.datetime64(micros, "us").item()
    return render(moment)


def _duration(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size} {unit}"
