"""Statistics of samples that are not independent, few, or near 0 and 1. Seeded: the same numbers give the same result.

Questions on one document correlate, so what is resampled is clusters, in sorted order: the order of samples has no
influence. An interval that does not exist is None, never one of width 0.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from evals.metrics import Ratio

T = TypeVar("T")
EXACT = 14
"""Differences up to which all sign flips are tried."""
_Z95 = 1.959963984540054
_WHOLE = 0.9
"""Share of the resamples that must have a value."""


class Interval(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


class Bounds(NamedTuple):
    """The ends of an interval, of which either may not exist: None is unbounded, since there is too little data."""

    low: float | None
    high: float | None


def wilson(successes: float, n: int, z: float = _Z95) -> Interval | None:
    """The score interval of a proportion (Wilson 1927), which stays within 0 and 1; None without samples.

    20 of 20 is [0.839, 1], where a bootstrap says [1, 1].
    """
    if not n:
        return None
    share, scale = successes / n, 1 + z * z / n
    center = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if successes == 0 else max(0.0, center - half)
    return Interval(low, 1.0 if successes == n else min(1.0, center + half))


def cluster_bootstrap(
    clusters: Mapping[str, Sequence[T]],
    statistic: Callable[[list[T]], float | None],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """The percentile interval of any statistic of samples, whole clusters drawn with replacement.

    None for fewer than 2 clusters, or where the statistic is undefined for more than a tenth of the resamples.
    """
    if len(clusters) < 2:
        return None
    groups = [clusters[name] for name in sorted(clusters)]
    values = (
        statistic([sample for at in draw for sample in groups[at]])
        for draw in _draws(len(groups), resamples, seed)
    )
    return _percentiles([each for each in values if each is not None], resamples, level)


def cluster_bootstrap_ratio(
    clusters: Mapping[str, Iterable[Ratio]],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """The same for the sum of numerators over the sum of denominators, and fast.

    For a macro mean each sample is its value of 1; what is undefined weighs nothing.
    """
    if len(clusters) < 2:
        return None
    sums = [_summed(clusters[name]) for name in sorted(clusters)]
    parts = np.array(sums, dtype=np.float64)
    drawn = np.array(list(_draws(len(sums), resamples, seed)))
    numerators, denominators = parts[:, 0][drawn].sum(axis=1), parts[:, 1][drawn].sum(axis=1)
    defined = denominators > 0
    values = (numerators[defined] / denominators[defined]).tolist()
    return _percentiles(values, resamples, level)


def _summed(ratios: Iterable[Ratio]) -> tuple[float, float]:
    found = list(ratios)
    return math.fsum(each.num for each in found), math.fsum(each.den for each in found)


def _draws(clusters: int, resamples: int, seed: int) -> Iterable[list[int]]:
    """Draws of cluster numbers with replacement. Python's generator: its stream is the same in every version."""
    chance, numbers = random.Random(seed), range(clusters)
    return (chance.choices(numbers, k=clusters) for _ in range(resamples))


def _percentiles(values: list[float], resamples: int, level: float) -> Interval | None:
    if len(values) < _WHOLE * resamples:
        return None
    tail = (1 - level) / 2
    return Interval(_ranked(sorted(values), tail), _ranked(sorted(values), 1 - tail))


def _ranked(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank quantile of ordered values."""
    return ordered[min(len(ordered), max(1, math.ceil(share * len(ordered)))) - 1]


def quantile_nearest(values: Iterable[float], share: float) -> float | None:
    """The smallest value that at least `share` of the values do not exceed; None without values."""
    ordered = sorted(values)
    return _ranked(ordered, share) if ordered else None


def quantile_interval(values: Iterable[float], share: float, *, level: float = 0.95) -> Bounds:
    """An interval for a quantile by order statistics, whatever the distribution.

    An end is None where n is too small for it: of the 95 % interval of P95 the upper one below n = 72.
    """
    ordered = sorted(values)
    tail = (1 - level) / 2
    below = _binomial_cdf(len(ordered), share)
    # The value of rank i is above the quantile with the probability that at most i - 1 values are below it.
    low = max((rank for rank, chance in below if chance <= tail), default=None)
    high = min((rank for rank, chance in below if chance >= 1 - tail), default=None)
    return Bounds(
        None if low is None else ordered[low - 1],
        None if high is None else ordered[high - 1],
    )


def _binomial_cdf(n: int, share: float) -> list[tuple[int, float]]:
    """For each rank from 1 to n, the chance that fewer than that many of n values are below the quantile.

    By logarithms: the coefficients themselves leave the range of floats for n above a thousand.
    """
    if not 0 < share < 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {share}")
    hit, miss = math.log(share), math.log1p(-share)
    chances = (
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * hit + (n - i) * miss
        for i in range(n)
    )
    found, total = [], 0.0
    for rank, chance in enumerate(chances, 1):
        total += math.exp(chance)
        found.append((rank, total))
    return found


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two runs over the same samples. `differences` second minus first, by sample id, where both are defined.

    `undefined` ids have no value in one of them; `unpaired` ids are in one alone.
    """

    differences: dict[str, float]
    undefined: tuple[str, ...]
    unpaired: tuple[str, ...]


def paired(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> Pairs:
    """The samples of two runs by their ids, in the order of the ids."""
    differences: dict[str, float] = {}
    undefined = []
    for name in sorted(first.keys() & second.keys()):
        before, after = first[name], second[name]
        if before is None or after is None:
            undefined.append(name)
        else:
            differences[name] = after - before
    return Pairs(differences, tuple(undefined), tuple(sorted(first.keys() ^ second.keys())))


def paired_signflip(
    differences: Iterable[float], *, resamples: int = 10_000, seed: int = 0
) -> float:
    """The two-sided p-value of paired differences, if each could as well have the other sign.

    Exact up to 14 differences that are not 0; beyond, a seeded sample of sign flips, the observed one included.
    """
    found = np.array([each for each in differences if each], dtype=np.float64)
    if not len(found):
        return 1.0
    observed = abs(math.fsum(found))
    enough = observed - 1e-12 * max(1.0, float(np.abs(found).sum()))
    if len(found) <= EXACT:
        numbers = np.arange(1 << len(found))[:, None]
        flips = (numbers >> np.arange(len(found))) & 1
        return float(np.mean(_sums(found, flips) >= enough))
    flips = _coin_flips(resamples, len(found), seed)
    return (1 + int(np.sum(_sums(found, flips) >= enough))) / (resamples + 1)


def _sums(found: Any, flips: Any) -> Any:
    """The absolute sums of differences, with the signs that flips give."""
    return np.abs((flips * 2.0 - 1.0) @ found)


def _coin_flips(rows: int, columns: int, seed: int) -> Any:
    count = rows * columns
    drawn = random.Random(seed).randbytes(-(-count // 8))
    return np.unpackbits(np.frombuffer(drawn, dtype=np.uint8))[:count].reshape(rows, columns)


def mcnemar_exact(gained: int, lost: int) -> float:
    """The exact two-sided p-value of flips each way: could they as well have gone half and half? 1 without a flip."""
    flips = gained + lost
    if not flips:
        return 1.0
    ways = tail = 1
    for each in range(min(gained, lost)):
        ways = ways * (flips - each) // (each + 1)
        tail += ways
    return min(1.0, 2 * tail / 2**flips)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """The p-values of a family of tests, adjusted (Holm 1979): compare them to alpha as they are."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda each: (p_values[each], each))):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}
