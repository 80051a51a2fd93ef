"""Compare: two programs on the same questions: paired differences, intervals, tests, and the questions that flipped.

Pairs are questions; epochs of one are averaged first, without those that ended in an error. What is undefined in one of
the two, or an error in all epochs, is no pair and is counted. Intervals resample documents, since questions on one
document correlate; p-values take each pair as independent of the others, so they are too small where those correlate.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evals.contenders import Contender, clusters_of
from evals.intervals import difference_interval
from evals.measures import MEASURES, PRIMARY, Measure
from evals.power import power_note, smallest_flip_difference, smallest_mean_difference
from evals.stats import (
    Interval,
    holm,
    mcnemar_exact,
    paired,
    paired_signflip,
)

Test = Literal["mcnemar", "sign-flip"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of two programs over `pairs` questions. Means and `delta` (after minus before) are None without a pair.

    `interval` is None where it does not exist (fewer than two clusters). `p_holm` is adjusted among PRIMARY.
    `gained` and `lost` are the questions on which the second is better and worse, the largest difference first.
    `undefined` questions have no value in one of the two, `unpaired` are in one alone. `failed` ones lack a sample in
    one of the two by an error, or since it was not evaluated; `thinned` of these are pairs by their other epochs.
    `errors` are the samples that ended in an error, before and after.
    """

    measure: str
    pairs: int
    clusters: int
    before: float | None
    after: float | None
    delta: float | None
    interval: Interval | None
    test: Test
    p: float | None
    p_holm: float | None
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    undefined: tuple[str, ...]
    failed: tuple[str, ...]
    thinned: tuple[str, ...]
    errors: tuple[int, int]
    unpaired: tuple[str, ...]
    power: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two programs, `after` held against `before`, by some measures."""

    before: str
    after: str
    differences: tuple[Difference, ...]

    def of(self, measure: str) -> Difference:
        """The difference by a measure. Raises KeyError."""
        return {each.measure: each for each in self.differences}[measure]


def compare(
    before: Contender,
    after: Contender,
    measures: Sequence[Measure] = tuple(MEASURES.values()),
    *,
    questions: Iterable[str] | None = None,
    seed: int = 0,
) -> Comparison:
    """Two programs compared, on some of the questions or on all."""
    within = None if questions is None else set(questions)
    cluster_of = clusters_of([before, after])
    found = [difference(before, after, each, cluster_of, within, seed=seed) for each in measures]
    adjusted = holm({d.measure: d.p for d in found if d.measure in PRIMARY and d.p is not None})
    return Comparison(
        before.label,
        after.label,
        tuple(replace(each, p_holm=adjusted.get(each.measure)) for each in found),
    )


def difference(
    before: Contender,
    after: Contender,
    measure: Measure,
    cluster_of: Mapping[str, str],
    within: set[str] | None = None,
    *,
    seed: int = 0,
) -> Difference:
    """The difference by one measure, its p-value not adjusted."""
    first, second = (_within(each.values(measure), within) for each in (before, after))
    if measure.name == "unsupported" and before.log.judge != after.log.judge:
        # Other judges call other statements unsupported: their rates are not of one kind.
        first = dict.fromkeys(first)
    pairs = paired(first, second)
    deltas = pairs.differences
    gains = {question: measure.gain(delta) for question, delta in deltas.items()}
    flags = all(value in (0, 1) for each in (first, second) for value in _known(each, deltas))
    flags = flags and measure.unit == "share"
    gained = _ordered({question: -gain for question, gain in gains.items() if gain > 0})
    lost = _ordered({question: gain for question, gain in gains.items() if gain < 0})
    failed = (before.lost_samples.keys() | after.lost_samples) & (
        deltas.keys() | set(pairs.undefined)
    )
    return Difference(
        measure=measure.name,
        pairs=len(deltas),
        clusters=len({cluster_of[each] for each in deltas}),
        before=_mean(_known(first, deltas)),
        after=_mean(_known(second, deltas)),
        delta=_mean(list(deltas.values())),
        interval=difference_interval(
            deltas, cluster_of, bounded=measure.unit == "share", seed=seed
        ),
        test="mcnemar" if flags else "sign-flip",
        p=_p(deltas, len(gained), len(lost), flags=flags, seed=seed),
        p_holm=None,
        gained=gained,
        lost=lost,
        undefined=tuple(each for each in pairs.undefined if each not in failed),
        failed=tuple(sorted(failed)),
        thinned=tuple(sorted(failed & deltas.keys())),
        errors=(before.errors(within), after.errors(within)),
        unpaired=pairs.unpaired,
        power=_power(list(deltas.values()), measure, flags=flags),
    )


def _p(
    deltas: Mapping[str, float], gained: int, lost: int, *, flags: bool, seed: int
) -> float | None:
    if not deltas:
        return None
    return mcnemar_exact(gained, lost) if flags else paired_signflip(deltas.values(), seed=seed)


def _power(deltas: Sequence[float], measure: Measure, *, flags: bool) -> str:
    if measure.unit != "share" or not deltas:
        return ""
    n = len(deltas)
    if flags:
        smallest = smallest_flip_difference(n, sum(each != 0 for each in deltas) / n)
        # Nothing that flipped says nothing about how much would: what ten points of flips would need is told.
        smallest = smallest_flip_difference(n, 0.1) if smallest is None else smallest
    else:
        smallest = smallest_mean_difference(n, _deviation(deltas))
    return power_note(n, smallest, measure.title)


def _deviation(deltas: Sequence[float]) -> float:
    if len(deltas) < 2:
        return 0.0
    middle = math.fsum(deltas) / len(deltas)
    return math.sqrt(math.fsum((each - middle) ** 2 for each in deltas) / (len(deltas) - 1))


def _within(values: Mapping[str, float | None], within: set[str] | None) -> dict[str, float | None]:
    return {each: value for each, value in values.items() if within is None or each in within}


def _known(values: Mapping[str, float | None], pairs: Iterable[str]) -> list[float]:
    return [value for each in pairs if (value := values[each]) is not None]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _ordered(sizes: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(sizes, key=lambda each: (sizes[each], each)))
