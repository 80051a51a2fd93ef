"""Bundle changes: what is different between two states of a program, predictor by predictor."""

import difflib
import json
from dataclasses import dataclass
from typing import Any, Literal

from programs.program_state import PredictorState, State

Demo = dict[str, Any]
_CONTEXT = 2
"""Lines around a changed one."""


@dataclass(frozen=True, slots=True)
class PredictorChange:
    """A predictor that differs. `instructions` are the lines of a unified diff, without its heading."""

    predictor: str
    what: Literal["changed", "added", "removed"]
    instructions: tuple[str, ...]
    added: tuple[Demo, ...]
    removed: tuple[Demo, ...]


def changes(before: State, after: State) -> list[PredictorChange]:
    """The predictors that differ, in the order of the later state."""
    names = dict.fromkeys([*after, *before])
    found = [_change(name, before.get(name), after.get(name)) for name in names]
    return [each for each in found if each is not None]


def _change(
    name: str, before: PredictorState | None, after: PredictorState | None
) -> PredictorChange | None:
    if before == after:
        return None
    nothing: PredictorState = {"instructions": "", "demos": []}
    old, new = before or nothing, after or nothing
    lines = difflib.unified_diff(
        old["instructions"].splitlines(), new["instructions"].splitlines(), lineterm="", n=_CONTEXT
    )
    return PredictorChange(
        predictor=name,
        what="added" if before is None else "removed" if after is None else "changed",
        instructions=tuple(lines)[2:],
        added=_without(new["demos"], old["demos"]),
        removed=_without(old["demos"], new["demos"]),
    )


def _without(demos: list[Demo], others: list[Demo]) -> tuple[Demo, ...]:
    """The demos that are not among others, each as often as it is there more often."""
    left = [json.dumps(each, sort_keys=True) for each in others]
    found = []
    for demo in demos:
        text = json.dumps(demo, sort_keys=True)
        if text in left:
            left.remove(text)
        else:
            found.append(demo)
    return tuple(found)
