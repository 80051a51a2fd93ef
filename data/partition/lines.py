"""Line starts: the offsets at which the lines of a decoded text begin, as data/lines.py counts lines."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_LF, _CR = 10, 13
_BLOCK = 1 << 20


def line_starts(text: str) -> Ints:
    """The offset of each line; a line ends with LF, CRLF or a lone CR. An empty text has no line."""
    feeds, returns = _positions(text)
    lone = returns[~np.isin(returns + 1, feeds, assume_unique=True)] if len(returns) else returns
    ends = np.concatenate((feeds, lone)) + 1
    starts = np.sort(np.concatenate((np.zeros(1, dtype=np.int64), ends)))
    return starts[starts < len(text)]


def line_numbers(starts: Ints, offsets: Sequence[int] | Ints) -> list[int]:
    """The number, from 1, of the line that holds each offset."""
    return np.searchsorted(starts, np.asarray(offsets, dtype=np.int64), side="right").tolist()


def line_heads(text: str, starts: Ints, start: int, end: int, width: int) -> Iterator[str]:
    """The first `width` characters of every line that begins between two offsets, line end included."""
    low, high = np.searchsorted(starts, [start, end]).tolist()
    edges = starts[low : high + 1].tolist()
    if len(edges) == high - low:
        edges.append(len(text))
    for at in range(high - low):
        yield text[edges[at] : min(edges[at + 1], edges[at] + width)]


def _positions(text: str) -> tuple[Ints, Ints]:
    """The offsets of all LF and of all CR. Blocks keep the temporary arrays small."""
    feeds, returns = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for at in range(0, len(text), _BLOCK):
        block = text[at : at + _BLOCK].encode("utf-32-le", "surrogatepass")
        points = np.frombuffer(block, dtype="<u4")
        feeds.append(np.flatnonzero(points == _LF) + at)
        returns.append(np.flatnonzero(points == _CR) + at)
    return np.concatenate(feeds), np.concatenate(returns)
