"""Objective: what an optimizer is to make as high as it can, one number for one sample.

The score of a sample is 0 if a gate is shut: it ended in an error, one of its citations is invalid, or a hard limit
ended the run. Else it is the weighted mean of the components that are defined, minus a penalty for what it cost:

    score = max(0, sum(weight * component) / sum(weight) - cost_weight * min(1, tokens / budget_tokens))

A component that is undefined (see evals/metrics.py) is left out, and its weight with it. Where none of those that weigh
anything is defined, nothing was shown, and the score is 0. It is finite and in [0, 1], whatever it is computed from.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evals.log import SampleRecord
from evals.score import SampleScore
from runtime.errors import UserError

_Pick = Callable[[SampleScore], float | None]

_COMPONENTS: Mapping[str, _Pick] = {
    "verified_correct": lambda score: score.verified_correct.value,
    "correct": lambda score: score.correct.value,
    "evidence_recall": lambda score: score.evidence_recall.value,
    "citation_precision": lambda score: score.citation_precision.value,
    "supported": lambda score: _opposite(score.unsupported.value),
}
COMPONENTS = tuple(_COMPONENTS)
"""What a score can be made of, each in [0, 1] and higher for better. `supported` is 1 - the rate of
unsupported claims."""

NOTHING: Mapping[str, float] = dict.fromkeys((*COMPONENTS, "coverage", "economy"), 0.0)
"""What an error is worth by objective."""

OBJECTIVES: Mapping[str, Mapping[str, float]] = {
    **{name: {name: 1.0} for name in COMPONENTS},
    "balanced": {
        "correct": 0.4,
        "evidence_recall": 0.3,
        "citation_precision": 0.2,
        "supported": 0.1,
    },
}
"""The objectives that have a name, with their weights."""

WEIGHTED = "weighted"
"""The name of an objective whose weights were given."""

_HARD_LIMIT = re.compile(
    r"limit reached: (calls|input_tokens|output_tokens|tokens|cost_usd|wall_seconds)\b"
)
"""How an answer says which limit of the whole run it came to."""


class Objective(BaseModel):
    """What is to be made as high as possible. `weights` are of COMPONENTS; only their proportions count.

    `budget_tokens` is what one question may use: at that much, and above, the penalty is `cost_weight`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    weights: dict[str, float]
    cost_weight: float = Field(default=0.05, ge=0, lt=1)
    budget_tokens: int = Field(default=20_000, gt=0)

    @field_validator("weights")
    @classmethod
    def _usable(cls, weights: dict[str, float]) -> dict[str, float]:
        unknown = [name for name in weights if name not in COMPONENTS]
        if unknown:
            raise ValueError(f"there is no component {unknown[0]!r}")
        if not all(math.isfinite(each) and each >= 0 for each in weights.values()):
            raise ValueError("a weight is a number of 0 or more")
        if not any(weights.values()):
            raise ValueError("one weight at least is above 0")
        return weights

    @classmethod
    def parse(cls, name: str, weights: str | None = None, **settings: Any) -> Self:
        """The objective of this name, or one of weights: "correct=2,evidence_recall=1". Raises UserError."""
        if weights is not None:
            return cls._checked(WEIGHTED, _weights(weights), settings)
        if name not in OBJECTIVES:
            raise UserError(
                f"there is no objective {name!r}",
                hint=f"one of: {', '.join(OBJECTIVES)}; or weights of {', '.join(COMPONENTS)}",
            )
        return cls._checked(name, dict(OBJECTIVES[name]), settings)

    @classmethod
    def _checked(cls, name: str, weights: dict[str, float], settings: Mapping[str, Any]) -> Self:
        try:
            return cls(name=name, weights=weights, **settings)
        except ValidationError as error:
            first = error.errors()[0]
            what = ".".join(map(str, first["loc"]))
            raise UserError(
                f"this is no objective: {what}: {first['msg'].removeprefix('Value error, ')}",
                hint=f"weights are of {', '.join(COMPONENTS)}; the cost weighs from 0 to below 1",
            ) from error

    @property
    def highest(self) -> float:
        """What a sample scores at least that is right in every respect, whatever it cost."""
        return 1 - self.cost_weight


