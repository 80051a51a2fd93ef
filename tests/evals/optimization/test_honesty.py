"""What an optimization never does: overspend, look at the test questions, or take a failure for a score."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dspy import lm15

from data.questions import QuestionSet
from data.sets.drafts import Order
from data.sets.shipped import build_family
from evals.log import SampleRecord
from evals.optimization import OPTIMIZERS, Moment, Plan, optimize, read_optimization
from evals.optimization.rollouts import Rollout, RolloutLog
from evals.optimization.splits import shared_corpora, split
from programs.baselines import MapReduce
from programs.program_state import apply_state, state_hash, state_of
from runtime.errors import LimitsError, ModelError, QuestionSetError, RunError, UserError
from tests.evals.optimization.classroom import BALANCED, Classroom, counted

BUDGET = 21


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_budget_is_kept_to_the_rollout(room: Classroom, tmp_path: Path, optimizer: str) -> None:
    """No rollout beyond the budget: counted where programs are run, since GEPA makes a third more than it counts,
    MIPROv2's and GEPA's estimates are stale (dspy#10245), and others have none. What was paid is kept (gepa#452)."""
    lm, engine = counted("pupil")
    made: list[int] = []
    found = room.optimize(
        room.plan(optimizer, budget=BUDGET, test_limit=1),
        tmp_path / "out",
        program=MapReduce(lm=lm),
        listener=lambda moment: made.append(moment.rollouts),
    )
    assert max(made) == found.rollouts <= BUDGET
    assert sum(each.rollouts for each in found.candidates) == found.rollouts
    assert engine.calls >= found.spent.calls


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_budget_that_could_try_nothing_is_refused(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """gepa#375: a budget that is too small for one candidate must not look like a success without gain."""
    with pytest.raises(LimitsError, match=r"at least \d+ metric calls"):
        room.optimize(room.plan(optimizer, budget=7), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_no_model_sees_a_test_question_before_the_test(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """Neither the program nor the model that reflects is shown a question, a document or a gold quote of the split."""
    phase = ["baseline"]
    lm, engine = counted("pupil")
    coach, reflecting = counted("coach")
    before: list[str] = []

    def listen(moment: Moment) -> None:
        if moment.phase == "test" and phase[0] != "test":
            before.extend((*engine.prompts, *reflecting.prompts))
        phase[0] = moment.phase

    found = room.optimize(
        room.plan(optimizer),
        tmp_path / "out",
        program=MapReduce(lm=lm),
        reflection=coach,
        listener=listen,
    )
    questions = {each.id: each for each in room.made.questions}
    tested = [questions[each] for each in found.manifest.splits.test]
    shown = "\n".join(before)
    assert before
    assert len(tested) == 3
    for each in tested:
        assert each.corpus not in shown
        assert all(span.quote not in shown for fact in each.gold for one in fact for span in one)
    documents = [{q.corpus for q in room.made.questions if q.id in ids} for ids in _splits(found)]
    assert not documents[0] & documents[1]
    assert not documents[2] & (documents[0] | documents[1])


def _splits(found: Any) -> list[tuple[str, ...]]:
    splits = found.manifest.splits
    return [splits.train, splits.validation, splits.test]


def test_demos_and_prompts_hold_excerpts_and_no_documents(room: Classroom, tmp_path: Path) -> None:
    """dspy#9059, and demos that inline whole documents: what can be copied is an excerpt, in the log as well."""
    found = room.optimize(room.plan("bootstrap", test_limit=1), tmp_path / "out")
    texts = {each.name: (room.folder / each.paths[0]).rglob("*.*") for each in room.made.corpora}
    whole = [path.read_text(encoding="utf-8") for paths in texts.values() for path in paths]
    kept = (tmp_path / "out" / "rollouts.jsonl").read_text(encoding="utf-8")
    states = "".join(str(each.state) for each in found.candidates)
    assert len(found.candidates) > 1
    for text in whole:
        assert text not in kept
        assert text not in states
        assert text.encode("unicode_escape").decode() not in kept + states


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_candidate_is_kept_and_can_be_made_again(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """dspy#8705: programs of an optimizer's folder. Each has its state, from which the same program comes."""
    room.optimize(room.plan(optimizer, test_limit=1), tmp_path / "out")
    found = read_optimization(tmp_path / "out")
    for each in found.candidates:
        program = MapReduce()
        apply_state(program, each.state)
        assert state_hash(state_of(program)) == each.id


def test_a_model_that_reflects_and_fails_ends_it(room: Classroom, tmp_path: Path) -> None:
    """hermes-agent-self-evolution#10: an error of an optimizer is no reason to go on with another one, or without."""

    def fail(_: lm15.Request) -> None:
        raise lm15.AuthError("the key was refused", provider="test")

    coach, _ = counted("coach", before=fail)
    with pytest.raises(ModelError):
        room.optimize(room.plan("gepa"), tmp_path / "out", reflection=coach)
    assert read_optimization(tmp_path / "out").stopped == "interrupted"


def test_a_program_that_cannot_run_at_all_ends_it(room: Classroom, tmp_path: Path) -> None:
    """What concerns all rollouts is raised, where an optimizer would make zeros of it."""

    def refuse(_: lm15.Request) -> None:
        raise lm15.AuthError("the key was refused", provider="test")

    lm, _ = counted("pupil", before=refuse)
    with pytest.raises(UserError):
        room.optimize(room.plan("bootstrap"), tmp_path / "out", program=MapReduce(lm=lm))


def test_a_bug_of_the_harness_is_no_score(
    room: Classroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception in scoring is raised as what it is: DSPy's optimizers would go on with 0."""

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("evals.optimization.trainee.score", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        room.optimize(room.plan("simba"), tmp_path / "out")


def test_an_answer_that_fails_is_a_zero_and_the_rest_goes_on(
    room: Classroom, tmp_path: Path
) -> None:
    """A rollout that ends in an error is recorded with what it spent, counts as 0, and stops nothing."""
    times = [0]

    def sometimes(_: lm15.Request) -> None:
        times[0] += 1
        if times[0] == 9:
            raise KeyError("a bug of an engine")

    lm, _ = counted("pupil", before=sometimes)
    found = room.optimize(
        room.plan("bootstrap", test_limit=1), tmp_path / "out", program=MapReduce(lm=lm)
    )
    assert found.best is not None
    kept = (tmp_path / "out" / "rollouts.jsonl").read_text(encoding="utf-8")
    assert '"state": "error"' in kept


def test_too_many_errors_are_no_scores_and_are_tried_again_when_mended(
    room: Classroom, tmp_path: Path
) -> None:
    """An outage is not taken for bad candidates: the search stops, says why, and goes on when it is over."""
    down = [True]

    def outage(_: lm15.Request) -> None:
        if down[0]:
            raise KeyError("out of order")

    lm, _ = counted("pupil", before=outage)
    plan = room.plan("bootstrap", test_limit=1)
    with pytest.raises(RunError, match=r"4 of 4 rollouts ended in errors \(4 \w+\)"):
        room.optimize(plan, tmp_path / "out", program=MapReduce(lm=lm))
    down[0] = False
    with pytest.raises(RunError, match="ended in errors"):
        room.optimize(plan, tmp_path / "out", program=MapReduce(lm=lm))
    found = room.optimize(plan, tmp_path / "out", program=MapReduce(lm=lm), retry_errors=True)
    whole = room.optimize(plan, tmp_path / "whole")
    assert found.best is not None
    assert whole.best is not None
    assert (found.best.id, found.best.score) == (whole.best.id, whole.best.score)


def test_two_threads_that_ask_for_the_same_rollout_make_one(tmp_path: Path) -> None:
    """dspy#9574: DSPy runs the last items of a batch twice when they take two minutes. Only one is paid for."""
    log = RolloutLog(tmp_path / "rollouts.jsonl")
    made = [0]
    both = threading.Barrier(2, timeout=10)

    def make() -> Rollout:
        made[0] += 1
        record = SampleRecord(
            program="p", question_id="q", epoch=1, state="error", seconds=0.0, started="now"
        )
        return Rollout(candidate="c", question_id="q", record=record)

    def ask() -> Rollout:
        both.wait()
        return log.once(("c", "q", ""), make)

    with ThreadPoolExecutor(2) as pool:
        first, second = [each.result() for each in [pool.submit(ask), pool.submit(ask)]]
    log.close()
    assert first is second
    assert made == [1]
    assert len((tmp_path / "rollouts.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimizer": "grpo"}, "there is no optimizer"),
        ({"auto": "light"}, "both given"),
        ({"auto": "huge", "budget": None}, "there is no effort"),
        ({"threshold": 0.0}, "above 0"),
        ({"options": {"temperature": 3}}, "option"),
        ({"options": {"num_threads": 3}}, "option"),
        ({"options": {"max_rounds": "two"}}, "max_rounds of bootstrap is 'two'"),
        ({"options": {"max_rounds": 0}}, "at least 1"),
        ({"options": {"teacher_settings": {}}}, "for programs that call DSPy themselves"),
        ({"threads": 0}, "threads is 0"),
        ({"max_demos": -1}, "none are allowed"),
        ({"test_limit": 0}, "test_limit is 0"),
    ],
)
def test_a_mistake_in_the_plan_is_told_before_anything_is_done(
    room: Classroom, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    """One message with what to do; a threshold of 0 would make a demo of every rollout (dspy#10473)."""
    given = {"optimizer": "bootstrap", **settings}
    with pytest.raises(UserError, match=message):
        room.optimize(room.plan(given.pop("optimizer"), **given), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_set_of_too_few_documents_is_refused(room: Classroom, tmp_path: Path) -> None:
    """Splits are by document: without a document for each there is no optimization."""
    only = room.made.questions[:2]
    made = room.made.model_copy(
        update={"questions": tuple(e.model_copy(update={"split": "test"}) for e in only)}
    )
    with pytest.raises(QuestionSetError, match="too few documents"):
        Classroom(room.folder, room.store, made).optimize(room.plan("bootstrap"), tmp_path / "out")


def test_whole_corpora_are_dealt_out_where_there_are_enough_and_else_it_is_said(
    room: Classroom, tmp_path: Path
) -> None:
    """A program reads whole corpora: no test document is read for a train question where that can be had."""
    store = tmp_path / "store"
    many = build_family("needles", Order(questions=36, store=store), tmp_path / "many")
    few = build_family("needles", Order(questions=12, store=store), tmp_path / "few")
    found = {
        name: _shared(made, tmp_path / name, store, room.plan("bootstrap", train_limit=None))
        for name, made in (("many", many), ("few", few))
    }
    assert found["many"] == ()
    assert len(found["few"]) > 0


def _shared(made: QuestionSet, folder: Path, store: Path, plan: Plan) -> tuple[str, ...]:
    where = Classroom(folder, store, made)
    dealt, splits = split(made, where.corpora, replace(plan, test_limit=None))
    return shared_corpora(dealt, splits)


def test_a_teacher_lends_its_rollouts_and_its_calls_are_counted(
    room: Classroom, tmp_path: Path
) -> None:
    """Demos come from the teacher's rollouts; its scores are none of the candidate's, its calls are in the sum."""
    lm, engine = counted("pupil:drop=1.0")
    master, taught = counted("extractive")
    found = optimize(
        MapReduce(lm=lm),
        room.made,
        room.corpora,
        tmp_path / "out",
        room.plan("bootstrap", test_limit=1, objective=BALANCED),
        teacher=MapReduce(lm=master),
    )
    tested = sum(
        each.score.calls for each in (found.test.records if found.test else ()) if each.score
    )
    assert taught.calls > 0
    assert found.spent.calls == engine.calls + taught.calls - tested
    assert found.best is not None
    assert found.best.order == 1
    with pytest.raises(UserError, match="takes no teacher"):
        room.plan("gepa").check(reflects=True, taught=True)
