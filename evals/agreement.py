"""Agreement: how far a support judge can be trusted, by pairs of what people said and what it says."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.metrics import Ratio

UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over the pairs that were judged.

    `precision` and `recall` are of the verdict "unsupported", for which a judge is asked. `kappa` is Cohen's (1960):
    agreement beyond chance, None where chance alone would agree on everything. An "unclear" verdict agrees with nobody.
    `confusion` counts pairs of (people, judge).
    """

    judged: int
    unjudged: int
    accuracy: Ratio
    kappa: float | None
    precision: Ratio
    recall: Ratio
    confusion: Mapping[tuple[str, str], int]


def agreement(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """The agreement of (people, judge) pairs of verdicts."""
    confusion = Counter(pairs)
    judged = {pair: count for pair, count in confusion.items() if pair[1] != UNJUDGED}
    total = sum(judged.values())
    same = sum(count for (people, judge), count in judged.items() if people == judge)
    said_no = sum(count for (_, judge), count in judged.items() if judge == "unsupported")
    is_no = sum(count for (people, _), count in judged.items() if people == "unsupported")
    both = judged.get(("unsupported", "unsupported"), 0)
    return Agreement(
        judged=total,
        unjudged=sum(confusion.values()) - total,
        accuracy=Ratio(same, total),
        kappa=_kappa(judged, total, same),
        precision=Ratio(both, said_no),
        recall=Ratio(both, is_no),
        confusion=dict(sorted(confusion.items())),
    )


def _kappa(judged: Mapping[tuple[str, str], int], total: int, same: int) -> float | None:
    people, judge = Counter[str](), Counter[str]()
    for (one, other), count in judged.items():
        people[one] += count
        judge[other] += count
    by_chance = sum(people[each] * judge[each] for each in people)
    if by_chance == total * total:
        return None
    return (same * total - by_chance) / (total * total - by_chance)
