"""Log writer: appends the records of one evaluation to its folder, each line flushed to the disk.

One process writes a log at a time: it holds a lock that the operating system lets go of when the process dies.
"""

import os
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from evals.log import SAMPLES, SampleRecord, line_of
from evals.manifest import MANIFEST, Manifest, differences, read_manifest, write_manifest
from runtime.errors import RunError

_LOCK = ".lock"
_SHOWN = 5


class LogWriter:
    """A log that is open for appending. `cut`: its last line was half-written, and was taken off."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        """Begin a log, or go on with one. Raises RunError if the folder holds another evaluation or is in use."""
        self.folder = folder
        self._made(folder)
        self._lock = _locked(folder)
        try:
            self.manifest = _agreed(folder, manifest)
            self.cut = _mended(folder / SAMPLES)
            # Unbuffered: what could not be written must not come back when the file is closed.
            self._file = (folder / SAMPLES).open("ab", buffering=0)
        except BaseException:
            self._lock.close()
            raise
        self._turn = threading.Lock()

    def append(self, record: SampleRecord) -> None:
        """Write a record through to the disk, whole or not at all. Safe from several threads.

        Raises RunError if the disk does not take it.
        """
        line = line_of(record)
        with self._turn:
            whole = self._file.seek(0, os.SEEK_END)
            try:
                self._write(line)
            except OSError as error:
                with suppress(OSError):
                    self._file.truncate(whole)
                raise RunError(
                    f"the log {self.folder} cannot be written: {error.strerror or error}",
                    hint="make room; the same command then goes on with what is in the log",
                ) from error

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the log and let others have it."""
        with self._turn:
            self._file.close()
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @staticmethod
    def _made(folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            strangers = not (folder / MANIFEST).exists() and any(
                each.name != _LOCK for each in folder.iterdir()
            )
        except OSError as error:
            raise RunError(
                f"the log {folder} cannot be written: {error.strerror}",
                hint="name another folder with --out LOG",
            ) from error
        if strangers:
            raise RunError(
                f"{folder} holds files, and no evaluation log",
                hint="name another folder with --out LOG",
            )


def _locked(folder: Path) -> sqlite3.Connection:
    """An exclusive lock of the folder: SQLite has one on every system, and it dies with its process."""
    lock = sqlite3.connect(folder / _LOCK, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        raise RunError(
            f"{folder} is being evaluated by another process ({error})",
            hint="wait for it, or name another folder with --out LOG",
        ) from error
    return lock


def _agreed(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest of the folder, which is written if there is none. Raises RunError if it is of something else."""
    if not (folder / MANIFEST).exists():
        write_manifest(folder, manifest)
        return manifest
    kept = read_manifest(folder)
    changed = differences(kept, manifest)
    if changed:
        more = [f"and {len(changed) - _SHOWN} more"] if len(changed) > _SHOWN else []
        told = "\n  ".join([*changed[:_SHOWN], *more])
        raise RunError(
            f"{folder} holds another evaluation:\n  {told}",
            hint="evaluate into another folder (--out LOG), or as that one was begun",
        )
    return kept


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
