"""Stored text: the JSON of the journal with its long strings taken out and kept once, by hash.

A long string becomes `{"$text": hash}`. A key of the data that starts with a dollar sign gets a second one, so that
nothing in the data can be taken for a reference.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from typing import Any

from runtime.errors import RunError

INLINE_CHARACTERS = 400
"""Strings up to this length stay in the JSON."""

_REFERENCE = "$text"


def pack(value: Any) -> tuple[str, dict[str, str]]:
    """The JSON of plain data, and the long texts taken out of it, by hash."""
    texts: dict[str, str] = {}
    return _json(_packed(value, texts)), texts


def unpack(body: str, text: Callable[[str], str]) -> Any:
    """The plain data again. `text` finds a text by its hash. Raises RunError for broken JSON."""
    try:
        return _unpacked(json.loads(body), text)
    except (ValueError, RecursionError) as error:
        raise RunError(
            f"the journal holds broken JSON: {error}", hint="the run cannot be read"
        ) from error


def keep(connection: sqlite3.Connection, run_id: str, texts: dict[str, str]) -> None:
    """Store texts that are not there yet, and that this run uses them."""
    for digest, body in texts.items():
        connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, body))
        connection.execute("INSERT OR IGNORE INTO text_uses VALUES (?, ?)", (run_id, digest))


def drop_unused(connection: sqlite3.Connection) -> None:
    """Remove the texts that no run uses any more."""
    connection.execute("DELETE FROM texts WHERE hash NOT IN (SELECT hash FROM text_uses)")


def find(connection: sqlite3.Connection, digest: str) -> str:
    """A stored text. Raises RunError if it is absent or is not what was stored."""
    row = connection.execute("SELECT body FROM texts WHERE hash = ?", (digest,)).fetchone()
    if row is None or _digest(row[0]) != digest:
        raise RunError(f"the journal lost the text {digest}", hint="the run cannot be read")
    return row[0]


def _packed(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, str):
        return _reference(value, texts) if len(value) > INLINE_CHARACTERS else value
    if isinstance(value, dict):
        return {
            f"${key}" if key.startswith("$") else key: _packed(each, texts)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_packed(each, texts) for each in value]
    return value


def _reference(text: str, texts: dict[str, str]) -> str | dict[str, str]:
    if not _encodable(text) or "\0" in text:
        return text  # not valid as a text of SQLite; JSON can escape it
    digest = _digest(text)
    texts[digest] = text
    return {_REFERENCE: digest}


def _unpacked(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_REFERENCE}:
            return text(value[_REFERENCE])
        return {
            key[1:] if key.startswith("$") else key: _unpacked(each, text)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_unpacked(each, text) for each in value]
    return value


def _json(value: Any) -> str:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if _encodable(body):
        return body
    return json.dumps(value, separators=(",", ":"), allow_nan=False)  # lone surrogates, escaped


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
