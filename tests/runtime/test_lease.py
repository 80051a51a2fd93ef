"""Leases: one process writes one run; a dead or late one does not keep it, and cannot come back unnoticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.calls import CallRecord
from runtime.errors import RunError
from runtime.events import Warned
from runtime.journal import Journal, RunRecord
from runtime.lease import live_holder, new_owner

ROOT = Path(__file__).parents[2]
EVENT = Warned(frame_id="f", code="c", message="m")
RECORD = RunRecord(
    run_id="run",
    created="2026-03-02T08:00:00+00:00",
    program="p",
    program_version=1,
    question="q",
    corpus_version="v",
    corpus_paths=(),
    store="",
    config={},
)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    with Journal.open(path) as journal:
        journal.admit(RECORD)
    return path


def test_a_second_holder_is_refused_until_the_first_lets_go(path: Path) -> None:
    with Journal.open(path) as one, Journal.open(path) as two:
        with one.lease("run") as lease:
            with pytest.raises(RunError, match="held by another process") as refused:
                two.lease("run")
            assert lease.owner in refused.value.message
            assert "wait" in refused.value.hint
            assert two.run("run").held_by == lease.owner
        assert two.run("run").held_by is None
        with two.lease("run"):
            assert one.run("run").held_by is not None


def test_two_threads_of_one_process_do_not_share_a_run(path: Path) -> None:
    with Journal.open(path) as journal, journal.lease("run"), pytest.raises(RunError):
        journal.lease("run")


def test_different_runs_are_held_at_once(path: Path) -> None:
    with Journal.open(path) as journal:
        journal.admit(RECORD.model_copy(update={"run_id": "other"}))
        with journal.lease("run") as one, journal.lease("other") as other:
            journal.commit(one, [EVENT])
            journal.commit(other, [EVENT, EVENT])
        assert (len(journal.events("run")), len(journal.events("other"))) == (1, 2)


def test_an_unknown_run_cannot_be_held(path: Path) -> None:
    with Journal.open(path) as journal, pytest.raises(RunError, match="there is no run nope"):
        journal.lease("nope")


def test_each_lease_has_a_larger_fencing_number(path: Path) -> None:
    with Journal.open(path) as journal:
        numbers = []
        for _ in range(3):
            with journal.lease("run") as lease:
                numbers.append(lease.fence)
    assert numbers == [1, 2, 3]


def test_an_expired_lease_is_taken_over_and_the_late_holder_is_refused(
    path: Path, clock: Clock
) -> None:
    """Field report 50: a stale holder's commit changes nothing."""
    with Journal.open(path, clock=clock) as late, Journal.open(path, clock=clock) as quick:
        stale = late.lease("run", ttl=30)
        clock.now += 29
        with pytest.raises(RunError, match="held by"):
            quick.lease("run")
        clock.now += 2
        assert quick.run("run").held_by is None
        with quick.lease("run") as lease:
            quick.commit(lease, [EVENT])
            for attempt in (lambda: late.commit(stale, [EVENT]), stale.renew):
                with pytest.raises(RunError, match="no longer held by this process"):
                    attempt()
            stale.release()  # gives nothing free that is another's
            assert late.run("run").held_by == lease.owner
            quick.commit(lease, [EVENT])
        assert len(late.events("run")) == 2


def test_a_late_holder_whom_nobody_replaced_goes_on(path: Path, clock: Clock) -> None:
    with Journal.open(path, clock=clock) as journal, journal.lease("run", ttl=30) as lease:
        clock.now += 3600  # the machine slept
        journal.commit(lease, [EVENT])
        assert journal.run("run").held_by == lease.owner


@pytest.mark.parametrize("how", ["commit", "renew", "intent"])
def test_a_holder_that_shows_life_keeps_its_lease(path: Path, clock: Clock, how: str) -> None:
    with Journal.open(path, clock=clock) as journal, journal.lease("run", ttl=30) as lease:
        call = CallRecord(
            key="k#1", signature="S", attempt=1, model="m", input_hash="h", started=0.0
        )
        alive = {
            "commit": lambda: journal.commit(lease, []),
            "renew": lease.renew,
            "intent": lambda: journal.call_log(lease).intent(call),
        }
        for _ in range(5):
            clock.now += 20
            alive[how]()
            with pytest.raises(RunError, match="held by"):
                journal.lease("run")


