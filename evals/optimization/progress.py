"""Progress of an optimization: how far it is, the best score so far, and what was spent, counted at the engines."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from evals.log import SampleRecord
from evals.optimization.rollouts import Rollout
from runtime.ledger import Usage

Phase = Literal["baseline", "search", "validation", "test"]
"""The program as it was given, on the validation questions; the optimizer; its winners, on those; before and after."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What an optimization used: calls of the program's models and of the one that reflects, with their tokens.

    `cost_usd` is None where the price of a call is not known.
    """

    calls: int = 0
    reflection_calls: int = 0
    tokens: int = 0
    reflection_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        costs = self.cost_usd, other.cost_usd
        return Spent(
            self.calls + other.calls,
            self.reflection_calls + other.reflection_calls,
            self.tokens + other.tokens,
            self.reflection_tokens + other.reflection_tokens,
            None if None in costs else sum(each or 0.0 for each in costs),
        )


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment of an optimization. `seed_score` and `best` are means over the validation questions, once all were
    answered. `tested` and `to_test` are samples of the comparison before and after."""

    phase: Phase
    rollouts: int
    budget: int
    candidates: int
    seed_score: float | None
    best: float | None
    spent: Spent
    tested: int = 0
    to_test: int = 0


Listener = Callable[[Moment], None]
"""Receives progress; it cannot change the optimization."""


def spent(rollouts: Iterable[Rollout] = (), proposals: Iterable[Usage] = ()) -> Spent:
    """What some rollouts and proposals used."""
    used = [_usage(each.record) for each in rollouts]
    asked = list(proposals)
    whole = [*used, *asked]
    unknown = any(each.unknown_cost_calls for each in whole)
    return Spent(
        calls=sum(each.calls for each in used),
        reflection_calls=sum(each.calls for each in asked),
        tokens=_tokens(used),
        reflection_tokens=_tokens(asked),
        cost_usd=None if unknown else sum(each.cost_usd for each in whole),
    )


def _tokens(used: Iterable[Usage]) -> int:
    return sum(each.input_tokens + each.output_tokens for each in used)


def _usage(record: SampleRecord) -> Usage:
    """What a rollout used: its receipt's, or what its attempt spent before it failed."""
    found = record.score or record.spent
    if found is None:
        return Usage()
    return Usage(
        calls=found.calls,
        input_tokens=found.input_tokens,
        output_tokens=found.output_tokens,
        cost_usd=found.cost_usd or 0.0,
        unknown_cost_calls=int(found.cost_usd is None),
    )
