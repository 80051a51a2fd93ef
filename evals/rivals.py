"""Rivals: where another program is as good as one, or better, and what choosing among them costs (regret).

All by paired tests on the same questions. The p-values of all rivals on one set of questions are a family (Holm).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.compare import Difference, difference
from evals.contenders import Contender, clusters_of
from evals.intervals import FEWEST_CLUSTERS, mean_interval
from evals.measures import MEASURES, Measure
from evals.stats import Interval, holm

Standing = Literal["better", "as good", "worse", "open"]
MARGIN = 0.05
"""How much worse a rival may be and still count as good: five points."""
ALPHA = 0.05
CHOOSER = "auto"
"""The program that chooses among the others."""


@dataclass(frozen=True, slots=True)
class Rival:
    """How a rival stands against a program on some questions. `p` is adjusted; `costs` is its share of the tokens."""

    scope: str
    rival: str
    standing: Standing
    difference: Difference
    p: float | None
    costs: float | None


@dataclass(frozen=True, slots=True)
class Regret:
    """What is lost by the choices of a program against the best program for each question.

    `mean` over `questions`, 0 at best. `gap` is the mean of the best single program minus its own: below 0 where
    choosing beats always taking `best`. `worst` are the questions with the greatest regret.
    """

    program: str
    measure: str
    questions: int
    mean: float | None
    interval: Interval | None
    best: str
    gap: float | None
    worst: tuple[str, ...]


def rivals(
    program: Contender,
    others: Sequence[Contender],
    scopes: Mapping[str, Iterable[str]],
    measure: Measure = MEASURES["verified_correct"],
    *,
    margin: float = MARGIN,
    seed: int = 0,
) -> list[Rival]:
    """How others stand against a program, on each named set of questions."""
    cluster_of = clusters_of([program, *others])
    found = []
    for scope, questions in scopes.items():
        within = set(questions)
        differences = {
            each.label: difference(program, each, measure, cluster_of, within, seed=seed)
            for each in others
        }
        adjusted = holm({label: d.p for label, d in differences.items() if d.p is not None})
        for each in others:
            told, p = differences[each.label], adjusted.get(each.label)
            standing = _standing(told, measure, p, margin)
            costs = _costs(program, each, within)
            found.append(Rival(scope, each.label, standing, told, p, costs))
    return found


def _standing(found: Difference, measure: Measure, p: float | None, margin: float) -> Standing:
    """What is shown of a rival; `open` too where the documents are too few to show anything."""
    if found.delta is None or p is None or found.clusters < FEWEST_CLUSTERS:
        return "open"
    gain = measure.gain(found.delta)
    if p < ALPHA and gain:
        return "better" if gain > 0 else "worse"
    if found.interval is None:
        return "open"
    lowest = min(measure.gain(each) for each in found.interval)
    return "as good" if lowest >= -margin else "open"


def _costs(program: Contender, other: Contender, within: set[str]) -> float | None:
    """The tokens of a rival as a share of those of the program, on the questions that both answered."""
    tokens = MEASURES["tokens"]
    own, its = program.values(tokens), other.values(tokens)
    both = [
        (a, b)
        for each in within
        if (a := own.get(each)) is not None and (b := its.get(each)) is not None
    ]
    whole = sum(a for a, _ in both)
    return sum(b for _, b in both) / whole if whole else None


def regret(
    program: Contender,
    others: Sequence[Contender],
    measure: Measure = MEASURES["verified_correct"],
    *,
    seed: int = 0,
) -> Regret:
    """The regret of a program that chooses, against all programs. Questions without a value of its own are left out."""
    cluster_of = clusters_of([program, *others])
    own = {each: value for each, value in program.values(measure).items() if value is not None}
    values = {each.label: each.values(measure) for each in others}
    lost = {
        question: max(measure.gain(each - value) for each in (value, *_of(values, question)))
        for question, value in own.items()
    }
    best, gap = _best_single(own, values, measure)
    return Regret(
        program=program.label,
        measure=measure.name,
        questions=len(lost),
        mean=sum(lost.values()) / len(lost) if lost else None,
        interval=mean_interval(lost, cluster_of, seed),
        best=best,
        gap=gap,
        worst=tuple(sorted((q for q, each in lost.items() if each), key=lambda q: (-lost[q], q))),
    )


def _of(values: Mapping[str, Mapping[str, float | None]], question: str) -> list[float]:
    return [v for each in values.values() if (v := each.get(question)) is not None]


def _best_single(
    own: Mapping[str, float], values: Mapping[str, Mapping[str, float | None]], measure: Measure
) -> tuple[str, float | None]:
    """The program that gains most over this one on the questions that both have, and its mean gain."""
    gaps = {}
    for label, each in values.items():
        both = [v - own[q] for q in own if (v := each.get(q)) is not None]
        if both:
            gaps[label] = measure.gain(sum(both) / len(both))
    if not gaps:
        return "", None
    best = min(gaps, key=lambda label: (-gaps[label], label))
    return best, gaps[best]
