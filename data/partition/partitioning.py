"""Partitioning: the partitions and spans of one corpus under one partitioner.

It is kept as columns of numbers and short strings; Span and Partition objects are made when they are asked for.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from data.span import Partition, Span
from runtime.errors import NotFound

PARTITION_COLUMNS = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("method", pa.string()),
        ("label", pa.string()),
        ("first_span", pa.int64()),
        ("end_span", pa.int64()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("first_line", pa.int64()),
        ("last_line", pa.int64()),
        ("time_start", pa.string()),
        ("time_end", pa.string()),
    ]
)
"""A row a partition, in order; `method` is the partitioner that was used, `first_span`:`end_span` its spans' rows."""

SPAN_COLUMNS = pa.schema(
    [
        ("id", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("first_line", pa.int64()),
        ("last_line", pa.int64()),
    ]
)
"""A row a span, in order. The source is that of the partition."""


@dataclass(frozen=True, slots=True)
class PartitioningKey:
    """What determines a partitioning: the version of the corpus, the partitioner and the sizes in characters."""

    version: str
    name: str
    max_chars: int
    span_chars: int


class Partitioning:
    """Partitions in order of source and position, and their spans. Both tile each source exactly."""

    def __init__(self, key: PartitioningKey, partitions: pa.Table, spans: pa.Table) -> None:
        self.key = key
        self.partition_table = partitions
        self.span_table = spans
        self.span_count: int = len(spans)

    @property
    def name(self) -> str:
        """The partitioner that was asked for; `methods` says which one was used."""
        return self.key.name

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """All partitions."""
        ids = self._span_ids
        rows = self.partition_table.drop_columns(["method"]).to_pylist()
        return tuple(
            Partition(span_ids=tuple(ids[row.pop("first_span") : row.pop("end_span")]), **row)
            for row in rows
        )

    @cached_property
    def methods(self) -> dict[str, str]:
        """The partitioner used for each source: `size` where the one asked for did not apply."""
        sources, methods = (
            self.partition_table.column(name).to_pylist() for name in ("source", "method")
        )
        return dict(zip(sources, methods, strict=True))

    def partition(self, partition_id: str) -> Partition:
        """The partition with this id. Raises NotFound."""
        row = self._partition_rows.get(partition_id)
        if row is None:
            raise NotFound(f"there is no partition {partition_id!r}")
        return self.partitions[row]

    def span(self, span_id: str) -> Span:
        """The span with this id. Raises NotFound."""
        return self.span_in_row(self.row_of(span_id))

    def spans(self, partition_id: str) -> tuple[Span, ...]:
        """The spans of a partition, in order. Raises NotFound."""
        row = self._partition_rows.get(partition_id)
        if row is None:
            raise NotFound(f"there is no partition {partition_id!r}")
        first, end = self._first_spans[row], self._first_spans[row + 1]
        return tuple(self.span_in_row(at) for at in range(first, end))

    def span_at(self, source_id: str, offset: int) -> Span:
        """The span that holds a code point of a source. Raises NotFound outside the text."""
        first, end = self.span_rows(source_id)
        row = first + bisect_right(self._columns[0][first:end], offset) - 1
        if row < first or offset >= self._columns[1][row]:
            raise NotFound(f"{source_id} has no character {offset}")
        return self.span_in_row(row)

    def partition_of(self, span_id: str) -> Partition:
        """The partition that a span belongs to. Raises NotFound."""
        return self.partitions[self._partition_row(self.row_of(span_id))]

    def by_source(self, source_id: str) -> tuple[Partition, ...]:
        """The partitions of a source, in order; none for a source without text or an unknown one."""
        first, end = self._sources.get(source_id, (0, 0))
        return self.partitions[first:end]

    def all_spans(self) -> Iterator[Span]:
        """Every span, in order."""
        return (self.span_in_row(row) for row in range(self.span_count))

    def span_rows(self, source_id: str) -> tuple[int, int]:
        """First and one past the last row of a source's spans. Raises NotFound for a source without text."""
        if source_id not in self._sources:
            raise NotFound(f"there is no text in a source {source_id!r}")
        first, end = self._sources[source_id]
        return self._first_spans[first], self._first_spans[end]

    def span_in_row(self, row: int) -> Span:
        """The span in a row of the table, from 0."""
        start, end, first_line, last_line = (int(column[row]) for column in self._columns)
        source = self._source_names[self._partition_row(row)]
        return Span(self._span_ids[row], source, start, end, first_line, last_line)

    def row_of(self, span_id: str) -> int:
        """The row of a span. Raises NotFound."""
        row = self._span_row.get(span_id)
        if row is None:
            raise NotFound(f"there is no span {span_id!r}")
        return row

    def _partition_row(self, span_row: int) -> int:
        return bisect_right(self._first_spans, span_row) - 1

    @cached_property
    def _columns(self) -> tuple[np.ndarray, ...]:
        return tuple(
            self.span_table.column(name).to_numpy()
            for name in ("start", "end", "first_line", "last_line")
        )

    @cached_property
    def _span_ids(self) -> list[str]:
        return self.span_table.column("id").to_pylist()

    @cached_property
    def _span_row(self) -> dict[str, int]:
        return {span_id: row for row, span_id in enumerate(self._span_ids)}

    @cached_property
    def _partition_rows(self) -> dict[str, int]:
        ids = self.partition_table.column("id").to_pylist()
        return {partition_id: row for row, partition_id in enumerate(ids)}

    @cached_property
    def _first_spans(self) -> list[int]:
        """The first span row of each partition, and the number of spans behind the last."""
        return [*self.partition_table.column("first_span").to_pylist(), self.span_count]

    @cached_property
    def _source_names(self) -> list[str]:
        return self.partition_table.column("source").to_pylist()

    @cached_property
    def _sources(self) -> dict[str, tuple[int, int]]:
        """First and one past the last partition row of each source."""
        rows: dict[str, tuple[int, int]] = {}
        for row, source in enumerate(self._source_names):
            rows[source] = (rows.get(source, (row, row))[0], row + 1)
        return rows
