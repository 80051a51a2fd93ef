"""Results: what a log says of each program, as a table and as JSON.

Everything but `latency` follows from the answers alone: two evaluations under the same seed agree byte for byte.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evals.contenders import Contender, clusters_of, contenders
from evals.estimates import estimate
from evals.log import EvalLog, JudgeName, SampleRecord, stable
from evals.measures import MEASURES
from evals.stats import quantile_interval, quantile_nearest
from evals.summary import Summary, summary
from evals.support import Support, support

Shown = Literal["verified_correct", "correct", "evidence_recall", "citation_precision"]
SHOWN: tuple[Shown, ...] = Shown.__args__
"""The metrics that are given with their intervals, the headline first."""


class Row(BaseModel):
    """Base of what results hold: frozen, JSON without NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Estimated(Row):
    """A mean with its 95 % interval over documents. None where it does not exist; `undefined` questions have none."""

    mean: float | None
    low: float | None
    high: float | None
    questions: int
    undefined: int


class Latency(Row):
    """Wall seconds of `timed` samples (nearest rank); `cached` ones and errors are left out.

    The ends of the interval of P95 are None where there are too few samples for one.
    """

    timed: int
    cached: int
    median: float | None
    p95: float | None
    p95_low: float | None
    p95_high: float | None


class ProgramResult(Row):
    """One program. `errors` are samples without an answer: they are in no metric but `of_all` of the summary.

    `failed` are answers that say that the program failed: undefined like errors, but neither counted nor tried again
    as such. `retried` samples took several attempts, `unscored` answers have no score yet. `calls` and `tokens` include
    those of failed attempts, and not a judge's; what `attempts_unaccounted` failed attempts used is not known.
    """

    program: str
    planned: int
    samples: int
    errors: int
    error_classes: dict[str, int]
    failed: int
    retried: tuple[str, ...]
    unscored: int
    calls: int
    tokens: int
    attempts_unaccounted: int
    estimates: dict[Shown, Estimated]
    support: Support
    summary: Summary


class Results(Row):
    """A whole log. `digest` is over all records without clocks and run ids: equal digests are equal evaluations.

    `judge` is the support judge of its scores, None without one.
    """

    question_set: str
    set_version: str
    questions: int
    epochs: int
    seed: int
    identity: str
    digest: str
    complete: bool
    rescored: bool
    judge: JudgeName | None
    programs: tuple[ProgramResult, ...]
    latency: dict[str, Latency]


def results(log: EvalLog) -> Results:
    """What a log says. Its intervals are drawn by the seed of the evaluation."""
    entered = contenders([log])
    documents = clusters_of(entered)
    manifest = log.manifest
    return Results(
        question_set=manifest.question_set.name,
        set_version=manifest.question_set.version,
        questions=len(manifest.questions),
        epochs=manifest.epochs,
        seed=manifest.seed,
        identity=manifest.identity,
        digest=digest(log),
        complete=not log.missing,
        rescored=log.rescored,
        judge=log.judge,
        programs=tuple(_program(each, documents) for each in entered),
        latency={each.program: latency(each.records) for each in entered},
    )


def digest(log: EvalLog) -> str:
    """16 hex digits over what does not differ between two runs of the same evaluation."""
    found = hashlib.sha256()
    for record in log.records:
        plain = json.dumps(stable(record), sort_keys=True, default=str)
        found.update(plain.encode() + b"\n")
    return found.hexdigest()[:16]


def estimated(contender: Contender, name: str, documents: Mapping[str, str]) -> Estimated:
    """A measure of a program by its name, over the clusters of `documents`, by the seed of its evaluation."""
    found = estimate(contender, MEASURES[name], documents, seed=contender.log.manifest.seed)
    low, high = found.interval or (None, None)
    return Estimated(
        mean=found.mean,
        low=low,
        high=high,
        questions=found.questions,
        undefined=found.undefined,
    )


def latency(records: tuple[SampleRecord, ...]) -> Latency:
    """The seconds of those samples whose seconds say something."""
    done = [each for each in records if each.state == "done"]
    seconds = [each.seconds for each in done if not each.cached]
    bounds = quantile_interval(seconds, 0.95)
    return Latency(
        timed=len(seconds),
        cached=len(done) - len(seconds),
        median=quantile_nearest(seconds, 0.5),
        p95=quantile_nearest(seconds, 0.95),
        p95_low=bounds.low,
        p95_high=bounds.high,
    )


def _program(entered: Contender, documents: dict[str, str]) -> ProgramResult:
    records, manifest = entered.records, entered.log.manifest
    scores = [each.score for each in records if each.score is not None]
    attempts = [each.spent for record in records for each in record.failures]
    spent = [each for each in attempts if each is not None]
    errors = [each for each in records if each.state == "error"]
    classes = [each.error_class for each in errors]
    return ProgramResult(
        program=entered.program,
        planned=len(manifest.questions) * manifest.epochs,
        samples=len(records),
        errors=len(errors),
        error_classes={name: classes.count(name) for name in sorted(set(classes))},
        failed=sum(each.failed for each in records),
        retried=tuple(each.question_id for each in records if each.retries),
        unscored=len(records) - len(errors) - len(scores),
        calls=sum(each.calls for each in (*scores, *spent)),
        tokens=sum(each.input_tokens + each.output_tokens for each in (*scores, *spent)),
        attempts_unaccounted=len(attempts) - len(spent),
        estimates={name: estimated(entered, name, documents) for name in SHOWN},
        support=support(scores, documents, seed=manifest.seed),
        summary=_timeless(
            summary(scores, epochs=manifest.epochs, errors=_kinds(errors, entered.log))
        ),
    )


def _kinds(errors: list[SampleRecord], log: EvalLog) -> list[str | None]:
    """The kinds of questions that ended in errors, as another program or epoch has them; not of ungraded questions."""
    scores = {each.question_id: each.score for each in log.records if each.score is not None}
    ungraded = {
        each.question_id
        for each in log.records
        if each.score is not None and each.score.correctness == "ungraded"
    }
    graded = (scores.get(each.question_id) for each in errors if each.question_id not in ungraded)
    return [each.kind if each else None for each in graded]


def _timeless(found: Summary) -> Summary:
    """A summary without its seconds, which `latency` has."""
    costs = found.costs.model_copy(update={"seconds_median": None, "seconds_p95": None})
    kinds = {kind: _timeless(each) for kind, each in found.by_kind.items()}
    return found.model_copy(update={"costs": costs, "by_kind": kinds})
