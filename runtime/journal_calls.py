"""The calls of a run in the journal: an intent before each one, its end after it.

A resumed run, or a step that is tried again, numbers its attempts from 1 once more: each attempt has a row of its own,
so that none overwrites an earlier one and the usage of a run is the sum over all of them. The fencing
number of the lease tells the executions apart.
"""

from collections.abc import Iterable
from sqlite3 import Connection, Row
from typing import Any

from pydantic import ValidationError

from runtime import stored_text
from runtime.calls import CallRecord
from runtime.database import Database
from runtime.errors import RunError
from runtime.lease import Lease
from runtime.ledger import Usage

CALL_VERSION = 1
"""Version of the call record. A journal with a newer one is refused."""


class JournalCallLog:
    """The call log of one execution of a run. Made by `Journal.call_log`."""

    def __init__(self, database: Database, lease: Lease) -> None:
        self._database = database
        self._lease = lease

    def completed(self, key: str) -> CallRecord | None:
        """The call of this key (without an attempt) that succeeded, in this execution or an earlier one."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT * FROM calls WHERE run_id = ? AND key = ? AND status = 'done' "
                "ORDER BY number DESC LIMIT 1",
                (self._lease.run_id, key),
            ).fetchone()
            return None if row is None else _record(connection, row)

    def intent(self, record: CallRecord) -> None:
        """Record that an attempt is about to start. Raises RunError if the lease was lost: then it must not start."""
        body, texts = _packed(record)
        with self._database.write() as connection:
            self._lease.extend(connection)
            number = connection.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM calls WHERE run_id = ?",
                (self._lease.run_id,),
            ).fetchone()[0]
            connection.execute(
                "INSERT INTO calls (run_id, key, attempt, fence, number, version, at, status, body) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *self._place(record),
                    number,
                    CALL_VERSION,
                    self._database.clock(),
                    record.status,
                    body,
                ),
            )
            stored_text.keep(connection, self._lease.run_id, texts)

    def settled(self, record: CallRecord) -> None:
        """Record how the attempt of this key that was started last ended. Raises RunError if the lease was lost."""
        body, texts = _packed(record)
        with self._database.write() as connection:
            self._lease.extend(connection)
            number = connection.execute(
                "SELECT max(number) FROM calls WHERE run_id = ? AND key = ? AND attempt = ? "
                "AND fence = ? AND status = 'intent'",
                self._place(record),
            ).fetchone()[0]
            if number is None:
                raise ValueError(f"the call {record.key} was not started, or has ended already")
            connection.execute(
                "UPDATE calls SET status = ?, body = ? WHERE run_id = ? AND number = ?",
                (record.status, body, self._lease.run_id, number),
            )
            stored_text.keep(connection, self._lease.run_id, texts)

    def _place(self, record: CallRecord) -> tuple[str, str, int, int]:
        key = record.key.removesuffix(f"#{record.attempt}")
        return self._lease.run_id, key, record.attempt, self._lease.fence


def read_calls(connection: Connection, run_id: str) -> list[CallRecord]:
    """All calls of a run in the order in which they started."""
    rows = connection.execute("SELECT * FROM calls WHERE run_id = ? ORDER BY number", (run_id,))
    return [_record(connection, row) for row in rows.fetchall()]


def total_usage(calls: Iterable[CallRecord]) -> Usage:
    """The sum over calls. One that never ended may have reached the model: it counts, at an unknown cost."""
    return sum((_usage(call) for call in calls), Usage())


def _usage(call: CallRecord) -> Usage:
    if call.status != "intent":
        return call.usage
    return Usage(calls=1, failed_calls=1, retries=int(call.attempt > 1), unknown_cost_calls=1)


def _packed(record: CallRecord) -> tuple[str, dict[str, str]]:
    plain: dict[str, Any] = record.model_dump(mode="json")
    return stored_text.pack(plain)


def _record(connection: Connection, row: Row) -> CallRecord:
    if row["version"] > CALL_VERSION:
        raise RunError(
            f"run {row['run_id']} was written by a newer version of spantree",
            hint="update spantree",
        )
    body = stored_text.unpack(row["body"], lambda digest: stored_text.find(connection, digest))
    try:
        return CallRecord.model_validate(body)
    except ValidationError as error:
        raise RunError(
            f"the call {row['key']} of run {row['run_id']} cannot be read",
            hint="it may be of another version of spantree",
        ) from error
