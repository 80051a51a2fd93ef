"""What goes wrong around an optimization is neither a score nor a result: disks, listeners, settings, counts."""

import asyncio
import errno
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15

from evals.lines import LineFile
from evals.optimization import Moment, Optimized
from evals.optimization.halt import Halt
from evals.optimization.proposals import ReflectionEngine
from evals.optimization.rollouts import ROLLOUTS
from evals.optimization.trainee import Purse
from programs.baselines import MapReduce
from runtime.errors import QuestionSetError, RunError, UserError
from tests.evals.optimization.classroom import Classroom, counted
from tests.runtime.test_loopback import Server, failure, reply


@pytest.mark.parametrize("optimizer", ["gepa", "simba"])
def test_a_full_disk_ends_it_and_is_no_score(
    room: Classroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, optimizer: str
) -> None:
    """A rollout that cannot be recorded was taken for a score of 0, and the search went on to the end of its budget
    without one more of them, as if it had found nothing."""
    write = LineFile._write

    def full(self: LineFile, line: bytes) -> None:
        if self.path.name == ROLLOUTS and len(self.path.read_bytes().splitlines()) >= 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, line)

    with monkeypatch.context() as patch:
        patch.setattr(LineFile, "_write", full)
        with pytest.raises(RunError, match="No space left"):
            room.optimize(room.plan(optimizer, test_limit=1), tmp_path / "out")
    assert len((tmp_path / "out" / ROLLOUTS).read_bytes().splitlines()) == 6


def test_a_listener_that_raises_ends_it_and_is_no_score(room: Classroom, tmp_path: Path) -> None:
    """A closed terminal was taken for a program that scores 0."""

    def broken(moment: Moment) -> None:
        if moment.rollouts == 6:
            raise BrokenPipeError("nobody reads")

    with pytest.raises(BrokenPipeError, match="nobody reads"):
        room.optimize(room.plan("gepa", test_limit=1), tmp_path / "out", listener=broken)


def test_what_was_spent_on_rollouts_that_are_made_again_stays_counted(
    room: Classroom, tmp_path: Path
) -> None:
    """The number of calls is the engine's, those of an outage among them; so it is while it goes on."""
    down = [True]

    def outage(_: lm15.Request) -> None:
        if down[0]:
            raise KeyError("out of order")

    lm, engine = counted("pupil", before=outage)
    plan = room.plan("bootstrap", test_limit=1)
    with pytest.raises(RunError):
        room.optimize(plan, tmp_path / "out", program=MapReduce(lm=lm))
    failed = engine.calls
    down[0] = False
    moments: list[Moment] = []
    found = room.optimize(
        plan,
        tmp_path / "out",
        program=MapReduce(lm=lm),
        retry_errors=True,
        listener=moments.append,
    )
    assert found.test is not None
    tested = sum(each.score.calls for each in found.test.records if each.score)
    assert failed > 0
    assert found.spent.calls == engine.calls - tested
    assert moments[-1].spent == found.spent


