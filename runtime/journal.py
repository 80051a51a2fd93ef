"""The journal: the append-only record of runs, from which everything else about them is derived.

A run is admitted before its first call. A step commits its events, status and time in one transaction; a call is
recorded before it starts and again when it ends. Only the holder of the run's lease writes. What cannot be read
back exactly (a newer version, an unknown event, broken JSON) is refused, never guessed.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection, IntegrityError, Row
from types import TracebackType
from typing import Any, Literal, Self, get_args

from pydantic import ValidationError

from runtime import stored_text
from runtime.calls import CallRecord
from runtime.claims import Record
from runtime.database import Database
from runtime.errors import RunError
from runtime.events import EVENT_VERSION, EVENTS, Event, Finished
from runtime.journal_calls import JournalCallLog, read_calls, total_usage
from runtime.lease import LEASE_SECONDS, Lease, acquire, live_holder
from runtime.ledger import Usage

RunStatus = Literal["admitted", "running", "interrupted", "finished"]
"""`admitted`: recorded, never begun. `interrupted`: stopped or killed; it can be resumed."""


class RunRecord(Record):
    """What a run was started with. `created` is ISO 8601 in UTC; `config` is plain JSON (model, limits, ...)."""

    run_id: str
    created: str
    program: str
    program_version: int
    question: str
    corpus_version: str
    corpus_paths: tuple[str, ...]
    store: str
    config: dict[str, Any]


class RunSummary(Record):
    """A run in a list. `outcome` is None until it is finished; `held_by` is the live holder of its lease."""

    record: RunRecord
    status: RunStatus
    outcome: str | None
    calls: int
    updated: str
    held_by: str | None


class Journal:
    """The runs of one file. Threads may share it; processes open the same file.

    `Journal.open(None)` is in memory: for library use and demonstrations. It does not survive its process, and nothing
    in it can be resumed afterwards (`durable` is False).
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, path: Path | None, *, clock: Callable[[], float] = time.time) -> Self:
        """Open the journal at `path`, created with its folders if absent; None: in memory.

        Raises RunError if it is of a newer version, not a journal, or cannot be used. `clock` gives seconds since 1970.
        """
        return cls(Database(path, clock=clock))

    @property
    def path(self) -> Path | None:
        """The file, or None in memory."""
        return self._database.path

    @property
    def durable(self) -> bool:
        """Whether it survives this process."""
        return self._database.path is not None

    @property
    def on_commit(self) -> Callable[[int], None] | None:
        """Called after each commit with its number, from 1. Renewals of a lease depend on time and are not counted."""
        return self._database.on_commit

    @on_commit.setter
    def on_commit(self, listener: Callable[[int], None] | None) -> None:
        self._database.on_commit = listener

    def admit(self, record: RunRecord) -> None:
        """Record a run before its first call. Raises RunError if the id is taken."""
        body, texts = stored_text.pack(record.model_dump(mode="json"))
        with self._database.write() as connection:
            try:
                connection.execute(
                    "INSERT INTO runs (run_id, record, status, updated) VALUES (?, ?, 'admitted', ?)",
                    (record.run_id, body, self._database.clock()),
                )
            except IntegrityError as error:
                raise RunError(
                    f"there is a run {record.run_id} already",
                    hint=f"spantree resume {record.run_id}",
                ) from error
            stored_text.keep(connection, record.run_id, texts)

    def lease(self, run_id: str, *, owner: str | None = None, ttl: float = LEASE_SECONDS) -> Lease:
        """Take the right to write a run, for `ttl` seconds after each commit or renewal; a context manager.

        Raises RunError if another owner holds it, unless that one has expired or its process is dead on this host.
        """
        return acquire(self._database, run_id, owner=owner, ttl=ttl)

    def commit(
        self,
        lease: Lease,
        events: Sequence[Event],
        *,
        status: RunStatus | None = None,
        elapsed: float = 0.0,
    ) -> None:
        """Append events and set the status in one transaction; renews the lease.

        `elapsed` is the wall time of the run so far in seconds, earlier executions included; it never goes back.
        `finished` goes with a Finished event and with nothing else. Raises RunError if the lease was lost or
        the run is finished.
        """
        last = next((event for event in events if isinstance(event, Finished)), None)
        if (last is not None and (status or "finished") != "finished") or (
            last is None and status == "finished"
        ):
            raise ValueError("a run is finished when a Finished event says so, and only then")
        packed = [_packed(event) for event in events]
        with self._database.write() as connection:
            lease.extend(connection)
            _refuse_finished(connection, lease.run_id)
            self._append(connection, lease.run_id, packed)
            connection.execute(
                "UPDATE runs SET status = ?, outcome = ?, elapsed = max(elapsed, ?) WHERE run_id = ?",
                (
                    "finished" if last else status or "running",
                    last.outcome if last else None,
                    elapsed,
                    lease.run_id,
                ),
            )

    def events(self, run_id: str) -> list[Event]:
        """All events of a run, in order. Raises RunError if one of them cannot be read exactly."""
        with self._database.read() as connection:
            self._row(connection, run_id)
            rows = connection.execute(
                "SELECT number, version, body FROM events WHERE run_id = ? ORDER BY number",
                (run_id,),
            ).fetchall()
            return [
                _event(connection, run_id, number, row) for number, row in enumerate(rows, start=1)
            ]

    def elapsed(self, run_id: str) -> float:
        """Seconds of wall time that the run has spent so far, over all its executions."""
        with self._database.read() as connection:
            return self._row(connection, run_id)["elapsed"]

    def run(self, run_id_or_prefix: str) -> RunSummary:
        """A run by its id, by a prefix of it that no other run shares, or the newest one by `last`."""
        with self._database.read() as connection:
            return self._summary(connection, self._find(connection, run_id_or_prefix))

    def runs(self, limit: int = 50) -> list[RunSummary]:
        """The newest runs, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT * FROM runs ORDER BY number DESC LIMIT ?", (limit,)
            ).fetchall()
            return [self._summary(connection, row) for row in rows]

    def calls(self, run_id: str) -> list[CallRecord]:
        """All calls of a run in the order in which they started, those without an end included."""
        with self._database.read() as connection:
            self._row(connection, run_id)
            return read_calls(connection, run_id)

    def call_log(self, lease: Lease) -> JournalCallLog:
        """The log that the calls of a run are written to."""
        return JournalCallLog(self._database, lease)

    def usage(self, run_id: str) -> Usage:
        """What the calls of a run used. One that never ended (its process died) counts, at an unknown cost."""
        return total_usage(self.calls(run_id))

    def delete(self, run_id: str) -> None:
        """Remove a run with its events, its calls and the texts that no other run uses.

        Raises RunError if there is no such run or a live process holds it.
        """
        with self._database.write() as connection:
            row = self._row(connection, run_id)
            if holder := live_holder(row["owner"], row["expires"], self._database.clock()):
                raise RunError(f"run {run_id} is held by {holder}", hint="stop it first")
            connection.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
            stored_text.drop_unused(connection)
        self._database.shrink_log()

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _append(
        self, connection: Connection, run_id: str, packed: Sequence[tuple[str, dict[str, str]]]
    ) -> None:
        first = connection.execute(
            "SELECT coalesce(max(number), 0) + 1 FROM events WHERE run_id = ?", (run_id,)
        ).fetchone()[0]
        now = self._database.clock()
        for number, (body, texts) in enumerate(packed, start=first):
            connection.execute(
                "INSERT INTO events (run_id, number, version, at, body) VALUES (?, ?, ?, ?, ?)",
                (run_id, number, EVENT_VERSION, now, body),
            )
            stored_text.keep(connection, run_id, texts)

    def _row(self, connection: Connection, run_id: str) -> Row:
        row = connection.execute("SELECT * FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if row is None:
            raise RunError(f"there is no run {run_id}", hint="list them: spantree runs")
        return row

    def _find(self, connection: Connection, name: str) -> Row:
        if name == "last":
            rows = connection.execute("SELECT * FROM runs ORDER BY number DESC LIMIT 1").fetchall()
        else:
            rows = connection.execute(
                "SELECT * FROM runs WHERE substr(run_id, 1, ?) = ? ORDER BY number DESC",
                (len(name), name),
            ).fetchall()
            rows = [row for row in rows if row["run_id"] == name] or rows
        if not rows or not name:
            raise RunError(f"there is no run {name}".rstrip(), hint="list them: spantree runs")
        if len(rows) > 1:
            some = ", ".join(row["run_id"] for row in rows[:5])
            raise RunError(
                f"{len(rows)} runs begin with {name}: {some}", hint="type more of the id"
            )
        return rows[0]

    def _summary(self, connection: Connection, row: Row) -> RunSummary:
        run_id = row["run_id"]
        holder = live_holder(row["owner"], row["expires"], self._database.clock())
        calls = connection.execute(
            "SELECT count(*) FROM calls WHERE run_id = ?", (run_id,)
        ).fetchone()
        body = stored_text.unpack(
            row["record"], lambda digest: stored_text.find(connection, digest)
        )
        try:
            return RunSummary(
                record=RunRecord.model_validate(body),
                status=_status(row["status"], holder),
                outcome=row["outcome"],
                calls=calls[0],
                updated=datetime.fromtimestamp(row["updated"], UTC).isoformat(timespec="seconds"),
                held_by=holder,
            )
        except ValidationError as error:
            raise RunError(
                f"the journal's record of run {run_id} cannot be read: {_reason(error)}",
                hint="it may be of another version of spantree",
            ) from error


def _status(stored: str, holder: str | None) -> RunStatus:
    """The status as it is now: a run that nobody holds does not run, whatever its process meant to do."""
    if stored == "running" and holder is None:
        return "interrupted"
    if stored not in get_args(RunStatus):
        raise RunError(
            f"the journal holds an unknown status: {stored}", hint="update spantree to read it"
        )
    return stored  # pyright: ignore[reportReturnType]


def _packed(event: Event) -> tuple[str, dict[str, str]]:
    """The JSON of an event. One that would come back different (a tuple in free JSON) is a bug: ValueError."""
    plain = EVENTS.dump_python(event, mode="json")
    if EVENTS.validate_python(plain) != event:
        raise ValueError(f"this event is not plain JSON: {event!r:.300}")
    return stored_text.pack(plain)


def _event(connection: Connection, run_id: str, number: int, row: Row) -> Event:
    if row["number"] != number:
        raise RunError(
            f"event {number} of run {run_id} is missing", hint="the run cannot be resumed"
        )
    if row["version"] > EVENT_VERSION:
        raise RunError(
            f"run {run_id} was written by a newer version of spantree", hint="update spantree"
        )
    body = stored_text.unpack(row["body"], lambda digest: stored_text.find(connection, digest))
    try:
        return EVENTS.validate_python(body)
    except ValidationError as error:
        raise RunError(
            f"event {number} of run {run_id} cannot be read: {_reason(error)}",
            hint="it may be of another version of spantree; the run cannot be resumed with this one",
        ) from error


def _refuse_finished(connection: Connection, run_id: str) -> None:
    row = connection.execute("SELECT status FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if row["status"] == "finished":
        raise RunError(f"run {run_id} is finished", hint=f"spantree show {run_id}")


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
