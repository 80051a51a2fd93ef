"""Source text: exact slices of one source, cut from the mapped columns of its lines.

Nothing of the text is kept as a Python object, and a slice decodes only the lines that it touches. Within a
very long line that is not ASCII, the number of characters before every block is counted once, so that a slice
decodes no more than the blocks that it needs.
"""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow.compute import call_function

from data.lines import LINE_ENDS, Bytes, Ints
from runtime.errors import NotFound

_LONG_LINE = 1 << 16
_BLOCK = 1 << 14
_FEW_LINES = 64


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a source with its text. Offsets are half-open code points; lines count from 1."""

    source: str
    start: int
    end: int
    first_line: int
    last_line: int
    text: str


class SourceText:
    """The text of one source. `rows` holds its lines as columns `text`, `end`, `start`."""

    def __init__(self, source: str, rows: pa.RecordBatch, characters: int) -> None:
        self.source = source
        self.characters = characters
        self._text = rows.column("text")
        self._ends: Bytes = rows.column("end").to_numpy()
        self.starts: Ints = rows.column("start").to_numpy()
        _, offsets, data = self._text.buffers()
        at = self._text.offset
        self._offsets: Ints = np.frombuffer(offsets, dtype=np.int64)[at : at + len(self._text) + 1]
        self._data = memoryview(data) if data is not None else memoryview(b"")
        self._blocks: dict[int, Ints] = {}

    @property
    def lines(self) -> int:
        """Number of lines."""
        return len(self.starts)

    def slice(self, start: int, end: int) -> str:
        """The code points from `start` to `end`, line ends included. Raises NotFound outside the text."""
        self._check(start, end)
        if start == end:
            return ""
        first, last = self._row(start), self._row(end - 1)
        if first == last:
            return self._cut(first, start, end)
        middle = self._join(first + 1, last)
        return self._cut(first, start, end) + middle + self._cut(last, start, end)

    def line_of(self, offset: int) -> int:
        """Number of the line that holds a code point; the end of the text counts to its last line."""
        self._check(offset, offset)
        return max(1, self._row(offset) + 1)

    def line_range(self, first: int, last: int) -> tuple[int, int]:
        """Offsets of the lines `first` to `last`, both included. Raises NotFound if there are no such lines."""
        if not 1 <= first <= last <= self.lines:
            raise NotFound(
                f"{self.source} has no lines {first} to {last}; it has {self.lines} lines"
            )
        return int(self.starts[first - 1]), self._line_stop(last - 1)

    def passage(self, start: int, end: int) -> Passage:
        """The slice with the lines that it touches."""
        text = self.slice(start, end)
        last = self.line_of(max(start, end - 1))
        return Passage(self.source, start, end, self.line_of(start), last, text)

    def line(self, row: int) -> tuple[int, int, str]:
        """Start, end and text of the line in a row (from 0), without its line end."""
        text = self._decode(int(self._offsets[row]), int(self._offsets[row + 1]))
        start = int(self.starts[row])
        return start, start + len(text), text

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.characters:
            raise NotFound(
                f"{self.source} has no characters {start} to {end}; it has {self.characters} characters"
            )

    def _row(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def _line_stop(self, row: int) -> int:
        return int(self.starts[row + 1]) if row + 1 < len(self.starts) else self.characters

    def _decode(self, first: int, last: int) -> str:
        return str(self._data[first:last], "utf-8")

    def _join(self, first: int, last: int) -> str:
        """Whole rows from `first` to before `last`, with their line ends."""
        if last - first > _FEW_LINES:
            return self._join_many(first, last)
        bounds = self._offsets[first : last + 1].tolist()
        kinds = self._ends[first:last].tolist()
        return "".join(
            self._decode(bounds[at], bounds[at + 1]) + LINE_ENDS[kind]
            for at, kind in enumerate(kinds)
        )

    def _join_many(self, first: int, last: int) -> str:
        kinds = pa.array(self._ends[first:last])
        ends = pa.array(LINE_ENDS, pa.large_string()).take(kinds)
        nothing = pa.scalar("", pa.large_string())
        texts = self._text.slice(first, last - first)
        joined = call_function("binary_join_element_wise", [texts, ends, nothing])
        _, offsets, data = joined.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)
        at = joined.offset
        return str(memoryview(data)[bounds[at] : bounds[at + len(joined)]], "utf-8")

    def _cut(self, row: int, start: int, end: int) -> str:
        """The part of one line, with its end, that lies between two offsets of the text."""
        begin, stop = int(self.starts[row]), self._line_stop(row)
        line_end = LINE_ENDS[self._ends[row]]
        length = stop - begin - len(line_end)
        first, last = max(0, start - begin), min(stop, end) - begin
        text = self._within(row, length, min(first, length), min(last, length))
        return text + line_end[max(0, first - length) : max(0, last - length)]

    def _within(self, row: int, length: int, first: int, last: int) -> str:
        """Characters `first` to `last` of a line of `length` characters."""
        begin, stop = int(self._offsets[row]), int(self._offsets[row + 1])
        if stop - begin == length:
            return self._decode(begin + first, begin + last)
        if stop - begin < _LONG_LINE:
            return self._decode(begin, stop)[first:last]
        line = np.frombuffer(self._data[begin:stop], dtype=np.uint8)
        return self._decode(
            begin + self._byte(row, line, first), begin + self._byte(row, line, last)
        )

    def _byte(self, row: int, line: Bytes, character: int) -> int:
        """Byte position of a character of a long line."""
        before = self._blocks.get(row)
        if before is None:
            blocks = (line[at : at + _BLOCK] for at in range(0, len(line), _BLOCK))
            counts = [np.count_nonzero((block & 0xC0) != 0x80) for block in blocks]
            before = self._blocks[row] = np.concatenate(([0], np.cumsum(counts)))
        if character >= before[-1]:
            return len(line)
        block = bisect_right(before, character) - 1
        at = block * _BLOCK
        leads = np.flatnonzero((line[at : at + _BLOCK] & 0xC0) != 0x80)
        return at + int(leads[character - before[block]])
