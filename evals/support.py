"""Support: the rate of unsupported statements of a program, over all of them, with its interval and its unjudged."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict

from evals.metrics import Ratio
from evals.score import SampleScore
from evals.stats import Interval, cluster_bootstrap_ratio, wilson
from evals.summary import total


class Support(BaseModel):
    """`unsupported` of the `judged` statements: a rate, None without any, and its 95 % interval where there is one.

    A statement that needs a citation and has none that resolves is judged by that alone. `unjudged` ones are in no
    rate: nobody was asked, no verdict came back, it was "unclear", or code computed what is stated.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    rate: float | None
    low: float | None
    high: float | None
    unsupported: int
    judged: int
    unjudged: int


def support(
    scores: Iterable[SampleScore], cluster_of: Mapping[str, str], *, seed: int = 0
) -> Support:
    """The support of all statements of one program. Documents are resampled."""
    found = list(scores)
    rate = total(each.unsupported for each in found)
    low, high = _interval(found, rate, cluster_of, seed) or (None, None)
    return Support(
        rate=rate.value,
        low=low,
        high=high,
        unsupported=round(rate.num),
        judged=round(rate.den),
        unjudged=sum(each.unjudged for each in found),
    )


def _interval(
    scores: list[SampleScore], rate: Ratio, cluster_of: Mapping[str, str], seed: int
) -> Interval | None:
    known = [each for each in scores if each.unsupported.value is not None]
    if rate.value in (0, 1):
        # Resampling what is all the same sees no spread. Statements of one answer correlate: its question is the unit.
        questions = len({each.question_id for each in known})
        return wilson(rate.value * questions, questions)
    groups: dict[str, list[Ratio]] = defaultdict(list)
    for each in known:
        groups[cluster_of[each.question_id]].append(each.unsupported)
    return cluster_bootstrap_ratio(groups, seed=seed)
