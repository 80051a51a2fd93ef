"""The database of a journal: one SQLite file, one connection, one lock.

Write-ahead logging with `synchronous=FULL`: what was committed survives the death of the process and of the machine,
and readers do not wait for a writer. Several threads share one Database; several processes share one file. In
memory (no path) the same code runs, and nothing survives.
"""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtime.errors import RunError

SCHEMA_VERSION = 1
"""Version of the tables. A file with a newer one is refused and left as it is."""

APPLICATION_ID = (
    0x73706E74  # "spnt", in the header of the file: no other program's database is touched
)
BUSY_SECONDS = 15.0

_SCHEMA = """
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT,
    elapsed REAL NOT NULL DEFAULT 0,
    updated REAL NOT NULL,
    owner TEXT,
    expires REAL NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE events (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID;
CREATE TABLE calls (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at REAL NOT NULL,
    status TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID;
CREATE INDEX calls_by_key ON calls (run_id, key, attempt);
CREATE TABLE texts (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE text_uses (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    hash TEXT NOT NULL REFERENCES texts (hash),
    PRIMARY KEY (run_id, hash)
) WITHOUT ROWID;
"""


class Database:
    """A connection that threads share. `commits` counts the transactions that were announced to `on_commit`."""

    def __init__(self, path: Path | None, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.clock = clock
        self.commits = 0
        self.on_commit: Callable[[int], None] | None = None
        self._lock = threading.RLock()
        self._process = os.getpid()
        with translated(path):
            self._connection = _connect(path)
        self._finalizer = weakref.finalize(self, _close, self._connection, self._process)

    @contextmanager
    def write(self, *, announced: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on disk when the block ends, or nothing of it ever is."""
        with self._exclusive() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            if announced:
                self.commits += 1
                if self.on_commit is not None:
                    self.on_commit(self.commits)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of what is committed, for the length of the block."""
        with self._exclusive() as connection:
            if connection.in_transaction:  # inside a write: it is the view
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    def row(self, statement: str, *values: Any) -> sqlite3.Row | None:
        """The first row of a query, or None."""
        with self.read() as connection:
            return connection.execute(statement, values).fetchone()

    def rows(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        """All rows of a query."""
        with self.read() as connection:
            return connection.execute(statement, values).fetchall()

    def shrink_log(self) -> None:
        """Move the write-ahead log into the file, so that what was deleted is not left in it."""
        with self._exclusive() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connection. Closing twice does nothing."""
        with self._lock:
            self._finalizer()

    @contextmanager
    def _exclusive(self) -> Iterator[sqlite3.Connection]:
        if os.getpid() != self._process:
            raise RuntimeError("a journal cannot be used across a fork: open it in each process")
        if not self._finalizer.alive:
            raise RunError("the journal is closed", hint="open it again: Journal.open(path)")
        with self._lock, translated(self.path):
            yield self._connection


@contextmanager
def translated(path: Path | None) -> Iterator[None]:
    """Turn what the disk or another process does to the file into a RunError. A wrong statement stays a bug."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
        raise
    except sqlite3.DatabaseError as error:
        place = path or "memory"
        raise RunError(f"the journal {place} cannot be used: {error}", hint=_hint(error)) from error


def _hint(error: sqlite3.DatabaseError) -> str:
    words = str(error)
    if "locked" in words or "busy" in words:
        return "another process is writing to it: try again, or use another --store"
    if "full" in words:
        return "free some disk space; nothing was half-written"
    if "not a database" in words or "malformed" in words:
        return "move the file away, or use another --store"
    return "check the folder and its permissions, or use another --store"


def _close(connection: sqlite3.Connection, process: int) -> None:
    if (
        os.getpid() == process
    ):  # a forked child must not close, and by that truncate, its parent's log
        connection.close()


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        _prepare_file(path)
    connection = sqlite3.connect(
        path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("BEGIN")
        _check_version(connection, path)  # before anything is written
        connection.execute("ROLLBACK")
        _set_durability(connection)
        _create_tables(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare_file(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)  # a journal holds text that others may not read
    except OSError as error:
        raise RunError(
            f"the journal {path} cannot be created: {error.strerror or error}",
            hint="choose a folder that can be written to: --store DIR",
        ) from error


def _check_version(connection: sqlite3.Connection, path: Path | None) -> int:
    """The version of the tables, 0 for a new file. To be called in a transaction: another may be creating them."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and (application or version or tables):
        raise RunError(
            f"{path} is a database of another program; it was not touched",
            hint="use another --store",
        )
    if version > SCHEMA_VERSION:
        raise RunError(
            f"the journal {path} is of version {version}, newer than this program reads ({SCHEMA_VERSION}); "
            "it was not touched",
            hint="update spantree, or use another --store",
        )
    return version


def _set_durability(connection: sqlite3.Connection) -> None:
    """Settings of the connection. Switching a new file to WAL needs it alone: others may be doing the same."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _create_tables(connection: sqlite3.Connection, path: Path | None) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0]:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _check_version(connection, path) == 0:  # nobody was faster
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
