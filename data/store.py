"""Store: the folder in which corpora are kept, and how files get into it whole or not at all.

corpora/v2/catalog.sqlite      which file has which content, and where the lines of a content lie
corpora/v2/segments/*.arrow    the lines, each content once, shared between versions and corpora
corpora/v2/versions/<version>  the manifest of a version, and what is derived from it (partitions, ranking)

Every file is written under a temporary name, flushed to the disk and renamed: a reader sees the old file, the
new one or none, and builders that work at the same time at worst do the same work twice.
"""

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from runtime.errors import CorpusError

_LAYOUT = "v2"
"""Raised when what is kept changes: corpora of another layout are not looked at, but parsed anew."""
_STALE_SECONDS = 24 * 3600


def default_store() -> Path:
    """The store of this user: SPANTREE_STORE, or a folder of the user's cache directory."""
    chosen = os.environ.get("SPANTREE_STORE")
    return Path(chosen).expanduser() if chosen else user_cache_path("spantree")


@dataclass(frozen=True, slots=True)
class Store:
    """The paths of one store."""

    root: Path

    @classmethod
    def prepare(cls, root: str | Path | None) -> "Store":
        """Make the folders of a store. Raises CorpusError when that is not possible."""
        store = cls(Path(root or default_store()).absolute())
        with store.writing():
            store.segments.mkdir(parents=True, exist_ok=True)
            store.versions.mkdir(parents=True, exist_ok=True)
            store._remove_leftovers()
        return store

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Say what a failure to write means: no space, no permission."""
        try:
            yield
        except OSError as error:
            raise CorpusError(
                f"the store {self.root} cannot be written: {error.strerror or error}",
                "Choose another folder with --store DIR or the variable SPANTREE_STORE.",
            ) from error

    @property
    def _corpora(self) -> Path:
        return self.root / "corpora" / _LAYOUT

    @property
    def catalog(self) -> Path:
        """The SQLite file of known files and contents."""
        return self._corpora / "catalog.sqlite"

    @property
    def segments(self) -> Path:
        """The folder of the Arrow files."""
        return self._corpora / "segments"

    @property
    def versions(self) -> Path:
        """The folder of the corpus versions."""
        return self._corpora / "versions"

    def version(self, version: str) -> Path:
        """The folder of one version. Raises CorpusError if that cannot be the name of one."""
        if not re.fullmatch(r"[0-9a-f]{16}", version):
            raise CorpusError(
                f"{version!r} is not a corpus version", "A version has 16 hexadecimal digits."
            )
        return self.versions / version

    def _remove_leftovers(self) -> None:
        """Remove what builders that were killed left behind, unless it may still be in use."""
        for path in self.segments.glob("*.tmp"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()


def temporary_name(path: Path) -> Path:
    """A name beside `path` that no other writer uses."""
    return path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def replace_atomically(temporary: Path, path: Path) -> None:
    """Flush a finished file to the disk and give it its name."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a small file whole or not at all; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        temporary.write_bytes(content)
        replace_atomically(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
