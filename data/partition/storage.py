"""Storage of a partitioning: two Arrow files in the folder of its corpus, without a character of the text."""

from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

from data.partition.build import Texts, make_partitioner
from data.partition.partitioning import Partitioning, PartitioningKey
from data.store import replace_atomically, temporary_name

LAYOUT = "2"
"""Raised whenever the columns change, or the cuts for the same text: a file of another layout is built anew."""


def save_partitioning(partitioning: Partitioning, folder: Path) -> None:
    """Write both files; the one that `load_partitioning` looks for comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    partitions, spans = _paths(folder, partitioning.key)
    _write(partitioning.span_table, spans, partitioning.key)
    _write(partitioning.partition_table, partitions, partitioning.key)


def load_partitioning(
    corpus: Texts, folder: Path, name: str, max_chars: int, span_chars: int
) -> Partitioning | None:
    """The stored partitioning, memory-mapped; None if there is none for this version of the corpus.

    Raises CorpusError for an unknown partitioner.
    """
    make_partitioner(name, max_chars, span_chars)
    key = PartitioningKey(corpus.version, name, max_chars, span_chars)
    tables = [_read(path, key) for path in _paths(folder, key)]
    if any(table is None for table in tables):
        return None
    return Partitioning(key, *tables)


def _paths(folder: Path, key: PartitioningKey) -> tuple[Path, Path]:
    stem = f"{key.name}-{key.max_chars}-{key.span_chars}"
    return folder / f"{stem}.partitions.arrow", folder / f"{stem}.spans.arrow"


def _write(table: pa.Table, path: Path, key: PartitioningKey) -> None:
    table = table.replace_schema_metadata({"layout": LAYOUT, "version": key.version})
    temporary = temporary_name(path)
    try:
        with ipc.new_file(str(temporary), table.schema) as writer:
            writer.write_table(table)
        replace_atomically(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: Path, key: PartitioningKey) -> pa.Table | None:
    if not path.exists():
        return None
    try:
        table = ipc.open_file(pa.memory_map(str(path))).read_all()
    except pa.ArrowInvalid:
        return None
    expected = {b"layout": LAYOUT.encode(), b"version": key.version.encode()}
    return table if table.schema.metadata == expected else None
