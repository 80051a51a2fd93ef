"""The file of a journal: plain JSON for its owner only; what cannot be read exactly is refused and not touched."""

import json
import sqlite3
from pathlib import Path

import pytest

from runtime.calls import CallRecord
from runtime.errors import RunError
from runtime.events import Planned, Warned
from runtime.journal import Journal, RunRecord
from signatures import PlannedStep

RECORD = RunRecord(
    run_id="run-1",
    created="2026-03-02T08:00:00+00:00",
    program="recursive",
    program_version=1,
    question="why?",
    corpus_version="0123456789abcdef",
    corpus_paths=("logs",),
    store="store",
    config={},
)
CALL = CallRecord(key="k#1", signature="Plan", attempt=1, model="m", input_hash="0", started=1.5)


def started(path: Path) -> Journal:
    journal = Journal.open(path)
    journal.admit(RECORD)
    return journal


def tampered(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def with_events(path: Path) -> None:
    with started(path) as journal, journal.lease("run-1") as lease:
        events = [
            Warned(frame_id="f", code="c", message="one"),
            Warned(frame_id="f", code="c", message="long " * 200),
        ]
        journal.commit(lease, events)
        journal.call_log(lease).intent(CALL)


def test_a_newer_journal_is_refused_and_not_touched(path: Path) -> None:
    with_events(path)
    tampered(path, "PRAGMA user_version = 2")
    before = path.read_bytes()
    with pytest.raises(RunError, match="newer than this program") as refused:
        Journal.open(path)
    assert "update" in refused.value.hint
    assert path.read_bytes() == before


def test_another_programs_database_is_refused_and_not_touched(path: Path) -> None:
    path.parent.mkdir()
    tampered(path, "CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(RunError, match="another program"):
        Journal.open(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_not_touched(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("notes of mine\n" * 100)
    with pytest.raises(RunError, match="not a database"):
        Journal.open(path)
    assert path.read_text() == "notes of mine\n" * 100


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="cannot be created"):
        Journal.open(tmp_path / "file" / "journal.db")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            """UPDATE events SET body = '{"kind":"dreamt"}' WHERE number = 2""",
            "event 2 of run run-1",
        ),
        ("""UPDATE events SET body = '{"kind":' WHERE number = 1""", "broken JSON"),
        ("""UPDATE events SET body = replace(body, 'code', 'kode') WHERE number = 1""", "event 1"),
        ("UPDATE events SET version = version + 1", "newer version"),
        ("DELETE FROM events WHERE number = 1", "event 1 of run run-1 is missing"),
        ("UPDATE texts SET body = 'forged'", "lost the text"),
    ],
)
def test_events_that_cannot_be_read_exactly_are_refused(
    path: Path, statement: str, message: str
) -> None:
    """Field report 45: fail closed, never a guess."""
    with_events(path)
    tampered(path, statement)
    with Journal.open(path) as journal, pytest.raises(RunError, match=message):
        journal.events("run-1")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE calls SET version = 99", "newer version"),
        ("""UPDATE calls SET body = '{"key":"k"}'""", "cannot be read"),
        ("UPDATE calls SET body = 'x'", "broken JSON"),
    ],
)
def test_calls_that_cannot_be_read_are_refused(path: Path, statement: str, message: str) -> None:
    with_events(path)
    tampered(path, statement)
    with Journal.open(path) as journal, pytest.raises(RunError, match=message):
        journal.usage("run-1")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("""UPDATE runs SET record = '{"run_id":"run-1"}'""", "run-1 cannot be read"),
        ("UPDATE runs SET status = 'daydreaming'", "unknown status"),
    ],
)
def test_a_record_that_cannot_be_read_is_refused(path: Path, statement: str, message: str) -> None:
    with_events(path)
    tampered(path, statement)
    with Journal.open(path) as journal, pytest.raises(RunError, match=message):
        journal.run("run-1")


def test_the_file_is_for_its_owner_only(path: Path) -> None:
    with_events(path)
    assert path.stat().st_mode & 0o077 == 0


def test_the_json_in_the_file_is_plain(path: Path) -> None:
    """Field reports 45, 51: no pickle; another program can read it."""
    step = PlannedStep(
        id="s1",
        description="Find",
        action="scan",
        patterns=["x"],
        query="",
        targets=[],
        operation="",
        depends_on=[],
    )
    with started(path) as journal, journal.lease("run-1") as lease:
        journal.commit(lease, [Planned(frame_id="f", think="t", steps=(step,), degraded=True)])
    connection = sqlite3.connect(path)
    [(body,)] = connection.execute("SELECT body FROM events").fetchall()
    connection.close()
    assert json.loads(body)["steps"][0]["patterns"] == ["x"]
