"""An optimization that was stopped goes on to where it would have come, and asks nothing twice."""

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from evals.log import SampleRecord
from evals.objective import Objective
from evals.optimization import OPTIMIZERS, Moment, optimize, read_optimization
from evals.optimization.halt import Halt
from evals.optimization.proposals import PROPOSALS
from evals.optimization.purse import Purse
from evals.optimization.rollouts import ROLLOUTS
from programs.baselines import MapReduce, Retrieve
from runtime.errors import RunError
from runtime.limits import Limits
from runtime.models.make import make_lm
from tests.evals.optimization.classroom import Classroom, counted, told


def cut(folder: Path, share: float, *, half: bool) -> int:
    """Leave a folder as a kill would: a share of its lines, the last one perhaps half-written. Lines that are left."""
    path = folder / ROLLOUTS
    lines = path.read_bytes().splitlines(keepends=True)
    kept = int(len(lines) * share)
    path.write_bytes(b"".join(lines[:kept]) + (lines[kept][:40] if half else b""))
    shutil.rmtree(folder / "test", ignore_errors=True)
    return kept


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_what_was_cut_off_comes_to_what_it_would_have(
    room: Classroom, tmp_path: Path, optimizer: str, half: bool
) -> None:
    """Whatever a kill leaves of the log, the second execution ends as one that was not stopped (GEPA's own resume does
    not), and its engines are asked only for what is not there: no rollout and no proposal is made twice."""
    plan = room.plan(optimizer, test_limit=1)
    whole = room.optimize(plan, tmp_path / "out")
    kept = cut(tmp_path / "out", 0.3 if half else 0.7, half=half)
    assert read_optimization(tmp_path / "out").rollouts == kept
    lm, engine = counted("pupil")
    coach, reflecting = counted("coach")
    made_before = read_optimization(tmp_path / "out").spent.calls
    again = room.optimize(plan, tmp_path / "out", program=MapReduce(lm=lm), reflection=coach)
    assert told(again) == told(whole)
    tested = sum(
        each.score.calls for each in (again.test.records if again.test else ()) if each.score
    )
    assert engine.calls - tested == whole.spent.calls - made_before
    assert reflecting.calls == 0


def test_a_half_written_proposal_is_asked_for_again(room: Classroom, tmp_path: Path) -> None:
    """A reply that a kill cut in half counts as none."""
    plan = room.plan("gepa", test_limit=1)
    whole = room.optimize(plan, tmp_path / "out")
    path = tmp_path / "out" / PROPOSALS
    path.write_bytes(path.read_bytes()[:-30])
    coach, reflecting = counted("coach")
    assert told(room.optimize(plan, tmp_path / "out", reflection=coach)) == told(whole)
    assert reflecting.calls == 1


def test_a_finished_one_that_is_run_again_asks_nothing(room: Classroom, tmp_path: Path) -> None:
    """The same command says what came of it, without a call."""
    plan = room.plan("bootstrap", test_limit=1)
    whole = room.optimize(plan, tmp_path / "out")
    lm, engine = counted("pupil")
    assert told(room.optimize(plan, tmp_path / "out", program=MapReduce(lm=lm))) == told(whole)
    assert engine.calls == 0


