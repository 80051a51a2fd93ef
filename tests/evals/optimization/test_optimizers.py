"""What each optimizer does to each program, whatever it says of it itself."""

from pathlib import Path

import pytest

from evals.optimization import OPTIMIZERS, Optimized
from evals.optimization.candidates import State
from programs.base import Program
from programs.baselines import ChainOfThought, MapReduce, ReAct, Retrieve
from programs.program_state import state_of
from programs.recursive import Recursive
from programs.rlm import RLM
from tests.evals.optimization.classroom import Classroom, counted, told

PROGRAMS = {"recursive": Recursive, "rlm": RLM, "retrieve": Retrieve}
INSTRUCTIONS, DEMOS = "instructions", "demos"
CHANGES = {
    "gepa": {INSTRUCTIONS},
    "mipro": {INSTRUCTIONS, DEMOS},
    "bootstrap": {DEMOS},
    "bootstrap-rs": {DEMOS},
    "simba": {INSTRUCTIONS, DEMOS},
}


def changed(before: State, after: State) -> set[str]:
    """What differs between two states: instructions, demos."""
    return {
        part
        for name, each in before.items()
        for part in (INSTRUCTIONS, DEMOS)
        if each[part] != after[name][part]
    }


def all_changes(found: Optimized) -> set[str]:
    """What differs from the program as it was given in any candidate."""
    assert found.seed is not None
    return {part for each in found.candidates[1:] for part in changed(found.seed.state, each.state)}


def best_score(found: Optimized) -> float:
    """What the best candidate scored on the validation questions."""
    assert found.best is not None
    assert found.best.score is not None
    return found.best.score


def seed_score(found: Optimized) -> float:
    """What the program as it was given scored there."""
    assert found.seed is not None
    assert found.seed.score is not None
    return found.seed.score


def calls_of_test(found: Optimized) -> int:
    """Calls of the comparison before and after, which are not of the search."""
    records = found.test.records if found.test else ()
    return sum(each.score.calls for each in records if each.score)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_optimizer_runs_on_each_program_and_changes_what_it_should(
    room: Classroom, tmp_path: Path, optimizer: str, name: str
) -> None:
    """New candidates come of it, differing in what this optimizer may change; the program itself stays as it was.

    The calls that are reported are those that the engines were asked, the ones of the reflecting model too (GEPA's
    feedback calls are counted nowhere by GEPA itself); the budget is kept, and no test question was asked before.
    """
    lm, engine = counted("pupil")
    coach, reflecting = counted("coach")
    program: Program = PROGRAMS[name](lm=lm)
    before = state_of(program)
    found = room.optimize(
        room.plan(optimizer, budget=26, train_limit=4, validation_limit=3, test_limit=1),
        tmp_path / "out",
        program=program,
        reflection=coach,
    )
    assert state_of(program) == before
    assert len(found.candidates) > 1
    assert set() < all_changes(found) <= CHANGES[optimizer]
    assert found.rollouts <= 26
    assert best_score(found) >= seed_score(found)
    tested = sum(
        each.score.calls for each in (found.test.records if found.test else ()) if each.score
    )
    assert found.spent.calls == engine.calls - tested
    assert found.spent.reflection_calls == reflecting.calls


@pytest.mark.parametrize("optimizer", ["gepa", "bootstrap"])
@pytest.mark.parametrize("name", ["cot", "react", "rlm:repl"])
def test_programs_with_loops_and_thoughts_of_dspys_own_can_be_optimized(
    room: Classroom, tmp_path: Path, optimizer: str, name: str
) -> None:
    """Predictors that DSPy holds (a thought before a quote, its tool loop, its cells of code) are seen and changed."""
    lm, _ = counted("pupil")
    made: dict[str, Program] = {
        "cot": ChainOfThought(lm=lm),
        "react": ReAct(lm=lm),
        "rlm:repl": RLM(lm=lm, action_space="repl"),
    }
    plan = room.plan(optimizer, budget=26, train_limit=4, validation_limit=3, test_limit=1)
    found = room.optimize(plan, tmp_path / "out", program=made[name])
    assert set() < all_changes(found) <= CHANGES[optimizer]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_same_seed_gives_the_same_candidates(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """With one thread an optimization is deterministic under its seed."""
    first = room.optimize(room.plan(optimizer, test_limit=1), tmp_path / "a")
    second = room.optimize(room.plan(optimizer, test_limit=1), tmp_path / "b")
    assert told(first) == told(second)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_seed_is_heeded_zero_like_any_other(
    room: Classroom, tmp_path: Path, optimizer: str
) -> None:
    """Another seed gives another search, also for the seed 0, which MIPROv2 takes for none, and for the bootstrapping
    optimizers, which have no seed; splits are drawn by it as well (verifiers PR #747)."""
    searches = []
    for seed in (0, 1, 2):
        plan = room.plan(optimizer, seed=seed, train_limit=5, budget=30, test_limit=1)
        found = room.optimize(plan, tmp_path / str(seed))
        searches.append([each.id for each in found.candidates[1:]])
    assert searches[0] != searches[1] or searches[1] != searches[2]


def test_what_was_optimized_scores_higher_on_questions_that_it_never_saw(
    room: Classroom, tmp_path: Path
) -> None:
    """The pupil, a stand-in that errs as its instructions let it, gains on the test split too."""
    plan = room.plan("gepa", budget=120, test_limit=None, train_limit=None, validation_limit=None)
    found = room.optimize(plan, tmp_path / "out")
    assert found.test is not None
    assert best_score(found) > seed_score(found)
    rates = {
        name: sum(e.score.correct.value or 0 for e in found.test.of(name) if e.score)
        for name in ("before", "after")
    }
    assert rates["after"] > rates["before"]


def test_several_threads_come_to_a_whole_result(room: Classroom, tmp_path: Path) -> None:
    """With more threads which rollouts are made may differ; what was made is counted and kept all the same."""
    lm, engine = counted("pupil")
    found = room.optimize(
        room.plan("bootstrap-rs", threads=4, test_limit=1),
        tmp_path / "out",
        program=MapReduce(lm=lm),
    )
    tested = sum(
        each.score.calls for each in (found.test.records if found.test else ()) if each.score
    )
    assert found.spent.calls == engine.calls - tested
    assert found.best is not None
