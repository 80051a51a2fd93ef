"""Manifest: the sources of one corpus version, and where the lines of each lie in the store."""

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path

from data.segment import Location
from data.source import Source
from data.store import Store, write_atomically
from runtime.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Entry:
    """A source of a manifest. `path`, `size` and `mtime_ns` are of the file as it was read; no path: standard input."""

    source: Source
    path: str
    size: int
    mtime_ns: int
    location: Location


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version: its sources in the order of their ids, and the paths that were asked for."""

    roots: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def version(self) -> str:
        """Sixteen hex digits over id, byte hash, parser and status of every source, in order."""
        digest = sha256()
        for entry in self.entries:
            source = entry.source
            parser = f"{source.parser}:{source.parser_version}:{source.parse_status}"
            digest.update(f"{source.id}\0{source.sha256}\0{parser}\n".encode())
        return digest.hexdigest()[:16]


def save_manifest(store: Store, manifest: Manifest) -> None:
    """Write the manifest of a version, unless the same one is there."""
    content = {
        "roots": manifest.roots,
        "entries": [
            {
                **_plain(entry),
                "source": entry.source.model_dump(),
                "location": asdict(entry.location),
            }
            for entry in manifest.entries
        ],
    }
    path = _path(store, manifest.version)
    encoded = json.dumps(content).encode()
    if not path.exists() or path.read_bytes() != encoded:
        write_atomically(path, encoded)


def load_manifest(store: Store, version: str) -> Manifest:
    """Read the manifest of a version. Raises CorpusError if there is none."""
    path = _path(store, version)
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise CorpusError(
            f"the store {store.root} has no corpus version {version}",
            "Open the files again, or name the right store with --store DIR.",
        ) from error
    entries = (
        Entry(
            **{
                **entry,
                "source": Source.model_validate(entry["source"]),
                "location": Location(**entry["location"]),
            }
        )
        for entry in content["entries"]
    )
    return Manifest(tuple(content["roots"]), tuple(entries))


def _path(store: Store, version: str) -> Path:
    return store.version(version) / "manifest.json"


def _plain(entry: Entry) -> dict[str, object]:
    nested = ("source", "location")
    return {f.name: getattr(entry, f.name) for f in fields(entry) if f.name not in nested}
