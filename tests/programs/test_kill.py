"""Runs that are killed at each of their commits, in the middle of calls, and twice; and go on."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pytest

from runtime.events import EVENTS, Event, Finished, Planned, StepCommitted, StepStarted
from runtime.frames import RunState, fold

ROOT = Path(__file__).parents[2]
SAME = (
    "text",
    "value",
    "outcome",
    "claims",
    "conflicts",
    "unknowns",
    "coverage",
    "steps",
    "warnings",
)
KINDS = pytest.mark.parametrize("kind", ["at", "call", "twice"])


@dataclass(frozen=True)
class Seen:
    """What a process found in the journal and in the engine's log."""

    status: str
    events: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    engine: list[str]

    @cached_property
    def history(self) -> list[Event]:
        return [EVENTS.validate_python(each) for each in self.events]

    @property
    def state(self) -> RunState:
        return fold(self.history)

    @property
    def answer(self) -> dict[str, Any]:
        assert self.state.finished is not None
        return self.state.finished.answer

    def ended(self, status: str) -> list[str]:
        return [call["key"] for call in self.calls if call["status"] == status]

    @property
    def planned(self) -> list[str]:
        return [each.frame_id for each in self.history if isinstance(each, Planned)]

    @property
    def running(self) -> set[tuple[str, str]]:
        """Steps that were begun and have not ended, as (frame, step)."""
        return {
            (frame.id, step.id)
            for frame in self.state.frames.values()
            for step in frame.steps
            if step.status == "running"
        }


class Victims:
    """The runs that were killed, by name."""

    kills: ClassVar = {"at": 1, "call": 1, "twice": 2}

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole = self.seen("whole", "after")

    def seen(self, name: str, when: str) -> Seen:
        return Seen(**json.loads((self.folder / f"{name}.{when}.json").read_text("utf-8")))

    def named(self, kind: str) -> list[tuple[str, Seen, Seen]]:
        """Name, what the last resumption found, and what it left: of all runs of a kind."""
        names = [each.name.partition(".")[0] for each in self.folder.glob(f"{kind}*.after.json")]
        names.sort(key=lambda name: int(name.removeprefix(kind)))
        return [(name, self.seen(name, "before"), self.seen(name, "after")) for name in names]


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Victims:
    folder = tmp_path_factory.mktemp("killed")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", Path(__file__).with_name("killed.py"), folder],
        cwd=ROOT,
        env={
            "PYTHONPATH": str(ROOT),
            "DSPY_CACHEDIR": str(folder / "dspy"),
            "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        },
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    commits, calls = map(int, ended.stdout.split())
    victims = Victims(folder)
    assert len(victims.named("at")) == commits
    assert len(victims.named("call")) >= calls // 4
    assert len(victims.named("twice")) > 5
    return victims


def test_the_run_that_is_killed_has_everything_that_can_be_lost(victims: Victims) -> None:
    whole = victims.whole
    assert whole.answer["outcome"] == "answered"
    assert whole.answer["value"] == 2
    assert len(whole.answer["claims"]) == 7
    assert whole.planned == ["root", "root.s3"]
    steps = [step.id for step in whole.state.frames["root"].steps]
    assert steps == ["s1", "s2", "s3", "s4", "s5", "s7", "s6"]
    assert whole.answer["receipt"]["calls"] == len(whole.engine) == len(whole.calls) == 15


@KINDS
def test_a_killed_run_ends_with_the_answer_of_one_that_was_not(victims: Victims, kind: str) -> None:
    """Checklist 60, 64, 70; field reports 1, 3."""
    for name, _, after in victims.named(kind):
        assert after.status == "finished", name
        for part in SAME:
            assert after.answer[part] == victims.whole.answer[part], (name, part)


@KINDS
def test_an_unfinished_run_never_looks_finished(victims: Victims, kind: str) -> None:
    """Checklist 67, 68; field reports 1, 4."""
    for name, before, _ in victims.named(kind):
        finished = any(isinstance(each, Finished) for each in before.history)
        assert finished == (before.state.stack == () and before.planned != []), name
        expected = "finished" if finished else "admitted" if name == "at1" else "interrupted"
        assert before.status == expected, name


@KINDS
def test_nothing_that_was_committed_is_undone_or_done_again(victims: Victims, kind: str) -> None:
    """Checklist 59, 61, 63, 65, 66, 83; field reports 15, 16."""
    for name, before, after in victims.named(kind):
        assert after.events[: len(before.events)] == before.events, name
        assert after.planned == victims.whole.planned, name
        new = after.history[len(before.events) :]
        ends = Counter(_step(each) for each in after.history if isinstance(each, StepCommitted))
        assert set(ends.values()) == {1}, name
        again = {_step(each) for each in new if isinstance(each, StepStarted) and each.attempt > 1}
        assert again <= before.running, name
        assert len(again) <= 2, name  # the two that run at once


@KINDS
def test_no_call_that_had_ended_is_made_again(victims: Victims, kind: str) -> None:
    """Checklist 62, 71."""
    for name, before, after in victims.named(kind):
        done = before.ended("done")
        assert sorted(after.ended("done")) == sorted(victims.whole.ended("done")), name
        assert after.ended("done")[: len(done)] == done, name
        assert set(after.engine) == set(victims.whole.engine), name
        again = Counter(after.engine) - Counter(victims.whole.engine)
        assert again.total() <= len(after.ended("intent")) <= 3 * victims.kills[kind], name


@KINDS
def test_the_receipt_counts_what_the_engine_saw_in_all_processes(
    victims: Victims, kind: str
) -> None:
    """A call that was in flight at the kill counts, whether it had reached the engine or not."""
    for name, before, after in victims.named(kind):
        receipt = after.answer["receipt"]
        assert receipt["calls"] == len(after.calls), name
        unseen = len(after.calls) - len(after.engine)
        assert unseen == len(before.calls) - len(before.engine) <= len(before.ended("intent")), name
        assert receipt["failed_calls"] == len(after.ended("intent")), name
        assert (receipt["cost_usd"] is None) == bool(after.ended("intent")), name


def _step(event: StepStarted | StepCommitted) -> tuple[str, str]:
    return event.frame_id, event.step_id
