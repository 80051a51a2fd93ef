"""Changes: whether the file of a source is still what a corpus version holds."""

import hashlib
from pathlib import Path

from data.manifest import Entry


def has_changed(entry: Entry) -> bool:
    """By size and time of change; when these differ, by the bytes. What was not read cannot have changed."""
    if not entry.path or not entry.source.sha256:
        return False
    path = Path(entry.path)
    try:
        status = path.stat()
        if (status.st_size, status.st_mtime_ns) == (entry.size, entry.mtime_ns):
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() != entry.source.sha256
    except OSError:
        return True
