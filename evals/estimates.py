"""Estimates: a measure of one program over questions, with its interval and with what it leaves out."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.clusters import grouped
from evals.contenders import Contender
from evals.measures import Measure
from evals.metrics import Ratio
from evals.stats import Interval, cluster_bootstrap_ratio, wilson


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
    """The mean of a measure with its 95 % interval: documents resampled, near 0 and 1 that of Wilson."""
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


def mean_interval(
    known: Mapping[str, float], cluster_of: Mapping[str, str], seed: int, *, bounded: bool = True
) -> Interval | None:
    """The interval of a mean of shares (`bounded`) or numbers by question. None where it does not exist."""
    found = list(known.values())
    if len(set(found)) == 1:
        # Resampling what is all the same sees no spread; of what is not bounded by 0 and 1 nothing else does.
        return wilson(sum(found), len(found)) if bounded and found[0] in (0, 1) else None
    groups = grouped(known.items(), cluster_of)
    return cluster_bootstrap_ratio(
        {name: [Ratio(each, 1) for each in values] for name, values in groups.items()}, seed=seed
    )
