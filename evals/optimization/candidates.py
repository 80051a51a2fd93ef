"""Candidates: the programs that an optimizer tried, each with what it scored on the validation questions.

A candidate is its instructions and its demos. All of them are kept: DIR/candidates/ID.json has the state, and what it
scored follows from the rollouts. Only one that was run on every validation question can be chosen.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from data.store import write_atomically
from evals.log import SampleRecord
from evals.objective import Grade, Objective, grade
from evals.optimization.rollouts import Rollout
from runtime.errors import RunError

CANDIDATES = "candidates"

State = Mapping[str, Any]
"""The state of a program: by predictor its instructions and demos (programs/program_state.py)."""


@dataclass(frozen=True)
class Candidate:
    """One candidate. `order` counts from 0, the program as it was given.

    `score` and `scores` (by objective) are means over the validation questions that it was run on; None for none.
    `calls`, `tokens`, `cost_usd` and `seconds` are means a question, over what is known; `cost_usd` is None where the
    cost of one is not. `complete`: it was run on all.
    """

    id: str
    order: int
    state: State
    rollouts: int
    validated: int
    complete: bool
    score: float | None
    scores: Mapping[str, float]
    calls: float | None
    tokens: float | None
    cost_usd: float | None
    seconds: float | None


def write_state(folder: Path, candidate: str, state: State) -> None:
    """Keep the state of a candidate, unless it is kept already."""
    path = folder / CANDIDATES / f"{candidate}.json"
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(state, ensure_ascii=False, indent=1)
    write_atomically(path, text.encode("utf-8", "backslashreplace") + b"\n")


def read_state(folder: Path, candidate: str) -> State:
    """The state of a candidate. Raises RunError when it is not there, or damaged."""
    path = folder / CANDIDATES / f"{candidate}.json"
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RunError(
            f"the candidate {candidate} is not in {folder}: {error}",
            hint="begin the optimization anew in another folder",
        ) from error


def candidates(
    folder: Path, rollouts: Iterable[Rollout], validation: Sequence[str], objective: Objective
) -> tuple[Candidate, ...]:
    """All candidates of a folder, in the order in which they were first run."""
    found: dict[str, list[Rollout]] = {}
    for each in rollouts:
        found.setdefault(each.candidate, []).append(each)
    wanted = set(validation)
    return tuple(
        _candidate(each, order, read_state(folder, each), made, wanted, objective)
        for order, (each, made) in enumerate(found.items())
    )


def best(found: Sequence[Candidate]) -> Candidate | None:
    """The complete candidate of the highest score, the first one of several; None when there is none."""
    complete = [each for each in found if each.complete and each.score is not None]
    return max(complete, key=lambda each: (each.score, -each.order), default=None)


def _candidate(
    id: str,
    order: int,
    state: State,
    made: Sequence[Rollout],
    wanted: set[str],
    objective: Objective,
) -> Candidate:
    seen = [each for each in made if not each.variation and each.question_id in wanted]
    records = [each.record for each in seen]
    grades = [grade(each, objective) for each in records]
    return Candidate(
        id=id,
        order=order,
        state=state,
        rollouts=len(made),
        validated=len(seen),
        complete=len(seen) == len(wanted),
        score=_mean(each.score for each in grades),
        scores=_by_objective(grades),
        calls=_mean(_calls(each) for each in records),
        tokens=_mean(_tokens(each) for each in records),
        cost_usd=_known_mean([_cost(each) for each in records]),
        seconds=_mean(each.seconds for each in records if each.state == "done"),
    )


def _by_objective(grades: Sequence[Grade]) -> dict[str, float]:
    names = dict.fromkeys(name for each in grades for name in each.objectives)
    means = {
        name: _mean(each.objectives[name] for each in grades if name in each.objectives)
        for name in names
    }
    return {name: value for name, value in means.items() if value is not None}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return fmean(known) if known else None


def _known_mean(values: Sequence[float | None]) -> float | None:
    """The mean, None where one value is not known: an unknown price is not the mean of the others."""
    return None if None in values else _mean(values)


def _calls(record: SampleRecord) -> float | None:
    used = record.score or record.spent
    return used.calls if used else None


def _tokens(record: SampleRecord) -> float | None:
    used = record.score or record.spent
    return used.input_tokens + used.output_tokens if used else None


def _cost(record: SampleRecord) -> float | None:
    used = record.score or record.spent
    return used.cost_usd if used else None
