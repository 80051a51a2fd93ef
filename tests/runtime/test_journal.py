"""The journal on real files: what is committed stays, what is not never shows, what cannot be read is refused."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.errors import RunError
from runtime.events import Event, Finished, StepCommitted, Warned
from runtime.frames import fold
from runtime.journal import Journal
from runtime.observations import ComputedResult, Observation
from runtime.stored_text import INLINE_CHARACTERS, pack, unpack
from tests.runtime.journal_desk import LONG, call, done, finished, record, started, warned

# A run in the journal


@pytest.mark.parametrize("durable", [True, False])
def test_a_run_is_there_before_its_first_call(path: Path, durable: bool) -> None:
    with started(path if durable else None) as journal:
        run = journal.run("run-1")
        assert (
            journal.durable is durable
        )  # checklist 68: in memory nothing survives, and it says so
    assert (run.record, run.status, run.outcome, run.calls) == (record(), "admitted", None, 0)
    assert path.exists() is durable


def test_events_come_back_as_they_were_after_reopening(path: Path) -> None:
    """Checklist 59, 67: the state can be inspected in another process, before anything is resumed."""
    events: list[Event] = [warned("短い"), warned(LONG), finished()]
    with started(path) as journal, journal.lease("run-1") as lease:
        journal.commit(lease, events[:2], elapsed=1.5)
        journal.commit(lease, events[2:], elapsed=2.0)
    with Journal.open(path) as journal:
        assert journal.events("run-1") == events
        assert journal.elapsed("run-1") == 2.0
        assert journal.run("run-1").status == "finished"
        assert journal.run("run-1").outcome == "answered"


def test_elapsed_never_goes_back() -> None:
    with started(None) as journal, journal.lease("run-1") as lease:
        journal.commit(lease, [], elapsed=3.0)
        journal.commit(lease, [warned("no time given")])
        assert journal.elapsed("run-1") == 3.0


def test_an_unfinished_run_never_looks_finished(path: Path) -> None:
    """Field reports 1 to 4: nobody holds it, so it does not run; it has no outcome."""
    with started(path) as journal:
        with journal.lease("run-1") as lease:
            journal.commit(lease, [warned("on the way")])
            assert journal.run("last").status == "running"
            with pytest.raises(ValueError, match="finished"):
                journal.commit(lease, [], status="finished")
            with pytest.raises(ValueError, match="finished"):
                journal.commit(lease, [finished()], status="interrupted")
        assert journal.run("last").status == "interrupted"
        assert journal.run("last").outcome is None
        assert journal.events("run-1") == [warned("on the way")]


def test_nothing_follows_a_finished_run() -> None:
    with started(None) as journal, journal.lease("run-1") as lease:
        journal.commit(lease, [finished()])
        with pytest.raises(RunError, match="is finished"):
            journal.commit(lease, [warned("late")])
        assert len(journal.events("run-1")) == 1


def test_an_interrupted_run_runs_again_under_a_lease() -> None:
    with started(None) as journal:
        with journal.lease("run-1") as lease:
            journal.commit(lease, [], status="interrupted")
            assert journal.run("run-1").status == "interrupted"
        with journal.lease("run-1"):
            assert journal.run("run-1").status == "running"


def test_an_event_that_would_not_come_back_the_same_is_a_bug_and_nothing_is_written() -> None:
    """Field report 45: no value loses its type on the way."""
    result = ComputedResult(operation="count", value=(1, 2), computed=(), claims=())
    seen = Observation(
        success=True, error_class="", error="", summary="2", payload=result, result_hash=""
    )
    step = StepCommitted(
        frame_id="f", step_id="s", status="completed", observation=seen, seconds=0.0
    )
    with started(None) as journal, journal.lease("run-1") as lease:
        with pytest.raises(ValueError, match="not plain JSON"):
            journal.commit(lease, [warned("first"), step])
        assert journal.events("run-1") == []


@given(
    st.lists(
        st.builds(Warned, frame_id=st.just("f"), code=st.text(max_size=5), message=st.text())
        | st.builds(
            Finished,
            outcome=st.just("partial"),
            answer=st.dictionaries(
                st.text() | st.sampled_from(["$text", "$$text"]),
                st.none() | st.booleans() | st.integers() | st.text(min_size=390, max_size=410),
                max_size=3,
            ),
        ),
        max_size=5,
    )
)
@settings(max_examples=60, deadline=None)
def test_any_events_come_back_equal(events: list[Event]) -> None:
    with started(None) as journal, journal.lease("run-1") as lease:
        last = [event for event in events if isinstance(event, Finished)][-1:]
        kept = [event for event in events if not isinstance(event, Finished)] + last
        for event in kept:
            journal.commit(lease, [event])
        assert journal.events("run-1") == kept
        assert fold(journal.events("run-1")) == fold(kept)


@given(
    st.recursive(
        st.none() | st.text(max_size=900),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(st.text(max_size=6) | st.just("$text"), each, max_size=3)
        ),
    )
)
@settings(max_examples=100, deadline=None)
def test_long_texts_are_taken_out_and_put_back(value: object) -> None:
    body, texts = pack(value)
    assert unpack(body, texts.__getitem__) == value
    assert all(len(text) > INLINE_CHARACTERS for text in texts.values())


def test_a_lone_surrogate_of_a_model_survives(path: Path) -> None:
    odd = warned("cut emoji \ud83d " * 60)
    with started(path) as journal, journal.lease("run-1") as lease:
        journal.commit(lease, [odd])
        assert journal.events("run-1") == [odd]


def test_a_long_text_is_stored_once(path: Path) -> None:
    """Field report 47: the file does not grow with every repetition."""
    with started(path) as journal, journal.lease("run-1") as lease:
        log = journal.call_log(lease)
        for number in range(5):
            log.intent(call(f"k{number}"))
            log.settled(done(call(f"k{number}"), reply=LONG, outputs={"think": LONG}))
        journal.commit(lease, [warned(LONG)])
        assert [each.reply for each in journal.calls("run-1")] == [LONG] * 5
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("SELECT body FROM texts").fetchall() == [(LONG,)]


# Threads, and the seam


def test_threads_and_runs_share_one_journal(path: Path) -> None:
    """Field reports 48, 50: commits are synchronous, in order, and never "database is locked"."""
    with Journal.open(path) as journal:

        def work(run_id: str) -> None:
            with journal.lease(run_id) as lease:
                log = journal.call_log(lease)
                for number in range(20):
                    log.intent(call(f"k{number}"))
                    log.settled(done(call(f"k{number}")))
                    journal.commit(lease, [warned(f"{run_id} {number}")])

        names = [f"run-{number}" for number in range(4)]
        for name in names:
            journal.admit(record(name))
        threads = [threading.Thread(target=work, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in names:
            assert journal.events(name) == [warned(f"{name} {number}") for number in range(20)]
            assert journal.usage(name).calls == 20


def test_each_commit_is_announced_with_its_number() -> None:
    numbers: list[int] = []
    with Journal.open(None) as journal:
        journal.on_commit = numbers.append
        journal.admit(record())
        with journal.lease("run-1") as lease:
            journal.commit(lease, [warned("x")])
            lease.renew()  # depends on time: not counted
            journal.call_log(lease).intent(call())
        with pytest.raises(RunError):
            journal.admit(record())
    assert numbers == [1, 2, 3, 4, 5]


def test_a_failing_transaction_leaves_nothing_and_the_journal_usable() -> None:
    with started(None) as journal, journal.lease("run-1") as lease:
        with pytest.raises(ValueError, match="not plain JSON"):
            journal.commit(lease, [Finished(outcome="x", answer={"value": float("nan")})])
        journal.commit(lease, [warned("after")])
        assert journal.events("run-1") == [warned("after")]


def test_a_closed_journal_says_so() -> None:
    journal = started(None)
    journal.close()
    journal.close()
    with pytest.raises(RunError, match="closed"):
        journal.runs()