class Grade(BaseModel):
    """What one sample is worth to an optimizer. `score` and every objective are finite and in [0, 1].

    `objectives` has the components that are defined, with `coverage` (the share of the partitions needed that was
    examined) and `economy` (1 - the share of the tokens allowed that was used): higher is better for each. An error is
    0 in all of them, so that a candidate gains nothing by failing. `gates` says why the score is 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    score: float = Field(ge=0, le=1)
    objectives: dict[str, float]
    gates: tuple[str, ...] = ()
    tokens: int | None = None
    budget_tokens: int = 0


def grade(record: SampleRecord, objective: Objective) -> Grade:
    """What a sample is worth under an objective. The same record gives the same grade, always."""
    score, budget = record.score, objective.budget_tokens
    if record.state == "error" or score is None or score.state == "error":
        spent = None if score is None else _tokens(score)
        return Grade(
            score=0.0,
            objectives=dict(NOTHING),
            gates=(_error(record),),
            tokens=spent,
            budget_tokens=budget,
        )
    objectives = _objectives(score, budget)
    gates = tuple(_gates(record, score))
    return Grade(
        score=0.0 if gates else _score(objectives, objective),
        objectives=objectives,
        gates=gates,
        tokens=_tokens(score),
        budget_tokens=budget,
    )


def hard_limits(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """The limits of the whole run that kept an answer from being a whole one."""
    if answer.get("outcome") != "partial":
        return ()
    found = (_HARD_LIMIT.match(str(each)) for each in answer.get("warnings") or ())
    return tuple(dict.fromkeys(each[1] for each in found if each))


def _score(objectives: Mapping[str, float], objective: Objective) -> float:
    defined = {
        name: weight
        for name, weight in objective.weights.items()
        if weight > 0 and name in objectives
    }
    if not defined:
        return 0.0
    heaviest = max(
        defined.values()
    )  # a weight by itself may be as small or as large as a float can be
    shares = {name: weight / heaviest for name, weight in defined.items()}
    total = math.fsum(shares.values())
    mean = math.fsum(share / total * objectives[name] for name, share in shares.items())
    return _clipped(mean - objective.cost_weight * (1 - objectives["economy"]))


def _objectives(score: SampleScore, budget: int) -> dict[str, float]:
    values = {name: pick(score) for name, pick in _COMPONENTS.items()}
    values["coverage"] = _first(score.target_coverage.value, score.partition_coverage.value)
    values["economy"] = 1 - min(1.0, _tokens(score) / budget)
    return {name: _clipped(value) for name, value in values.items() if value is not None}


def _gates(record: SampleRecord, score: SampleScore) -> list[str]:
    validity = score.citation_validity.value
    found = []
    if validity is not None and validity < 1:
        bad = round(score.citation_validity.den - score.citation_validity.num)
        found.append(f"{bad} invalid citation{'s' if bad != 1 else ''}")
    found += [f"the limit of {name} ended the run" for name in hard_limits(record.answer or {})]
    return found


def _error(record: SampleRecord) -> str:
    if record.state == "error":
        return f"error: {record.error_class or 'unknown'}"
    return "no score" if record.score is None else "the program failed"


def _tokens(score: SampleScore) -> int:
    return max(0, score.input_tokens + score.output_tokens)


def _first(*values: float | None) -> float | None:
    return next((each for each in values if each is not None), None)


def _opposite(value: float | None) -> float | None:
    return None if value is None else 1 - value


def _clipped(value: float) -> float:
    """A value within [0, 1]; what is no number is worth nothing."""
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


def _weights(text: str) -> dict[str, float]:
    """The weights in "correct=2,evidence_recall=1". Raises UserError."""
    found: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = (each.strip() for each in part.partition("="))
        if name not in COMPONENTS or name in found:
            what = "is named twice" if name in found else "is no component"
            raise UserError(
                f"{name!r} in the weights {what}",
                hint=f"NAME=NUMBER,...; names: {', '.join(COMPONENTS)}",
            )
        try:
            found[name] = float(value if equals else "1")
        except ValueError as error:
            raise UserError(
                f"the weight of {name} is {value!r}", hint="a weight is a number of 0 or more"
            ) from error
    if not found:
        raise UserError("there are no weights", hint='such as "correct=2,evidence_recall=1"')
    return found
