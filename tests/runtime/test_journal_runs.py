"""The runs of a journal: admitted once, found by id, prefix or as the last, and deleted without a trace."""

from pathlib import Path

import pytest

from runtime.errors import RunError
from runtime.journal import Journal
from tests.runtime.journal_desk import LONG, call, record, started, warned


def test_runs_are_found_by_id_prefix_or_last() -> None:
    with Journal.open(None) as journal:
        for name in ("ab1", "ab2", "ab", "c%"):
            journal.admit(record(name))
        assert [run.record.run_id for run in journal.runs()] == ["c%", "ab", "ab2", "ab1"]
        assert [run.record.run_id for run in journal.runs(limit=1)] == ["c%"]
        assert journal.run("last").record.run_id == "c%"
        assert journal.run("ab").record.run_id == "ab"  # exact wins over the prefix of others
        assert journal.run("c").record.run_id == "c%"
        with pytest.raises(RunError, match="no run %") as unknown:
            journal.run("%")
        assert "spantree runs" in unknown.value.hint


@pytest.mark.parametrize("name", ["", "zz", "last", "a'; DROP TABLE runs"])
def test_an_unknown_run_is_one_clear_error(name: str) -> None:
    with Journal.open(None) as journal, pytest.raises(RunError, match="there is no run"):
        journal.run(name)


def test_an_ambiguous_prefix_lists_the_candidates() -> None:
    with Journal.open(None) as journal:
        journal.admit(record("ab1"))
        journal.admit(record("ab2"))
        with pytest.raises(RunError, match="2 runs begin with ab: ab2, ab1"):
            journal.run("ab")


def test_a_run_is_admitted_once() -> None:
    with started(None) as journal, pytest.raises(RunError, match="is a run run-1 already"):
        journal.admit(record(question="another"))


def test_every_reading_of_an_unknown_run_is_refused() -> None:
    with Journal.open(None) as journal:
        for read in (journal.events, journal.elapsed, journal.calls, journal.usage, journal.delete):
            with pytest.raises(RunError, match="there is no run nope"):
                read("nope")


def test_deleting_a_run_removes_its_texts_from_the_file_and_keeps_those_of_others(
    path: Path,
) -> None:
    """Checklist 69: retention. What was deleted cannot be found in the bytes any more."""
    secret = "the secret of run one " * 40
    with started(path) as journal:
        journal.admit(record("run-2"))
        for name, texts in (("run-1", (secret, LONG)), ("run-2", (LONG,))):
            with journal.lease(name) as lease:
                journal.commit(lease, [warned(text) for text in texts])
                journal.call_log(lease).intent(call())
        journal.delete("run-1")
        assert [run.record.run_id for run in journal.runs()] == ["run-2"]
        assert journal.events("run-2") == [warned(LONG)]
        assert len(journal.calls("run-2")) == 1
        files = [each for each in path.parent.iterdir() if each.is_file()]
        assert not any(b"secret of run one" in each.read_bytes() for each in files)


def test_a_run_that_is_held_is_not_deleted() -> None:
    with started(None) as journal:
        with journal.lease("run-1"), pytest.raises(RunError, match="is held by"):
            journal.delete("run-1")
        journal.delete("run-1")
        assert journal.runs() == []
