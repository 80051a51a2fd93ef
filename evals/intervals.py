"""Intervals: of means and of mean differences, documents resampled, and what is done where resampling sees too little.

Resampling never draws what was not seen, so near 0 and 1, and where few questions got worse or better, its intervals
are too narrow. Wilson's interval and the rule of three stand in there. Both count questions as if each had a document
of its own, which is why a verdict needs `FEWEST_CLUSTERS` besides.
"""

from collections.abc import Mapping

from evals.clusters import grouped
from evals.metrics import Ratio
from evals.stats import Interval, cluster_bootstrap_ratio, wilson

FEWEST_CLUSTERS = 8
"""Clusters of documents below which a comparison gives no verdict: resamples of fewer are too much alike."""
RARE = 5
"""Questions of one kind (right, wrong, better, worse) below which resampling is not trusted alone."""


def mean_interval(
    known: Mapping[str, float], cluster_of: Mapping[str, str], seed: int, *, bounded: bool = True
) -> Interval | None:
    """The 95 % interval of a mean of shares (`bounded`) or numbers by question; None for fewer than two clusters.

    Of rights and wrongs, fewer than RARE of either, it is Wilson's where that is wider. Of other values that are all
    the same there is none.
    """
    resampled = _resampled(known, cluster_of, seed)
    if resampled is None:
        return None
    values = list(known.values())
    if bounded and all(value in (0, 1) for value in values):
        right = sum(values)
        by_counts = wilson(right, len(values)) if min(right, len(values) - right) < RARE else None
        return max(resampled, by_counts or resampled, key=lambda each: each.high - each.low)
    return resampled if len(set(values)) > 1 else None


def difference_interval(
    deltas: Mapping[str, float], cluster_of: Mapping[str, str], *, bounded: bool, seed: int = 0
) -> Interval | None:
    """The 95 % interval of a mean difference by question; None for fewer than two clusters.

    Of shares, where fewer than RARE questions got less, its low end allows for the rule of three: as many losses as
    could be in all and be unseen in n pairs, each as large as can be. The same for the high end and what got more.
    Of what nothing bounds there is no interval where all differences are equal.
    """
    resampled = _resampled(deltas, cluster_of, seed)
    if resampled is None:
        return None
    values = list(deltas.values())
    same = len(set(values)) == 1
    if not bounded:
        return None if same else resampled
    low, high = resampled
    unseen = 1 - 0.025 ** (1 / len(values))
    middle = sum(values) / len(values) * (1 - unseen)
    if same or sum(each < 0 for each in values) < RARE:
        low = min(low, middle - unseen)
    if same or sum(each > 0 for each in values) < RARE:
        high = max(high, middle + unseen)
    return Interval(max(-1.0, low), min(1.0, high))


def _resampled(
    values: Mapping[str, float], cluster_of: Mapping[str, str], seed: int
) -> Interval | None:
    groups = grouped(values.items(), cluster_of)
    ratios = {name: [Ratio(each, 1) for each in found] for name, found in groups.items()}
    return cluster_bootstrap_ratio(ratios, seed=seed)
