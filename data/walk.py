"""Walk: the files under the paths that a user gave, in a fixed order, each with the reason if it is left out.

Hidden files and folders are left out. A symbolic link is followed only if its target lies under the root
and would not be found anyway: a file that is read under two names would be counted twice. Nothing but
regular files is opened: a pipe would block.
"""

import difflib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Found:
    """A file or folder that the walk came upon. `reason` says why it is not read; then `failed` tells how bad."""

    id: str
    path: Path
    size: int = 0
    mtime_ns: int = 0
    reason: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """What was found, ordered by id; ids are relative to `base`."""

    base: Path
    roots: tuple[Path, ...]
    found: tuple[Found, ...]


def walk(paths: Sequence[str | Path], *, without: Path | None = None) -> Walk:
    """Walk the paths, except for the store `without`.

    Raises CorpusError if there is no path, or one does not exist or is neither file nor folder.
    """
    if not paths:
        raise CorpusError("no path was given", "Name at least one file or folder.")
    roots = tuple(dict.fromkeys(_resolved(path) for path in paths))
    base = _common_base(roots)
    found: dict[str, Found] = {}
    for root in roots:
        walker = _Walker(base, root if root.is_dir() else root.parent, without)
        for item in walker.walk(root):
            known = found.get(item.id)
            if known is None or (known.reason and not item.reason):
                found[item.id] = item
    return Walk(base, roots, tuple(found[id] for id in sorted(found)))


def source_id(relative: str) -> str:
    """The path as an id that can be shown anywhere: what cannot be printed is escaped, as is the backslash."""
    return "".join(c if c.isprintable() and c != "\\" else _escaped(c) for c in relative)


class _Walker:
    """One walk below one root. `_seen` holds the folders entered and the targets of links, against loops."""

    def __init__(self, base: Path, root: Path, store: Path | None) -> None:
        self._base = base
        self._store = {store.resolve(), store.resolve() / "corpora"} if store else set()
        self._root = root
        self._seen: set[Path] = set()
        self._pending: list[Path] = []

    def walk(self, start: Path) -> Iterator[Found]:
        """Everything at or below a path, in no order that matters."""
        if not start.is_dir():
            yield self._file(start)
            return
        self._pending.append(start)
        while self._pending:
            yield from self._folder(self._pending.pop())

    def _folder(self, folder: Path) -> Iterator[Found]:
        self._seen.add(folder.resolve())
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries)
        except OSError as error:
            yield self._left_out(folder, _cause(error), failed=True)
            return
        for name in names:
            path = folder / name
            try:
                found = self._entry(path)
            except OSError as error:
                found = self._left_out(path, _cause(error), failed=True)
            if found is not None:
                yield found

    def _entry(self, path: Path) -> Found | None:
        """What an entry of a folder is; None for a folder, which waits for its turn."""
        if path.name.startswith("."):
            return self._left_out(path, "hidden")
        if path.is_symlink():
            reason = self._refusal(path)
            if reason:
                return self._left_out(path, reason)
        if path.is_dir():
            if path in self._store:
                return self._left_out(path, "the store of spantree")
            self._pending.append(path)
            return None
        return self._file(path)

    def _file(self, path: Path) -> Found:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return self._left_out(path, "not a regular file")
        return Found(self._id(path), path, status.st_size, status.st_mtime_ns)

    def _refusal(self, link: Path) -> str:
        """Why a link is not followed; empty if it is."""
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):
            return "a symbolic link that leads nowhere"
        if not target.is_relative_to(self._root):
            return "a symbolic link that leads out of the folder"
        if target in self._seen or link.parent.resolve().is_relative_to(target):
            return "a symbolic link to what is read already"
        inside = target.relative_to(self._root)
        if not any(part.startswith(".") for part in inside.parts):
            return f"a symbolic link to {source_id(inside.as_posix())}, which is listed itself"
        self._seen.add(target)
        return ""

    def _left_out(self, path: Path, reason: str, *, failed: bool = False) -> Found:
        folder = False
        with suppress(OSError):
            folder = path.is_dir() and not path.is_symlink()
        return Found(self._id(path) + "/" * folder, path, reason=reason, failed=failed)

    def _id(self, path: Path) -> str:
        return source_id(path.relative_to(self._base).as_posix())


def _resolved(path: str | Path) -> Path:
    path = Path(path).expanduser()
    try:
        resolved = path.resolve(strict=True)
    except FileNotFoundError as error:
        raise CorpusError(f"no such path: {path}", _spelling(path)) from error
    except (OSError, RuntimeError) as error:
        raise CorpusError(f"cannot open {path}: {_cause(error)}", "Name another path.") from error
    if not (resolved.is_dir() or resolved.is_file()):
        raise CorpusError(
            f"{path} is neither a file nor a folder", "Use - to read from standard input."
        )
    return resolved


def _common_base(roots: Sequence[Path]) -> Path:
    folders = [str(root if root.is_dir() else root.parent) for root in roots]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError as error:
        raise CorpusError("the paths have no common folder", "Ask over one of them.") from error


def _spelling(path: Path) -> str:
    """The hint for a path that does not exist: a similar name, or where it was looked for."""
    parent = path.parent
    if parent.is_dir():
        close = difflib.get_close_matches(path.name, [item.name for item in parent.iterdir()], 1)
        if close:
            return f"Did you mean {parent / close[0]}?"
    return f"Check the spelling; the current folder is {Path.cwd()}."


def _cause(error: BaseException) -> str:
    strerror = getattr(error, "strerror", None)
    return (strerror or str(error)).lower()


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte of a name that is not UTF-8
        return f"\\x{os.fsencode(character)[0]:02x}"
    return character.encode("unicode_escape").decode()