@pytest.mark.parametrize("optimizer", ["gepa", "bootstrap-rs"])
def test_a_larger_budget_goes_on_from_what_is_there(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """More of the same is the same optimization: the budget may be raised, and what was made is used."""
    short = room.optimize(room.plan(optimizer, budget=18, test_limit=1), tmp_path / "out")
    lines = (tmp_path / "out" / ROLLOUTS).read_bytes()
    longer = room.optimize(room.plan(optimizer, budget=60, test_limit=1), tmp_path / "out")
    assert (tmp_path / "out" / ROLLOUTS).read_bytes().startswith(lines)
    assert len(lines.splitlines()) == short.rollouts <= 18
    assert short.rollouts < longer.rollouts <= 60


@pytest.mark.parametrize("part", ["teacher", "reflection", "limits", "leaf_characters", "versions"])
def test_whatever_makes_it_another_one_is_refused(
    room: Classroom, tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other models, limits, settings of the program or versions of the libraries are another optimization too."""

    def work(**other: Any) -> None:
        lm = make_lm("extractive")
        given: dict[str, Any] = {
            "teacher": MapReduce(lm=lm),
            "reflection_lm": make_lm("coach"),
            "program": MapReduce(lm=lm),
        }
        given |= other
        program = given.pop("program")
        plan = room.plan("mipro", test_limit=1, budget=20)
        optimize(program, room.made, room.corpora, tmp_path / "out", plan, **given)

    work()
    lm = make_lm("extractive")
    others: dict[str, dict[str, Any]] = {
        "teacher": {"teacher": MapReduce(lm=make_lm("pupil"))},
        "reflection": {"reflection_lm": make_lm("pupil")},
        "limits": {"program": MapReduce(lm=lm, limits=Limits(calls=90))},
        "leaf_characters": {"program": MapReduce(lm=lm, leaf_characters=4_000)},
        "versions": {},
    }
    if part == "versions":
        monkeypatch.setattr("evals.optimization.driver.versions", lambda: {"dspy": "3.9.0"})
    with pytest.raises(RunError, match="holds another optimization"):
        work(**others[part])


@pytest.mark.parametrize("change", ["seed", "objective", "optimizer", "program", "set", "limit"])
def test_another_optimization_in_the_folder_is_refused(
    room: Classroom, tmp_path: Path, change: str
) -> None:
    """GEPA goes on with another student, set or seed without a word, and returns the old best: here it is refused,
    and told what differs."""
    plan = room.plan("bootstrap", test_limit=1)
    room.optimize(plan, tmp_path / "out")
    before = (tmp_path / "out" / "manifest.json").read_bytes()
    lm, _ = counted("pupil")
    program = Retrieve(lm=lm) if change == "program" else None
    other = {
        "seed": room.plan("bootstrap", test_limit=1, seed=1),
        "objective": room.plan(
            "bootstrap", test_limit=1, objective=Objective.parse("evidence_recall", None)
        ),
        "optimizer": room.plan("bootstrap-rs", test_limit=1),
        "limit": room.plan("bootstrap", test_limit=1, train_limit=5),
    }.get(change, plan)
    where = room
    if change == "set":
        questions = tuple(
            each.model_copy(update={"question": f"{each.question} Please."})
            for each in room.made.questions
        )
        made = room.made.model_copy(update={"questions": questions})
        where = Classroom(room.folder, room.store, made)
    with pytest.raises(RunError, match="holds another optimization"):
        where.optimize(other, tmp_path / "out", program=program)
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before


def test_a_folder_with_other_files_is_left_alone(room: Classroom, tmp_path: Path) -> None:
    """Nothing is written among files that are not an optimization's."""
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match="no optimization"):
        room.optimize(room.plan("bootstrap"), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_log_is_named_with_its_line(room: Classroom, tmp_path: Path) -> None:
    """What cannot be read is neither dropped nor guessed."""
    plan = room.plan("bootstrap", test_limit=1)
    room.optimize(plan, tmp_path / "out")
    path = tmp_path / "out" / ROLLOUTS
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = json.dumps({"candidate": 3}).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(RunError, match="line 2 is no rollout"):
        room.optimize(plan, tmp_path / "out")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_interrupt_keeps_the_best_candidate_and_goes_on_later(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """Ctrl-C ends the search at once, whatever the optimizer does with it; what was best by then is the result, and
    the same call goes on from there to where it would have come."""
    plan = room.plan(optimizer, test_limit=1)

    def interrupt(moment: Moment) -> None:
        if moment.phase == "search" and moment.rollouts == 6:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)  # until the main thread has it

    stopped = room.optimize(plan, tmp_path / "out", listener=interrupt)
    assert stopped.stopped == "interrupted"
    assert stopped.rollouts in (6, 7)
    assert stopped.best is not None
    assert stopped.test is None
    assert told(room.optimize(plan, tmp_path / "out")) == told(
        room.optimize(plan, tmp_path / "whole")
    )


def test_an_interrupt_at_the_last_moment_of_a_search_is_one(
    room: Classroom, tmp_path: Path
) -> None:
    """The search may have ended before the main thread has it: the comparison does not begin all the same."""
    plan = room.plan("bootstrap", test_limit=1)
    searched: list[Moment] = []

    def count(moment: Moment) -> None:
        if moment.phase != "test":
            searched.append(moment)

    room.optimize(plan, tmp_path / "whole", listener=count)
    last = len(searched)
    searched.clear()

    def interrupt(moment: Moment) -> None:
        count(moment)
        if len(searched) == last:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = room.optimize(plan, tmp_path / "out", listener=interrupt)
    assert (stopped.stopped, stopped.test) == ("interrupted", None)
    assert room.optimize(plan, tmp_path / "out").test is not None


def test_what_has_stopped_starts_nothing() -> None:
    """An interrupt between taking a rollout and running it leaves nothing behind that was begun and never awaited."""
    purse, started = Purse(0), []

    async def work() -> SampleRecord:
        raise AssertionError("it was started")

    def start() -> Awaitable[SampleRecord]:
        started.append(True)
        return work()

    purse.stop()
    with pytest.raises(Halt):
        asyncio.run(purse.watched(start))
    assert started == []