@pytest.mark.parametrize("optimizer", ["bootstrap", "bootstrap-rs"])
def test_an_optimizer_of_demos_that_may_make_none_is_refused(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """It ended at once, as if nothing better had been found."""
    with pytest.raises(UserError, match="changes demos and nothing else"):
        room.optimize(room.plan(optimizer, max_demos=0), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.closing.set()
        running.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("model", "settings", "sent"),
    [
        (
            "openai/own-model",
            {"temperature": 0.7, "max_tokens": 500, "top_p": 0.5},
            {"temperature": 0.7, "max_completion_tokens": 500, "top_p": 0.5},
        ),
        (
            "openai/gpt-5-mini",
            {"temperature": 1.0, "max_tokens": 20_000, "reasoning_effort": "low"},
            {"temperature": 1.0, "max_completion_tokens": 20_000, "reasoning_effort": "low"},
        ),
    ],
)
def test_a_hosted_model_that_reflects_is_asked_with_its_own_settings(
    server: Server, tmp_path: Path, model: str, settings: dict[str, Any], sent: dict[str, Any]
) -> None:
    """All of those that the manifest names reach it; what fails for a moment is tried again, and counted."""
    answered = reply("[[ ## answer ## ]]\nbecause\n\n[[ ## completed ## ]]")
    server.script = [failure(503, "busy"), answered]
    lm = dspy.LM(model, api_base=server.url, api_key="k", cache=False, **settings)
    engine = ReflectionEngine(lm, tmp_path / "proposals.jsonl", lambda: None, pause=0)
    with dspy.context(lm=engine.lm()):
        assert dspy.Predict("question -> answer")(question="why?").answer == "because"
    engine.close()
    asked = server.requests[-1]
    assert {name: asked.get(name) for name in sent} == sent
    row = json.loads((tmp_path / "proposals.jsonl").read_text(encoding="utf-8"))
    assert (row["usage"]["calls"], row["usage"]["failed_calls"]) == (2, 1)
    assert (row["usage"]["input_tokens"], row["usage"]["output_tokens"]) == (111, 22)
    assert asked["model"] == model.removeprefix("openai/")


def test_test_questions_of_a_set_are_never_dealt_out_as_train_questions(
    room: Classroom, tmp_path: Path
) -> None:
    """A set of train and test questions, without validation, had all of them dealt out anew."""
    questions = tuple(
        each.model_copy(update={"split": "train" if each.split == "validation" else each.split})
        for each in room.made.questions
    )
    made = room.made.model_copy(update={"questions": questions})
    with pytest.raises(QuestionSetError, match="no validation questions"):
        Classroom(room.folder, room.store, made).optimize(room.plan("bootstrap"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_interrupt_during_the_test_keeps_the_best_candidate(
    room: Classroom, tmp_path: Path
) -> None:
    """It was raised to the caller, without a bundle; and the same call tests the rest later."""
    plan = room.plan("bootstrap")

    def interrupt(moment: Moment) -> None:
        if moment.phase == "test" and moment.tested == 1:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = room.optimize(plan, tmp_path / "out", listener=interrupt)
    assert stopped.stopped == "interrupted"
    assert stopped.best is not None
    assert stopped.bundle is not None
    whole = room.optimize(plan, tmp_path / "out")
    assert whole.stopped == "finished"
    assert whole.test is not None
    assert not whole.test.missing


@pytest.mark.parametrize("optimizer", ["simba", "gepa"])
def test_a_budget_that_ends_with_threads_keeps_its_end_and_its_count(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """DSPy leaves its threads running when it is stopped: what they spend is counted, they take nothing of what is
    kept to run the best candidate on all validation questions, and none goes on afterwards."""
    lm, engine = counted("pupil", before=lambda _: time.sleep(0.02))
    found = room.optimize(
        room.plan(optimizer, budget=16, test_limit=1, threads=3),
        tmp_path / "out",
        program=MapReduce(lm=lm),
    )
    calls = engine.calls
    assert found.stopped == "budget"
    assert found.rollouts <= 16
    assert found.test is not None
    tested = sum(each.score.calls for each in found.test.records if each.score)
    assert found.spent.calls == calls - tested


def test_threads_that_an_optimizer_left_behind_take_nothing() -> None:
    """What is kept for the validation is not theirs."""
    purse = Purse(3)
    purse.limit(10)
    purse.take(searches=True)
    purse.end_search()
    with pytest.raises(Halt):
        purse.take(searches=True)
    purse.take()


def test_an_optimization_within_a_running_loop(room: Classroom, tmp_path: Path) -> None:
    """As in a notebook: search and test."""

    async def cell() -> Optimized:
        return room.optimize(room.plan("bootstrap", test_limit=1), tmp_path / "out")

    found = asyncio.run(cell())
    assert found.stopped == "finished"
    assert found.test is not None
