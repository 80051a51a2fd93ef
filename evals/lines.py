"""Lines: a file that is only ever appended to, a JSON line at a time, each flushed to the disk before it counts.

A line that a kill cut in half has no line break at its end: it is taken off when the file is opened again. One process
writes a folder at a time: it holds a lock that the operating system lets go of when the process dies.
"""

import json
import os
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from runtime.errors import RunError

Row = TypeVar("Row", bound=BaseModel)
LOCK = ".lock"


class LineFile:
    """A file that is open for appending. `cut`: its last line was half-written, and was taken off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut = _mended(path)
        # Unbuffered: what could not be written must not come back when the file is closed.
        self._file = path.open("ab", buffering=0)
        self._turn = threading.Lock()

    def append(self, line: bytes) -> None:
        """Write a line through to the disk, whole or not at all. Safe from several threads.

        Raises RunError if the disk does not take it.
        """
        with self._turn:
            whole = self._file.seek(0, os.SEEK_END)
            try:
                self._write(line)
            except OSError as error:
                with suppress(OSError):
                    self._file.truncate(whole)
                raise RunError(
                    f"the log {self.path.parent} cannot be written: {error.strerror or error}",
                    hint="make room; the same command then goes on with what is in the log",
                ) from error

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._file.close()

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())


def read_rows(path: Path, of: type[Row], what: str, lost: str) -> list[Row]:
    """All whole lines of a file of JSON lines; none where there is no file. What has no line break does not count.

    Raises RunError for a line that is no such row: `what` it is to be, and what is `lost` and done again without it.
    """
    raw = path.read_bytes() if path.exists() else b""
    return [
        parsed_row(line, of, path, number, what, lost)
        for number, line in enumerate(raw.split(b"\n")[:-1], start=1)
    ]


def parsed_row(line: bytes, of: type[Row], path: Path, number: int, what: str, lost: str) -> Row:
    """A line of a file as a row. Raises RunError if it is none."""
    try:
        return of.model_validate(json.loads(line))
    except ValueError as error:
        raise RunError(
            f"{path} is damaged: line {number} is no {what}",
            hint=f"remove that line to have {lost}",
        ) from error


def locked(folder: Path, doing: str) -> sqlite3.Connection:
    """An exclusive lock of a folder that is being `doing` ("evaluated"): SQLite has one on every system.

    It holds until the connection is closed. Raises RunError if another process has it.
    """
    lock = sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        raise RunError(
            f"{folder} is being {doing} by another process ({error})",
            hint="wait for it, or name another folder with --out",
        ) from error
    return lock


def prepared(folder: Path, manifest: str, what: str) -> None:
    """Make a folder. Raises RunError if it cannot be written, or holds files and no `manifest` file of `what`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strangers = not (folder / manifest).exists() and any(
            each.name != LOCK for each in folder.iterdir()
        )
    except OSError as error:
        raise RunError(
            f"the folder {folder} cannot be written: {error.strerror}",
            hint="name another folder with --out",
        ) from error
    if strangers:
        raise RunError(
            f"{folder} holds files, and no {what}", hint="name another folder with --out"
        )


def _mended(path: Path) -> bool:
    """Take a half-written last line off; whether there was one."""
    with suppress(FileNotFoundError), path.open("rb+") as file:
        raw = file.read()
        whole = raw.rfind(b"\n") + 1
        if whole < len(raw):
            file.truncate(whole)
            os.fsync(file.fileno())
            return True
    return False
