"""Power: the smallest difference that a paired comparison of n samples would probably show.

At a two-sided alpha of 0.05 and a power of 80 %. Approximations by the normal distribution, so rough for small n: for
pass and fail Connett, Smith and McHugh (1987), Sample size and power for pair-matched case-control studies; for scores
the paired test of Cohen (1988), Statistical power analysis, chapter 2. Exact is only the floor: fewer than 6 flips can
never be significant, since 2 / 2^5 is above 0.05.
"""

import math

_ALPHA = 1.959963984540054
_POWER = 0.8416212335729143
FEWEST_FLIPS = 6
"""Flips all one way that exact McNemar needs for p below 0.05."""
LARGE = 0.1
"""A smallest difference above which a comparison comes with a warning: ten points."""


def smallest_flip_difference(n: int, discordant: float) -> float | None:
    """The smallest difference of two pass rates that n pairs would show, if this share of the pairs differs.

    None where not even flips that all go one way would.
    """
    if not 0 <= discordant <= 1:
        raise ValueError(f"a share lies between 0 and 1, not at {discordant}")
    if n * discordant < FEWEST_FLIPS or _pairs_needed(discordant, discordant) > n:
        return None
    low, high = 0.0, discordant
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _pairs_needed(middle, discordant) <= n else (middle, high)
    return high


def _pairs_needed(difference: float, discordant: float) -> float:
    if difference <= 0:
        return math.inf
    spread = _ALPHA * math.sqrt(discordant)
    spread += _POWER * math.sqrt(max(0.0, discordant - difference**2))
    return (spread / difference) ** 2


def smallest_mean_difference(n: int, deviation: float) -> float | None:
    """The smallest mean difference of scores that n pairs would show, by the standard deviation of the differences.

    None where fewer than 6 pairs differ at best: then no sign flip is significant.
    """
    return (_ALPHA + _POWER) * deviation / math.sqrt(n) if n >= FEWEST_FLIPS else None


def power_note(n: int, smallest: float | None, metric: str) -> str:
    """A warning about a comparison of n pairs; empty where it could show a difference below ten points."""
    if smallest is None:
        return (
            f"{n} pairs are too few to show any difference in {metric}"
            " (two-sided alpha 0.05, power 80 %): no difference is no evidence of equality"
        )
    if smallest <= LARGE:
        return ""
    return (
        f"{n} pairs show a difference in {metric} only from about {smallest:.2f}"
        " (two-sided alpha 0.05, power 80 %): a smaller one may exist and not be seen"
    )
