"""Segment: an Arrow file that holds the lines of many sources, written once and then only mapped.

A source lies whole in one record batch, and a batch gathers sources up to some 64 MB, so that a scan runs over
few, large chunks. Columns: `text` (a line without its end), `end` (kind of line end), `start` (first code point
of the line in its source), `time` (as the line, or the nearest line before that has one, says it).
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

from data.lines import LineTable
from data.store import replace_atomically, temporary_name

SCHEMA = pa.schema(
    [
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("end", pa.uint8(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("time", pa.timestamp("us")),
    ]
)
_BATCH_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Location:
    """Where the lines of a source lie: `rows` rows of a batch of a segment. No segment: there are none."""

    segment: str
    batch: int
    row: int
    rows: int


class SegmentWriter:
    """Gathers the lines of sources into one segment file. Nothing is visible before `finish`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = temporary_name(folder / "segment.arrow")
        self._file = pa.OSFile(str(self._path), "wb")
        self._writer = ipc.new_file(self._file, SCHEMA)
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._pending_bytes = 0
        self._batches = 0
        self._name = hashlib.sha256()
        self.bytes = 0

    def add(self, key: str, lines: LineTable, time: pa.Array) -> tuple[int, int]:
        """Add the lines of one source; returns its batch and first row. `key` stands for its content."""
        batch = pa.RecordBatch.from_arrays(
            [lines.text, pa.array(lines.end), pa.array(lines.start), time], schema=SCHEMA
        )
        place = (self._batches, self._pending_rows)
        self._pending.append(batch)
        self._pending_rows += len(batch)
        self._pending_bytes += batch.nbytes
        self.bytes += batch.nbytes
        self._name.update(f"{key}\n".encode())
        if self._pending_bytes >= _BATCH_BYTES:
            self._flush()
        return place

    def finish(self) -> str:
        """Put the file in place, durably, and return the segment's name."""
        self._flush()
        self._writer.close()
        self._file.close()
        name = self._name.hexdigest()[:16]
        replace_atomically(self._path, segment_path(self._folder, name))
        return name

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError, pa.ArrowInvalid):  # it may be closed, or the disk may be full
            self._writer.close()
            self._file.close()
        self._path.unlink(missing_ok=True)

    def _flush(self) -> None:
        if not self._pending:
            return
        self._writer.write_batch(_concatenated(self._pending))
        self._pending = []
        self._pending_rows = self._pending_bytes = 0
        self._batches += 1


class SegmentReader:
    """The batches of one segment, memory-mapped."""

    def __init__(self, folder: Path, name: str) -> None:
        self._reader = ipc.open_file(pa.memory_map(str(segment_path(folder, name))))
        self._batches: dict[int, pa.RecordBatch] = {}

    def batch(self, number: int) -> pa.RecordBatch:
        """One batch, without a copy."""
        if number not in self._batches:
            self._batches[number] = self._reader.get_batch(number)
        return self._batches[number]


def segment_path(folder: Path, name: str) -> Path:
    """The file of a segment."""
    return folder / f"{name}.arrow"


def empty_rows() -> pa.RecordBatch:
    """The rows of a source without lines."""
    return pa.RecordBatch.from_pylist([], schema=SCHEMA)


def _concatenated(batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    batches = list(batches)
    if len(batches) == 1:
        return batches[0]
    columns = [
        pa.concat_arrays([batch.column(at) for batch in batches]) for at in range(len(SCHEMA))
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
