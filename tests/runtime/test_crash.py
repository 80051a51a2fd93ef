"""Killed runs: a process dies at each commit boundary of a scripted run, and within a transaction; another goes on."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.events import FramePushed, Planned
from runtime.frames import fold
from runtime.journal import Journal

ROOT = Path(__file__).parents[2]

CRASHES = r"""
import os, sys
from pathlib import Path
from runtime import stored_text
from runtime.calls import CallRecord
from runtime.crash import CrashAfter
from runtime.events import *
from runtime.journal import Journal, RunRecord
from runtime.ledger import Usage
from runtime.observations import Observation
from signatures import PlannedStep

def step(name):
    return PlannedStep(id=name, description=f"do {name}", action="scan", patterns=[], query="",
                       targets=[], operation="", depends_on=[])

def seen(name):
    return Observation(success=True, error_class="", error="", summary=f"{name} " * 300,
                       payload=None, result_hash=name)

RECORD = RunRecord(run_id="run", created="2026-03-02T08:00:00+00:00", program="p", program_version=1,
                   question="q", corpus_version="v", corpus_paths=(), store="", config={})
NAMES = ("s1", "s2", "s3")

def begin(journal, lease):
    journal.commit(lease, [
        FramePushed(frame_id="f", parent_id="", parent_step="", depth=0, task="q", targets=(), goal_chain=()),
        Planned(frame_id="f", think="t", steps=tuple(map(step, NAMES)), degraded=False)])

def execute(journal, lease, name, made):
    log = journal.call_log(lease)
    if log.completed(name) is None:
        made.append(name)
        record = CallRecord(key=f"{name}#1", signature="AnalyzeLeaf", attempt=1, model="m", input_hash="h", started=0.0)
        log.intent(record)
        log.settled(record.model_copy(update={"status": "done", "reply": name * 500, "usage": Usage(calls=1)}))
    journal.commit(lease, [
        StepStarted(frame_id="f", step_id=name, attempt=1),
        StepCommitted(frame_id="f", step_id=name, status="completed", observation=seen(name), seconds=0.0),
        Refined(frame_id="f", after=(name,), decision="keep", reason="", think="", steps=(), degraded=False,
                called_model=False),
    ])

def finish(journal, lease):
    journal.commit(lease, [FramePopped(frame_id="f", status="completed", observation=seen("f")),
                           Finished(outcome="answered", answer={"answer": "a"})])

def whole(path, crash):
    journal = Journal.open(path)
    journal.on_commit = crash
    journal.admit(RECORD)
    with journal.lease("run") as lease:
        begin(journal, lease)
        for name in NAMES:
            execute(journal, lease, name, [])
        finish(journal, lease)
    journal.close()
"""

CRASH_AT_EACH = (
    CRASHES
    + r"""
folder = Path(sys.argv[1])

def killed(path, crash, prepare=lambda: None):
    child = os.fork()
    if child == 0:
        prepare()
        whole(path, crash)
        os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])

def die_within_a_transaction():
    keep, calls = stored_text.keep, []
    def dying(connection, run_id, texts):
        keep(connection, run_id, texts)
        calls.append(run_id)
        if len(calls) == 8:  # the second of three events of the first step, before COMMIT
            CrashAfter(1)(1)
    stored_text.keep = dying

for number in range(1, 16):
    print(number, killed(folder / f"{number}.db", CrashAfter(number)))
print("half", killed(folder / "half.db", None, die_within_a_transaction))
"""
)

COMMITS = 14  # admit, lease, plan, 3 x (intent, end, step), finish, release


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a journal for each commit boundary at which a process was killed."""
    folder = tmp_path_factory.mktemp("crashed")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CRASH_AT_EACH, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    signals = dict(line.split() for line in ended.stdout.splitlines())
    assert signals == {
        **{str(number): "9" for number in range(1, COMMITS + 1)},
        "15": "0",  # there is no such commit: this one ran to its end
        "half": "9",
    }
    return folder


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """The functions of the scripted run, in this process."""
    names: dict[str, Any] = {}
    exec(CRASHES, names)
    return names


@pytest.mark.parametrize("number", range(1, COMMITS + 1))
def test_a_kill_at_a_commit_loses_nothing_committed_and_shows_nothing_else(
    crashed: Path, number: int
) -> None:
    """Checklist 59, 66; field reports 3, 4."""
    with Journal.open(crashed / f"{number}.db") as journal:
        run, state = journal.run("run"), fold(journal.events("run"))
        steps = max(0, number - 3) // 3
        assert run.status == (
            "admitted" if number == 1 else "finished" if number >= 13 else "interrupted"
        )
        assert run.held_by is None  # its process is dead: nobody has to wait for the lease
        assert run.calls == min(3, max(0, number - 1) // 3)
        if number < 3:
            assert not state.frames
            return
        frame = state.frames["f"]
        done_steps = [step for step in frame.steps if step.status == "completed"]
        assert len(done_steps) == min(3, steps) == len(frame.refinements)
        assert (state.finished is not None) is (number >= 13)
        assert state.stack == (() if number >= 13 else ("f",))


def test_a_kill_within_a_transaction_leaves_no_half_of_it(crashed: Path) -> None:
    with Journal.open(crashed / "half.db") as journal:
        state = fold(journal.events("run"))
        assert [step.status for step in state.frames["f"].steps] == ["pending"] * 3
        assert [each.status for each in journal.calls("run")] == ["done"]


@pytest.mark.parametrize("number", range(2, 13))
def test_a_killed_run_goes_on_where_it_was(
    crashed: Path, number: int, script: dict[str, Any], tmp_path: Path
) -> None:
    """Checklist 60 to 66: no new plan, no completed call again, the same end as without the kill."""
    made: list[str] = []
    copy = tmp_path / "journal.db"
    for each in crashed.glob(f"{number}.db*"):
        copy.with_name(each.name.replace(f"{number}.db", copy.name)).write_bytes(each.read_bytes())
    with Journal.open(copy) as journal, journal.lease("run") as lease:
        before = journal.events("run")
        ended_calls = [each.key for each in journal.calls("run") if each.status == "done"]
        if not before:
            script["begin"](journal, lease)
        for step in fold(journal.events("run")).frames["f"].remaining:
            script["execute"](journal, lease, step.id, made)
        script["finish"](journal, lease)
        after = journal.events("run")
        assert after[: len(before)] == before
        assert sum(isinstance(event, Planned) for event in after) == 1
        assert sum(isinstance(event, FramePushed) for event in after) == 1
        assert not {f"{name}#1" for name in made} & set(ended_calls)
        assert journal.run("run").status == "finished"
    with Journal.open(crashed / "15.db") as journal:
        assert fold(after) == fold(journal.events("run"))
