"""Gains: before and after, paired, from the records of an optimization."""

from dataclasses import replace
from pathlib import Path

import pytest

from evals.gains import gains, score_measure
from evals.objective import grade
from evals.optimization import Optimized
from evals.report.optimization_page import optimization_page, rendered_optimization
from tests.evals.optimization.classroom import Classroom


@pytest.fixture(scope="module")
def found(room: Classroom, tmp_path_factory: pytest.TempPathFactory) -> Optimized:
    """An optimization whose best candidate is not the program as it was given."""
    plan = room.plan("gepa", seed=2, budget=30)
    made = room.optimize(plan, tmp_path_factory.mktemp("gains") / "out")
    assert made.best != made.seed
    return made


def test_before_and_after_are_compared_on_validation_and_test_questions(found: Optimized) -> None:
    validation, test = gains(found)
    assert (validation.split, test.split) == ("validation", "test")
    for gain, ids in (
        (validation, found.manifest.splits.validation),
        (test, found.manifest.splits.test),
    ):
        assert [side.name for side in gain.sides] == ["before", "after"]
        assert {side.result.samples for side in gain.sides} == {len(ids)}
        assert gain.missing == 0
        assert gain.comparison is not None
        assert gain.comparison.of("score").pairs == len(ids)


def test_the_scores_are_those_by_which_the_best_was_chosen(found: Optimized) -> None:
    validation = gains(found)[0]
    before, after = validation.sides
    assert found.seed is not None
    assert found.best is not None
    assert before.score == pytest.approx(found.seed.score)
    assert after.score == pytest.approx(found.best.score)
    assert validation.comparison is not None
    difference = validation.comparison.of("score")
    assert (difference.before, difference.after) == pytest.approx((before.score, after.score))


def test_an_error_scores_0_and_is_no_pair_of_other_measures(found: Optimized) -> None:
    assert found.test is not None
    first, *others = found.test.records
    failed = first.model_copy(
        update={"state": "error", "answer": None, "score": None, "error_class": "timeout"}
    )
    log = replace(found.test, records=(failed, *others))
    test = gains(replace(found, test=log))[1]
    assert test.comparison is not None
    assert test.comparison.of("score").pairs == len(found.manifest.splits.test)
    assert test.comparison.of("calls").pairs == len(found.manifest.splits.test) - 1
    measure = score_measure(found.manifest.objective)
    assert measure.value(failed) == grade(failed, found.manifest.objective).score == 0
    page = optimization_page(replace(found, test=log))
    assert any("ended in an error. Each scores 0" in each for each in page.cautions)


def test_what_was_not_tested_yet_is_missing(found: Optimized) -> None:
    assert found.test is not None
    cut = replace(found, test=replace(found.test, records=found.test.records[:-2]))
    assert gains(cut)[1].missing == 2
    untested = replace(found, test=None, stopped="interrupted", unbundled="it holds gold")
    assert [each.split for each in gains(untested)] == ["validation"]
    page = optimization_page(untested)
    assert "was not tested yet" in page.verdict
    assert any("interrupted" in each for each in page.cautions)
    assert "The best is no bundle: it holds gold" in page.cautions


def test_nothing_is_compared_where_nothing_was_better(found: Optimized) -> None:
    unchanged = replace(found, best=found.seed, test=None)
    [validation] = gains(unchanged)
    assert [side.name for side in validation.sides] == ["before"]
    assert validation.comparison is None
    page = optimization_page(unchanged)
    assert page.verdict.startswith("Nothing beat the program as it was given")
    assert page.changes == ()


def test_without_a_complete_candidate_there_is_nothing_to_compare(
    found: Optimized, tmp_path: Path
) -> None:
    empty = replace(found, best=None, candidates=(), proposals=(), test=None)
    assert gains(empty) == ()
    assert "No candidate was run on all validation questions yet." in rendered_optimization(empty)
