"""Log writer: appends the records of one evaluation to its folder, each line flushed to the disk."""

from pathlib import Path
from types import TracebackType
from typing import Self

from evals.lines import LineFile, locked, prepared
from evals.log import SAMPLES, SampleRecord, line_of
from evals.manifest import MANIFEST, Manifest, check_same, read_manifest, write_manifest


class LogWriter:
    """A log that is open for appending. `cut`: its last line was half-written, and was taken off."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        """Begin a log, or go on with one. Raises RunError if the folder holds another evaluation or is in use."""
        self.folder = folder
        prepared(folder, MANIFEST, "evaluation log")
        self._lock = locked(folder, "evaluated")
        try:
            self.manifest = _agreed(folder, manifest)
            self._file = LineFile(folder / SAMPLES)
        except BaseException:
            self._lock.close()
            raise
        self.cut = self._file.cut

    def append(self, record: SampleRecord) -> None:
        """Write a record through to the disk, whole or not at all. Safe from several threads.

        Raises RunError if the disk does not take it.
        """
        self._file.append(line_of(record))

    def close(self) -> None:
        """Close the log and let others have it."""
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


def _agreed(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest of the folder, which is written if there is none. Raises RunError if it is of something else."""
    if not (folder / MANIFEST).exists():
        write_manifest(folder, manifest)
        return manifest
    kept = read_manifest(folder)
    check_same(folder, kept, manifest, "evaluation")
    return kept
