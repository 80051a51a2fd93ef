"""Gains: an optimization's best candidate held against the program as it was given, paired, on two kinds of questions.

The candidate was chosen by its scores on the validation questions, so that its gain there is too high. That on the test
questions, which no optimizer has seen, is the one to believe.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from evals.compare import Comparison, compare
from evals.contenders import contenders
from evals.log import EvalLog, SampleRecord
from evals.manifest import Manifest
from evals.measures import MEASURES, Measure
from evals.objective import Objective, grade
from evals.optimization.results import Optimized
from evals.optimization.rollouts import ROLLOUTS, of_candidate, read_rollouts
from evals.picks import SCORE
from evals.results import ProgramResult, results

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Side:
    """One of the two programs: its mean score (an error counts as 0), and what an evaluation says of it."""

    name: str
    score: float | None
    result: ProgramResult


@dataclass(frozen=True)
class Gain:
    """Before and after on one kind of questions. `comparison` is None where the best is the program as it was given.

    `missing` samples were not evaluated: the comparison was interrupted.
    """

    split: Literal["validation", "test"]
    sides: tuple[Side, ...]
    comparison: Comparison | None
    missing: int


def gains(found: Optimized) -> tuple[Gain, ...]:
    """What was gained on validation questions, and on test questions where that was measured."""
    if found.best is None or found.seed is None:
        return ()
    logs: dict[Literal["validation", "test"], EvalLog | None] = {
        "validation": _validation(found),
        "test": found.test,
    }
    return tuple(
        _gain(split, log, found.manifest.objective)
        for split, log in logs.items()
        if log is not None and log.records
    )


def score_measure(objective: Objective) -> Measure:
    """The score that is optimized, as a measure: an error has one, which is 0."""
    return Measure(SCORE, "share", True, lambda record: grade(record, objective).score)


def _gain(split: Literal["validation", "test"], log: EvalLog, objective: Objective) -> Gain:
    entered = contenders([log])
    comparison = None
    if len(entered) == 2 and all(each.records for each in entered):
        measures = (score_measure(objective), *MEASURES.values())
        comparison = compare(entered[0], entered[1], measures, seed=log.manifest.seed)
    sides = tuple(
        Side(each.program, _mean(log.of(each.program), objective), each)
        for each in results(log).programs
    )
    return Gain(split, sides, comparison, len(log.missing))


def _mean(records: Iterable[SampleRecord], objective: Objective) -> float | None:
    scores = [grade(each, objective).score for each in records]
    return fmean(scores) if scores else None


def _validation(found: Optimized) -> EvalLog:
    """The rollouts of both on validation questions, as the log of an evaluation."""
    assert found.best is not None
    assert found.seed is not None
    manifest, ids = found.manifest, found.manifest.splits.validation
    chosen = {BEFORE: found.seed} | ({AFTER: found.best} if found.best != found.seed else {})
    rollouts = read_rollouts(found.folder / ROLLOUTS)
    records = {
        (name, each.question_id): each.record.model_copy(update={"program": name})
        for name, candidate in chosen.items()
        for each in of_candidate(rollouts, candidate.id)
    }
    as_log = Manifest(
        question_set=manifest.question_set,
        programs={
            name: manifest.program.model_copy(update={"state": each.id})
            for name, each in chosen.items()
        },
        questions=ids,
        epochs=1,
        limit=None,
        seed=manifest.seed,
        split="validation",
        versions=manifest.versions,
        code=manifest.code,
    )
    ordered = (records[key] for id in ids for name in chosen if (key := (name, id)) in records)
    return EvalLog(found.folder, as_log, tuple(ordered))
