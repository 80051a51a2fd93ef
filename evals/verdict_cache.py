"""The cache of a support judge: a claim with the same evidence is not put before the same judge twice."""

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from runtime.errors import RunError
from signatures import SupportVerdict

_VERDICTS = """
CREATE TABLE IF NOT EXISTS verdicts (
    claim TEXT NOT NULL, evidence TEXT NOT NULL, judge TEXT NOT NULL,
    verdict TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (claim, evidence, judge)
)
"""
_LIKELIHOODS = """
CREATE TABLE IF NOT EXISTS likelihoods (
    claim TEXT NOT NULL, evidence TEXT NOT NULL, judge TEXT NOT NULL,
    likelihood REAL NOT NULL,
    PRIMARY KEY (claim, evidence, judge)
)
"""
"""Made when the first one is kept: a file without it may be one that can only be read."""


class VerdictKey(NamedTuple):
    """What a verdict depends on: hashes of the claim and of its quotes in order, and the version of the judge."""

    claim: str
    evidence: str
    judge: str

    @classmethod
    def of(cls, claim: str, quotes: Sequence[str], judge: str) -> "VerdictKey":
        """The key of a claim with its quotes."""
        return cls(_hash(claim), _hash(json.dumps(list(quotes))), judge)


class VerdictCache:
    """Verdicts in a SQLite file, or in memory for None. It may be used from any thread. What was kept first stays."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the cache. Raises RunError where the file cannot be one."""
        self._lock = threading.Lock()
        try:
            self._connection = _opened(path)
        except (OSError, sqlite3.Error) as error:
            raise RunError(
                f"the verdicts cannot be kept in {path} ({error})", hint="name another file"
            ) from error
        weakref.finalize(self, self._connection.close)  # one in memory is nobody's to close

    def find(self, key: VerdictKey) -> tuple[SupportVerdict, str] | None:
        """The verdict with its reason, if there is one."""
        where = (
            "SELECT verdict, reason FROM verdicts WHERE claim = ? AND evidence = ? AND judge = ?"
        )
        with self._lock:
            return self._connection.execute(where, key).fetchone()

    def keep(self, key: VerdictKey, verdict: SupportVerdict, reason: str) -> None:
        """Keep a verdict."""
        with self._lock, self._connection:
            self._connection.execute(
                "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", (*key, verdict, reason)
            )

    def find_likelihood(self, key: VerdictKey) -> float | None:
        """How likely support is to a judge that tells so, if it was asked."""
        where = "SELECT likelihood FROM likelihoods WHERE claim = ? AND evidence = ? AND judge = ?"
        made = "SELECT 1 FROM sqlite_master WHERE name = 'likelihoods'"
        with self._lock:
            if not self._connection.execute(made).fetchone():
                return None
            found = self._connection.execute(where, key).fetchone()
        return found and found[0]

    def keep_likelihood(self, key: VerdictKey, likelihood: float) -> None:
        """Keep a likelihood."""
        with self._lock, self._connection:
            self._connection.execute(_LIKELIHOODS)
            self._connection.execute(
                "INSERT OR IGNORE INTO likelihoods VALUES (?, ?, ?, ?)", (*key, likelihood)
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    where = ":memory:" if path is None else path
    connection = sqlite3.connect(where, timeout=30, check_same_thread=False)
    try:
        with connection:
            connection.execute(_VERDICTS)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
