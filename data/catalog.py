"""Catalog: what the store knows about files and contents, in one SQLite file.

`files` remembers the hash and the parser of a path at a size and a time of change, so that an unchanged file need
not be read. `contents` remembers what a parser made of some bytes, and where the lines lie. A row is written only
when the segment that it points to is complete. The catalog is a memory, not a truth: without it, all is parsed anew.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from data.segment import Location
from data.source import ParseStatus
from runtime.errors import CorpusError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    path BLOB PRIMARY KEY, size INTEGER, mtime_ns INTEGER, read_ns INTEGER, sha256 TEXT, parser TEXT,
    parser_version INTEGER, reason TEXT, choice INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contents (
    sha256 TEXT, parser TEXT, parser_version INTEGER, encoding TEXT, bom INTEGER, bytes INTEGER,
    characters INTEGER, status TEXT, reason TEXT, undecodable INTEGER,
    segment TEXT, batch INTEGER, row INTEGER, rows INTEGER,
    PRIMARY KEY (sha256, parser, parser_version)
) WITHOUT ROWID;
"""
_RACY_NS = 2_000_000_000
"""A file changed this shortly before it was read may have changed again within the same tick of its clock."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What was found out about a path. No parser: it is not read, for `reason`; then it has no hash either."""

    size: int
    mtime_ns: int
    read_ns: int
    sha256: str
    parser: str
    parser_version: int
    reason: str
    choice: int

    def is_current(self, size: int, mtime_ns: int) -> bool:
        """Whether a file with this size and time of change must be the same."""
        same = (self.size, self.mtime_ns) == (size, mtime_ns)
        return same and self.mtime_ns < self.read_ns - _RACY_NS


@dataclass(frozen=True, slots=True)
class Content:
    """What a parser made of some bytes."""

    sha256: str
    parser: str
    parser_version: int
    encoding: str
    bom: bool
    bytes: int
    characters: int
    status: ParseStatus
    reason: str
    undecodable: int
    location: Location

    @property
    def key(self) -> tuple[str, str, int]:
        """What determines the rest."""
        return self.sha256, self.parser, self.parser_version


class Catalog:
    """The open catalog of one store; not to be shared between threads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> "Iterator[Catalog]":
        """Open or create. Raises CorpusError when the file is damaged or locked for long."""
        try:
            with closing(sqlite3.connect(path, timeout=60)) as connection:
                with connection:
                    connection.executescript(_SCHEMA)
                yield cls(connection)
        except sqlite3.Error as error:
            raise CorpusError(
                f"the catalog of the store cannot be used: {error}",
                f"If it is damaged, delete {path}: the corpora are then parsed anew.",
            ) from error

    def files(self, paths: Iterable[Path]) -> dict[Path, KnownFile]:
        """What is known about these paths."""
        query = "SELECT * FROM files WHERE path = ?"
        rows = (
            (path, self._connection.execute(query, (os.fsencode(path),)).fetchone())
            for path in paths
        )
        return {path: KnownFile(*row[1:]) for path, row in rows if row is not None}

    def content(self, sha256: str, parser: str, version: int) -> Content | None:
        """What is known about some bytes."""
        query = "SELECT * FROM contents WHERE sha256 = ? AND parser = ? AND parser_version = ?"
        row = self._connection.execute(query, (sha256, parser, version)).fetchone()
        if row is None:
            return None
        return _content(*row)

    def remember(self, files: dict[Path, KnownFile], contents: Iterable[Content]) -> None:
        """Write down what was found out, in one transaction."""
        file_rows = [(os.fsencode(path), *astuple(file)) for path, file in files.items()]
        content_rows = [_flat(content) for content in contents]
        with self._connection:
            self._connection.executemany(
                f"INSERT OR REPLACE INTO files VALUES ({_marks(9)})", file_rows
            )
            self._connection.executemany(
                f"INSERT OR REPLACE INTO contents VALUES ({_marks(14)})", content_rows
            )


def _content(
    sha256: str, parser: str, version: int, encoding: str, bom: int, size: int, characters: int,
    status: ParseStatus, reason: str, undecodable: int, segment: str, batch: int, row: int, rows: int,
) -> Content:  # fmt: skip
    location = Location(segment, batch, row, rows)
    return Content(
        sha256, parser, version, encoding, bool(bom), size, characters, status, reason, undecodable,
        location,
    )  # fmt: skip


def _flat(content: Content) -> tuple[object, ...]:
    *facts, location = astuple(content)
    return (*facts, *location)


def _marks(count: int) -> str:
    return ", ".join("?" * count)
