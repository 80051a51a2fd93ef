"""Lease: the right of one process to write one run, for a while.

The owner is `host:pid:nonce`. A lease ends when it is released, when it expires, or when its process is dead on this
host. Each one has a fencing number, larger than all before it: whoever lost the lease without noticing
(a suspended machine, a long pause) cannot commit any more.
"""

import os
import secrets
import socket
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from runtime.database import Database
from runtime.errors import RunError

LEASE_SECONDS = 30.0
"""How long a lease lasts without renewal. Every commit renews it; so does `renew`."""


class Lease:
    """A held lease; a context manager that releases it. Made by `Journal.lease`."""

    def __init__(self, database: Database, run_id: str, owner: str, fence: int, ttl: float) -> None:
        self.run_id = run_id
        self.owner = owner
        self.fence = fence
        self.ttl = ttl
        self._database = database

    def renew(self) -> None:
        """Extend the lease by `ttl` seconds from now. Raises RunError if another process took the run over."""
        with self._database.write(announced=False) as connection:
            self.extend(connection)

    def extend(self, connection: sqlite3.Connection) -> None:
        """The same within a transaction: every write of a run begins with it."""
        now = self._database.clock()
        changed = connection.execute(
            "UPDATE runs SET expires = ?, updated = ? WHERE run_id = ? AND fence = ? AND owner = ?",
            (now + self.ttl, now, self.run_id, self.fence, self.owner),
        )
        if changed.rowcount != 1:
            raise RunError(
                f"run {self.run_id} is no longer held by this process; nothing was written",
                hint=f"another process took it over, or it was deleted: spantree show {self.run_id}",
            )

    def release(self) -> None:
        """Give the run free. Does nothing if it is held by another by now."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE runs SET owner = NULL, expires = 0 WHERE run_id = ? AND fence = ? AND owner = ?",
                (self.run_id, self.fence, self.owner),
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def acquire(database: Database, run_id: str, *, owner: str | None, ttl: float) -> Lease:
    """Take the lease of a run. Raises RunError if another live owner holds it."""
    if ttl <= 0:
        raise ValueError("a lease lasts longer than 0 seconds")
    owner = owner or new_owner()
    with database.write() as connection:
        row = connection.execute(
            "SELECT owner, expires, fence FROM runs WHERE run_id = ?", (run_id,)
        ).fetchone()
        if row is None:
            raise RunError(f"there is no run {run_id}", hint="list them: spantree runs")
        now = database.clock()
        if holder := live_holder(row["owner"], row["expires"], now):
            until = datetime.fromtimestamp(row["expires"], UTC).isoformat(timespec="seconds")
            raise RunError(
                f"run {run_id} is held by another process ({holder})",
                hint=f"wait for it or stop it; unless it is renewed, the lease ends at {until}",
            )
        fence = row["fence"] + 1
        connection.execute(
            "UPDATE runs SET owner = ?, expires = ?, fence = ?, updated = ?, "
            "status = CASE status WHEN 'finished' THEN status ELSE 'running' END WHERE run_id = ?",
            (owner, now + ttl, fence, now, run_id),
        )
    return Lease(database, run_id, owner, fence, ttl)


def new_owner() -> str:
    """A name for this holder: host, process, nonce."""
    return f"{_host()}:{os.getpid()}:{secrets.token_hex(4)}"


def live_holder(owner: str | None, expires: float, now: float) -> str | None:
    """The owner if its lease is in force, else None."""
    if owner is None or expires <= now or _is_dead(owner):
        return None
    return owner


def _host() -> str:
    """Where process ids are comparable: the host and, on Linux, the process namespace (containers share names)."""
    with suppress(OSError):
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').readlink().name.strip('pid:[]')}"
    return socket.gethostname()


def _is_dead(owner: str) -> bool:
    """Whether the owner is a process of this host that is no more. A zombie is no more, too."""
    host, _, process = owner.rpartition(":")[0].rpartition(":")
    if os.name != "posix" or host != _host() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    return False