def test_a_holder_that_lost_the_lease_starts_no_call(path: Path, clock: Clock) -> None:
    call = CallRecord(key="k#1", signature="S", attempt=1, model="m", input_hash="h", started=0.0)
    with Journal.open(path, clock=clock) as journal:
        stale = journal.lease("run", ttl=1)
        log = journal.call_log(stale)
        log.intent(call)
        clock.now += 2
        with journal.lease("run"):
            for late in (log.intent, log.settled):
                with pytest.raises(RunError, match="no longer held"):
                    late(call)
        assert len(journal.calls("run")) == 1


def test_a_lease_is_released_when_its_block_fails(path: Path) -> None:
    with Journal.open(path) as journal:
        with pytest.raises(ZeroDivisionError), journal.lease("run"):
            raise ZeroDivisionError
        assert journal.run("run").held_by is None
        assert journal.run("run").status == "interrupted"


def test_a_lease_lasts_some_time(path: Path) -> None:
    with Journal.open(path) as journal, pytest.raises(ValueError, match="longer than 0"):
        journal.lease("run", ttl=0)


# Owners


def test_an_owner_of_another_host_is_believed_until_it_expires() -> None:
    assert live_holder("elsewhere:99999999:ab", expires=2.0, now=1.0) == "elsewhere:99999999:ab"
    assert live_holder("elsewhere:99999999:ab", expires=2.0, now=2.0) is None


def test_an_owner_of_any_form_is_believed(path: Path) -> None:
    with Journal.open(path) as journal, journal.lease("run", owner="a worker") as lease:
        assert journal.run("run").held_by == lease.owner == "a worker"


def test_a_dead_process_of_this_host_holds_nothing() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host, _, nonce = new_owner().rsplit(":", 2)
    assert live_holder(f"{host}:{ended.pid}:{nonce}", expires=2.0, now=1.0) is None
    assert live_holder(f"{host}:{os.getpid()}:{nonce}", expires=2.0, now=1.0) is not None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_zombie_holds_nothing() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it ended, and nobody took note
    host, _, nonce = new_owner().rsplit(":", 2)
    assert live_holder(f"{host}:{child.pid}:{nonce}", expires=2.0, now=1.0) is None
    child.communicate()


# Processes


RACE = r"""
import os, sys
from pathlib import Path
from runtime.errors import RunError
from runtime.events import Warned
from runtime.journal import Journal, RunRecord

path, record = Path(sys.argv[1]), RunRecord.model_validate_json(sys.argv[2])
start, go = os.pipe()
tell, told = os.pipe(), os.pipe()
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(start, 1)  # returns for all of them at once, when the parent closes its end
        journal = Journal.open(path)  # all of them create the same new file
        try:
            journal.admit(record.model_copy(update={"run_id": f"own-{number}"}))
            with journal.lease(f"own-{number}") as lease:
                for _ in range(20):
                    journal.commit(lease, [Warned(frame_id="f", code="c", message=str(number))])
            try:
                journal.admit(record)
            except RunError:
                pass
            lease = journal.lease("run")
        except RunError as error:
            os.write(tell[1], b"refused " if "held by" in error.message else error.message.encode())
        else:
            journal.commit(lease, [Warned(frame_id="f", code="c", message="won")])
            os.write(tell[1], b"won ")
        os.close(tell[1])
        os.close(told[1])
        os.read(told[0], 1)  # the winner holds on until everyone has tried
        os._exit(0)
    children.append(child)
os.close(tell[1])
os.close(go)
with os.fdopen(tell[0], "rb") as answers:
    print(answers.read().decode())
os.close(told[1])
for child in children:
    os.waitpid(child, 0)
"""


def test_of_processes_that_compete_for_a_run_one_wins(tmp_path: Path) -> None:
    """Checklist 70: they all create the file, write runs of their own at once, then want the same run."""
    path = tmp_path / "journal.db"
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RACE, str(path), RECORD.model_dump_json()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(ended.stdout.split()) == ["refused", "refused", "refused", "won"]
    with Journal.open(path) as journal:
        assert [event.message for event in journal.events("run")] == ["won"]  # pyright: ignore[reportAttributeAccessIssue]
        for number in range(4):
            assert len(journal.events(f"own-{number}")) == 20
        with journal.lease("run") as lease:  # the winner is dead by now
            assert lease.fence == 2


def test_a_journal_is_not_used_across_a_fork(path: Path) -> None:
    code = r"""
import os, sys
from pathlib import Path
from runtime.journal import Journal
journal = Journal.open(Path(sys.argv[1]))
child = os.fork()
if child == 0:
    try:
        journal.runs()
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(len(journal.runs()))
"""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = ended.stdout.splitlines()
    assert "open it in each process" in first
    assert second == "1"
