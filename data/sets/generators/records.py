"""Records: the lines of a log as columns, with what each line is about, known before the line was written.

What aggregation questions ask is computed here from the columns, never by a search of the text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from data.lines import Ints
from data.questions import GoldSpan

Mask = npt.NDArray[np.bool_]
Times = npt.NDArray[np.datetime64]


@dataclass(frozen=True, slots=True)
class Field:
    """A property of the lines: its possible values, and which of them each line has; -1 for none."""

    values: tuple[str, ...]
    codes: Ints

    def equals(self, value: str) -> Mask:
        """The lines with this value; none for a value that does not occur."""
        return self.codes == (self.values.index(value) if value in self.values else -2)

    def among(self, rows: Mask) -> tuple[str, ...]:
        """The values of some lines, in the order of `values`."""
        found = np.unique(self.codes[rows])
        return tuple(self.values[code] for code in found.tolist() if code >= 0)

    def counts(self, rows: Mask) -> dict[str, int]:
        """How many of some lines have each value, those with none left out; the most frequent first."""
        codes, times = np.unique(self.codes[rows & (self.codes >= 0)], return_counts=True)
        pairs = [(self.values[c], n) for c, n in zip(codes.tolist(), times.tolist(), strict=True)]
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True, slots=True)
class Records:
    """Lines, by source and in order. `start` is a code point of the source; `text` is without the line end."""

    sources: tuple[str, ...]
    source: Ints
    start: Ints
    text: pa.LargeStringArray
    time: Times
    fields: Mapping[str, Field]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def hour(self) -> Field:
        """The hour of the day of each line, as 00 to 23; none for a line without time."""
        hours = (self.time.astype("datetime64[h]").astype(np.int64)) % 24
        codes = np.where(np.isnat(self.time), -1, hours)
        return Field(tuple(f"{hour:02}" for hour in range(24)), codes)

    def everything(self) -> Mask:
        """All lines."""
        return np.ones(len(self), dtype=np.bool_)

    def within(self, sources: Sequence[str]) -> Mask:
        """The lines of some sources."""
        codes = [self.sources.index(each) for each in sources]
        return np.isin(self.source, codes)

    def spans(self, rows: Mask) -> list[GoldSpan]:
        """Some lines as gold. The fields hold what was made here, so that nothing is left to check."""
        at = np.flatnonzero(rows)
        quotes = self.text.take(pa.array(at)).to_pylist()
        starts, sources = self.start[at].tolist(), self.source[at].tolist()
        return [
            GoldSpan.model_construct(
                source=self.sources[source], start=start, end=start + len(quote), quote=quote
            )
            for source, start, quote in zip(sources, starts, quotes, strict=True)
        ]

    def first(self, rows: Mask, *, last: bool = False) -> tuple[str, Mask]:
        """The earliest (or latest) time of some lines, to the second, and the lines that were written then."""
        seconds = self.time.astype("datetime64[s]")
        moment = seconds[rows].max() if last else seconds[rows].min()
        return str(moment), rows & (seconds == moment)
