"""Estimates: a measure of one program over questions, with its interval and with what it leaves out."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.contenders import Contender
from evals.intervals import mean_interval
from evals.measures import Measure
from evals.stats import Interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean over `questions`, None without any; `undefined` questions have no value. `interval` may not exist."""

    mean: float | None
    interval: Interval | None
    questions: int
    undefined: int


def estimate(
    contender: Contender,
    measure: Measure,
    cluster_of: Mapping[str, str],
    within: Iterable[str] | None = None,
    *,
    seed: int = 0,
) -> Estimate:
    """The mean of a measure with its 95 % interval (see evals/intervals.py)."""
    chosen = None if within is None else set(within)
    values = {
        question: value
        for question, value in contender.values(measure).items()
        if chosen is None or question in chosen
    }
    known = {question: value for question, value in values.items() if value is not None}
    found = list(known.values())
    return Estimate(
        mean=math.fsum(found) / len(found) if found else None,
        interval=mean_interval(known, cluster_of, seed, bounded=measure.unit == "share"),
        questions=len(found),
        undefined=len(values) - len(found),
    )
