"""Runs that are killed, refused or left in the middle, and go on."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from runtime.events import EVENTS, Event, Finished, Planned, StepCommitted, StepStarted
from runtime.frames import RunState, fold

ROOT = Path(__file__).parents[2]
SAME = ("answer", "value", "outcome", "claims", "conflicts", "unknowns", "coverage", "steps")


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
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
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
    assert whole.answer["receipt"]["calls"] == len(whole.engine) == len(whole.calls)
    assert [step.id for step in whole.state.frames["root"].steps] == ["s1", "s2", "s3", "s4", "s5", "s7", "s6"]


@pytest.mark.parametrize("kind", ["at", "call", "twice"])
def test_a_killed_run_ends_with_the_answer_of_one_that_was_not(victims: Victims, kind: str) -> None:
    """Checklist 60, 64, 70; field reports 1, 3."""
    for name, _, after in victims.named(kind):
        assert after.status == "finished", name
        for part in SAME:
            assert after.answer.get(part) == victims.whole.answer.get(part), (name, part)


@pytest.mark.parametrize("kind", ["at", "call", "twice"])
def test_nothing_that_was_committed_is_undone_or_done_again(victims: Victims, kind: str) -> None:
    """Checklist 59, 61, 62, 63, 66, 83; field reports 15, 16."""
    for name, before, after in victims.named(kind):
        assert after.events[: len(before.events)] == before.events, name
        assert after.planned == victims.whole.planned, name
        ended = Counter(
            (each.frame_id, each.step_id) for each in after.history if isinstance(each, StepCommitted)
        )
        assert set(ended.values()) == {1}, name
        again = {
            (each.frame_id, each.step_id)
            for each in after.history[len(before.events) :]
            if isinstance(each, StepStarted) and each.attempt > 1
        }
        assert again <= before.running, name


@pytest.mark.parametrize("kind", ["at", "call", "twice"])
def test_no_call_that_had_ended_is_made_again(victims: Victims, kind: str) -> None:
    """Checklist 62, 71; field report 4."""
    for name, before, after in victims.named(kind):
        done = before.ended("done")
        assert Counter(after.ended("done")) == Counter(victims.whole.ended("done")), name
        assert after.ended("done")[: len(done)] == done, name
        lost = len(before.ended("intent"))
        again = Counter(after.engine) - Counter(victims.whole.engine)
        assert set(after.engine) == set(victims.whole.engine), name
        assert again.total() <= lost, name
