"""Building of a partitioning: segments of each source, joined where tiny, divided where large, cut into spans."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Protocol

import pyarrow as pa

from data.partition.auto import AutoPartitioner
from data.partition.cuts import span_ends
from data.partition.heading import HeadingPartitioner
from data.partition.lines import Ints, line_heads, line_numbers, line_starts
from data.partition.partitioner import SMALL, Partitioner, Segment, merge_small
from data.partition.partitioning import (
    PARTITION_COLUMNS,
    SPAN_COLUMNS,
    Partitioning,
    PartitioningKey,
)
from data.partition.size import SizePartitioner
from data.partition.symbol import SymbolPartitioner
from data.partition.turn import TurnPartitioner
from data.partition.window import HEAD, TimePartitioner, reader_of
from data.source import Source
from data.span import span_id
from data.timestamp import TimestampReader, render
from runtime.errors import CorpusError

PARTITIONERS: Mapping[str, Callable[[int], Partitioner]] = {
    "auto": AutoPartitioner,
    "size": SizePartitioner,
    "time": TimePartitioner,
    "heading": HeadingPartitioner,
    "turn": TurnPartitioner,
    "symbol": SymbolPartitioner,
}
"""By name; each is made with the size of a partition in characters."""


class Texts(Protocol):
    """What is needed of a corpus."""

    @property
    def version(self) -> str:
        """The version of the corpus."""
        ...

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, those without readable text included."""
        ...

    def text(self, source_id: str) -> str:
        """The decoded text of a source."""
        ...


def build_partitioning(corpus: Texts, name: str, max_chars: int, span_chars: int) -> Partitioning:
    """Partition every readable source. Raises CorpusError for an unknown name or sizes that cannot be.

    Where the partitioner does not apply to a source, the source is partitioned by size.
    """
    partitioner = make_partitioner(name, max_chars, span_chars)
    rows = _Rows(max_chars, min(span_chars, max_chars))
    for source in corpus.sources:
        if source.readable:
            rows.add(source, corpus.text(source.id), partitioner)
    key = PartitioningKey(corpus.version, name, max_chars, span_chars)
    return Partitioning(key, *rows.tables())


def make_partitioner(name: str, max_chars: int, span_chars: int) -> Partitioner:
    """The partitioner of this name. Raises CorpusError."""
    if name not in PARTITIONERS:
        raise CorpusError(
            f"there is no partitioner {name!r}", f"Choose one of: {', '.join(PARTITIONERS)}."
        )
    if max_chars < 1 or span_chars < 1:
        raise CorpusError("a partition and a span need at least one character")
    return PARTITIONERS[name](max_chars)


class _Rows:
    """Rows of both tables, gathered source by source."""

    def __init__(self, max_chars: int, span_chars: int) -> None:
        self._max_chars = max_chars
        self._span_chars = span_chars
        self._partitions: list[tuple[str | int, ...]] = []
        self._spans: list[tuple[str | int, ...]] = []

    def add(self, source: Source, text: str, partitioner: Partitioner) -> None:
        """All partitions and spans of one source."""
        if isinstance(partitioner, AutoPartitioner):
            partitioner = partitioner.choose(text, source)
        segments = partitioner.cut(text, source)
        fallback = not segments
        method = SizePartitioner.name if fallback else partitioner.name
        segments = segments or SizePartitioner(self._max_chars).cut(text, source)
        lines = _Lines(text)
        for segment in merge_small(segments, self._max_chars // SMALL):
            ends = span_ends(text, segment.start, segment.end, self._span_chars)
            groups = _groups(segment.start, list(ends), self._max_chars)
            for number, group in enumerate(groups, start=1):
                piece = _piece(segment, group[0], group[-1], number, len(groups), lines)
                if fallback:
                    piece = Segment(
                        piece.start,
                        piece.end,
                        f"{piece.label}, by size",
                        piece.time_start,
                        piece.time_end,
                    )
                self._add_partition(source.id, method, piece, group, text, lines)

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """The tables of partitions and of spans. Raises CorpusError should two spans have the same id."""
        spans = _table(self._spans, SPAN_COLUMNS)
        if len(spans) != len(set(spans.column("id").to_pylist())):
            raise CorpusError("two spans have the same id", "Choose another size of spans.")
        return _table(self._partitions, PARTITION_COLUMNS), spans

    def _add_partition(
        self, source: str, method: str, piece: Segment, edges: list[int], text: str, lines: "_Lines"
    ) -> None:
        first_span = len(self._spans)
        firsts = line_numbers(lines.starts, edges[:-1])
        lasts = line_numbers(lines.starts, [edge - 1 for edge in edges[1:]])
        self._spans += (
            (span_id(source, start, end, text[start:end]), start, end, first, last)
            for (start, end), first, last in zip(pairwise(edges), firsts, lasts, strict=True)
        )
        self._partitions.append(
            (
                partition_id(method, source, piece.start, piece.end),
                source,
                method,
                piece.label,
                first_span,
                len(self._spans),
                piece.start,
                piece.end,
                firsts[0],
                lasts[-1],
                piece.time_start,
                piece.time_end,
            )
        )


def partition_id(method: str, source: str, start: int, end: int) -> str:
    """`p` and eleven hex digits over the partitioner that was used, source, start and end."""
    key = f"{method}\0{source}\0{start}\0{end}"
    return "p" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:11]


class _Lines:
    """Where the lines of a text begin, and how their timestamps are read, if they have any."""

    def __init__(self, text: str) -> None:
        self.starts: Ints = line_starts(text)
        self._text = text
        self._reader: TimestampReader | None = reader_of(text, self.starts)

    def times(self, start: int, end: int) -> tuple[str, str]:
        """Earliest and latest time of the lines that begin between two offsets; empty if there are none."""
        if self._reader is None:
            return "", ""
        heads = line_heads(self._text, self.starts, start, end, HEAD)
        found = [time for head in heads if (time := self._reader.read(head))]
        return (render(min(found)), render(max(found))) if found else ("", "")


def _groups(start: int, ends: list[int], max_chars: int) -> list[list[int]]:
    """The edges of spans in groups of about equal length, none longer than `max_chars`."""
    length = ends[-1] - start
    target = length / -(-length // max_chars)
    groups = [[start]]
    for end in ends:
        group = groups[-1]
        full = group[-1] - group[0] >= target or end - group[0] > max_chars
        if full and len(group) > 1:
            group = [group[-1]]
            groups.append(group)
        group.append(end)
    return groups


def _piece(
    segment: Segment, start: int, end: int, number: int, count: int, lines: _Lines
) -> Segment:
    """One of `count` parts of a segment, with its own label and times."""
    label = segment.label if count == 1 else f"{segment.label} ({number}/{count})"
    if not segment.label:
        first, last = line_numbers(lines.starts, [start, end - 1])
        label = f"lines {first}-{last}"
    if count == 1 and segment.time_start:
        return Segment(start, end, label, segment.time_start, segment.time_end)
    return Segment(start, end, label, *lines.times(start, end))


def _table(rows: Iterable[tuple[str | int, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
