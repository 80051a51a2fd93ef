"""The candidates of an optimization as a table within 80 columns, and as JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spantree.cli.tables import Column

if TYPE_CHECKING:
    from evals.optimization import Candidate

_OBJECTIVES = {
    "verified_correct": "ver",
    "correct": "corr",
    "evidence_recall": "rec",
    "citation_precision": "prec",
    "supported": "supp",
    "coverage": "cov",
}
"""Columns, where any candidate has a value, the first ones first; economy follows from the tokens."""
_MOST = 5
_SHORT = 8
"""Digits of an id that a table shows: enough to name it."""


def columns(found: "Sequence[Candidate]") -> tuple[tuple[str, ...], tuple[Column, ...]]:
    """The objectives that the table has, and its columns."""
    priced = any(each.cost_usd for each in found)
    known = [name for name in _OBJECTIVES if any(name in each.scores for each in found)]
    names = tuple(known[: _MOST - priced])
    titles = ["n", "score", *(_OBJECTIVES[name] for name in names), "calls", "tokens"]
    titles += ["USD"] if priced else []
    numbers = (Column(title, right=True) for title in [*titles, "sec"])
    return names, (Column(""), Column("id"), *numbers)


def row(
    each: "Candidate", names: Sequence[str], questions: int, mark: str, *, priced: bool
) -> tuple[str, ...]:
    """The cells of one candidate."""
    from evals.numerals import compact, number, share

    cost = [number(each.cost_usd)] if priced else []
    return (
        mark,
        each.id[:_SHORT],
        f"{each.validated:,}" if each.complete else f"{each.validated}/{questions}",
        share(each.score),
        *(share(each.scores.get(name)) for name in names),
        compact(each.calls),
        compact(each.tokens),
        *cost,
        number(each.seconds),
    )


def ranked(found: "Sequence[Candidate]") -> "list[Candidate]":
    """The complete ones by their score, the best first; then the others in the order in which they were tried."""
    return sorted(
        found,
        key=lambda each: (
            not each.complete,
            -(each.score or 0) if each.complete else 0,
            each.order,
        ),
    )


def candidate_json(each: "Candidate") -> dict[str, Any]:
    """Everything about a candidate but its instructions and demos."""
    return {
        "id": each.id,
        "order": each.order,
        "complete": each.complete,
        "rollouts": each.rollouts,
        "validated": each.validated,
        "score": each.score,
        "scores": dict(each.scores),
        "calls": each.calls,
        "tokens": each.tokens,
        "cost_usd": each.cost_usd,
        "seconds": each.seconds,
    }
