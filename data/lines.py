"""Line table: the lines of one decoded text as columns, from which the text can be rebuilt exactly.

A line ends with LF, CRLF or a lone CR, and with nothing else: form feeds, vertical tabs and the separators of
Unicode belong to the line. The end is kept as a kind beside the text of the line, so that a search sees the
line without it. A text that ends with a line end has no empty line after it; an empty text has no line.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

LINE_ENDS = ("", "\n", "\r\n", "\r")
"""The line end of each kind; a kind is an index into this tuple."""

_LF, _CR = 10, 13
_BLOCK = 1 << 23

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class LineTable:
    """Columns of equal length, a row a line: text without its end, kind of the end, first code point."""

    text: pa.LargeStringArray
    end: Bytes
    start: Ints
    characters: int

    def __len__(self) -> int:
        return len(self.start)


def split_lines(utf8: bytes | memoryview) -> LineTable:
    """Split valid UTF-8 into lines, without a Python object for any of them."""
    data = np.frombuffer(utf8, dtype=np.uint8)
    marks, stops, kinds = _line_ends(data)
    lengths = np.array([len(end) for end in LINE_ENDS], dtype=np.int64)[kinds]
    begins = np.concatenate(([0], stops + lengths)).astype(np.int64)
    if begins[-1] == len(data):
        begins = begins[:-1]
    else:
        stops = np.append(stops, len(data))
        kinds = np.append(kinds, 0).astype(np.uint8)
    offsets = np.concatenate(([0], np.cumsum(stops - begins))).astype(np.int64)
    text = pa.LargeStringArray.from_buffers(
        len(begins), pa.py_buffer(offsets), pa.py_buffer(_without(data, marks))
    )
    counts = _characters(data, begins)
    ends = np.cumsum(counts)
    return LineTable(text, kinds, ends - counts, int(ends[-1]) if len(ends) else 0)


def _line_ends(data: Bytes) -> tuple[Ints, Ints, Bytes]:
    """Byte positions of all CR and LF; and for each line end the position of its first byte, and its kind."""
    marks = np.concatenate(
        [np.flatnonzero((block == _LF) | (block == _CR)) + at for at, block in _blocks(data)]
        or [np.empty(0, dtype=np.int64)]
    ).astype(np.int64)
    values = data[marks]
    is_cr = values == _CR
    crlf = np.zeros(len(marks), dtype=bool)
    crlf[:-1] = is_cr[:-1] & ~is_cr[1:] & (np.diff(marks) == 1)
    kinds = np.where(crlf, 2, np.where(is_cr, 3, 1)).astype(np.uint8)
    first = np.ones(len(marks), dtype=bool)
    first[1:] = ~crlf[:-1]
    return marks, marks[first], kinds[first]


def _without(data: Bytes, marks: Ints) -> Bytes:
    """The bytes without those at `marks`. Blocks keep the temporary arrays small."""
    kept = np.empty(len(data) - len(marks), dtype=np.uint8)
    filled = 0
    for at, block in _blocks(data):
        inside = marks[np.searchsorted(marks, at) : np.searchsorted(marks, at + len(block))]
        keep = np.ones(len(block), dtype=bool)
        keep[inside - at] = False
        piece = block[keep]
        kept[filled : filled + len(piece)] = piece
        filled += len(piece)
    return kept


def _characters(data: Bytes, begins: Ints) -> Ints:
    """Code points of each line, with its end: the bytes that do not continue a character."""
    if not len(begins):
        return np.empty(0, dtype=np.int64)
    counts = np.diff(begins, append=len(data))
    for at, block in _blocks(data):
        if block.max() < 0x80:
            continue
        first = np.searchsorted(begins, at, side="right") - 1
        last = np.searchsorted(begins, at + len(block))
        borders = np.append(begins[first + 1 : last] - at, len(block))
        continued = np.cumsum((block & 0xC0) == 0x80, dtype=np.int32)
        counts[first:last] -= np.diff(continued[borders - 1], prepend=0)
    return counts


def _blocks(data: Bytes) -> list[tuple[int, Bytes]]:
    return [(at, data[at : at + _BLOCK]) for at in range(0, len(data), _BLOCK)]
