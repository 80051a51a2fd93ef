"""Trials: what the configurations of a sweep came to, which of them no other one beats, and how they differ from the
default.

Quality is held against each cost by itself: a front a cost. Differences are paired by question. A configuration that is
the best of many by chance looks better than it is, so p-values of the quality are adjusted for their number (Holm).
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from evals.compare import compare
from evals.contenders import Contender, clusters_of, contenders
from evals.log import EvalLog
from evals.measures import MEASURES
from evals.pareto import Point, front, shortfall
from evals.results import Estimated, Row, Shown, digest, estimated
from evals.stats import holm
from evals.sweep import Configuration, Value

Cost = Literal["tokens", "calls", "seconds"]
COSTS: tuple[Cost, ...] = Cost.__args__
"""What quality is held against, each a mean a question."""
QUALITIES: tuple[Shown, ...] = ("evidence_recall", "citation_precision", "verified_correct")
"""What a configuration is measured by; `correct` is part of the last."""
_SHOWN = (*QUALITIES, *COSTS)


class Gain(Row):
    """The paired difference of a configuration to the default, over `pairs` questions of `clusters` of documents.

    None where it does not exist. `p_holm` is that of the quality, adjusted among all configurations.
    """

    delta: float | None
    low: float | None
    high: float | None
    pairs: int
    clusters: int
    better: int
    worse: int
    p: float | None
    p_holm: float | None


class Trial(Row):
    """One configuration. `number` is its place in the sweep, 0 for the default, whose `gains` are empty.

    `fronts` says by cost whether no other configuration has at least its quality for less, or more for as much;
    `shortfalls` how much more quality another one has for at most as much. None where the quality is undefined.
    """

    number: int
    name: str
    choices: dict[str, Value]
    samples: int
    errors: int
    means: dict[str, Estimated]
    fronts: dict[Cost, bool]
    shortfalls: dict[Cost, float | None]
    gains: dict[str, Gain]


class Trials(Row):
    """A whole sweep. `quality` is what its fronts are about."""

    program: str
    quality: Shown
    question_set: str
    set_version: str
    split: str | None
    seed: int
    questions: int
    epochs: int
    identity: str
    digest: str
    complete: bool
    trials: tuple[Trial, ...]

    @property
    def default(self) -> Trial:
        """The program as it is when nothing is chosen."""
        return self.trials[0]


def trials(
    log: EvalLog, chosen: Sequence[Configuration], quality: Shown = "evidence_recall"
) -> Trials:
    """What a sweep came to. `chosen` are its configurations, the default first.

    Raises RunError where the log does not have them.
    """
    entered = contenders([log], [each.name for each in chosen])
    by_name = {each.program: each for each in entered}
    ordered = [by_name[each.name] for each in chosen]
    means = _means(ordered)
    gains = _gains(ordered, quality, log.manifest.seed)
    points = [_point(each.program, means[each.program], quality) for each in ordered]
    best = {cost: {each.name for each in front(points, by=(cost,))} for cost in COSTS}
    manifest = log.manifest
    return Trials(
        program=chosen[0].program,
        quality=quality,
        question_set=manifest.question_set.name,
        set_version=manifest.question_set.version,
        split=manifest.split,
        seed=manifest.seed,
        questions=len(manifest.questions),
        epochs=manifest.epochs,
        identity=manifest.identity,
        digest=digest(log),
        complete=not log.missing,
        trials=tuple(
            Trial(
                number=number,
                name=each.name,
                choices=dict(each.choices),
                samples=len(by_name[each.name].records),
                errors=by_name[each.name].errors(),
                means=means[each.name],
                fronts={cost: each.name in best[cost] for cost in COSTS},
                shortfalls={cost: _short(points[number], points, cost) for cost in COSTS},
                gains=gains.get(each.name, {}),
            )
            for number, each in enumerate(chosen)
        ),
    )


def _means(entered: Sequence[Contender]) -> dict[str, dict[str, Estimated]]:
    documents = clusters_of(entered)
    return {
        each.program: {name: estimated(each, name, documents) for name in _SHOWN}
        for each in entered
    }


def _point(name: str, means: Mapping[str, Estimated], quality: Shown) -> Point:
    return Point(name, means[quality].mean, {cost: means[cost].mean for cost in COSTS})


def _short(point: Point, points: Sequence[Point], cost: Cost) -> float | None:
    return None if point.quality is None else shortfall(point, points, by=(cost,))


def _gains(ordered: Sequence[Contender], quality: Shown, seed: int) -> dict[str, dict[str, Gain]]:
    default, *others = ordered
    measures = [MEASURES[name] for name in _SHOWN]
    found = {each.program: compare(default, each, measures, seed=seed) for each in others}
    tested = {name: each.of(quality).p for name, each in found.items()}
    adjusted = holm({name: p for name, p in tested.items() if p is not None})
    return {
        name: {
            each.measure: Gain(
                delta=each.delta,
                low=each.interval.low if each.interval else None,
                high=each.interval.high if each.interval else None,
                pairs=each.pairs,
                clusters=each.clusters,
                better=len(each.gained),
                worse=len(each.lost),
                p=each.p,
                p_holm=adjusted.get(name) if each.measure == quality else None,
            )
            for each in compared.differences
        }
        for name, compared in found.items()
    }
