"""Repeats: recognizing an action that has been done already, by what it does and not by its name."""

import hashlib
import itertools
import json

from runtime.frames import Frame, RunState, Step
from signatures import PlannedStep

ALLOWED = 1
"""Repeats that a frame may ask for before only its closing step is left."""


def signature_of(frame: Frame, step: PlannedStep) -> str:
    """A hash over action and arguments, those that the action uses; results of earlier steps stand for their ids."""
    arguments = [sorted(step.patterns) if step.action == "scan" else []]
    arguments.append([step.query or frame.task] if step.action in ("rank", "analyze") else [])
    arguments.append([step.operation] if step.action == "compute" else [])
    key = [step.action, *arguments, _inputs(frame, step)]
    return hashlib.sha256(json.dumps(key, ensure_ascii=False).encode()).hexdigest()[:16]


def _inputs(frame: Frame, step: PlannedStep) -> list[str]:
    """What a step works on: results, places, or what it means when it names none."""
    named = step.targets or (step.depends_on if step.action == "compute" else [])
    if not named and step.action == "compute":
        above = itertools.takewhile(lambda each: each.id != step.id, frame.steps)
        named = [each.id for each in above]
    found = []
    limited = step.action in (
        "scan",
        "rank",
    )  # these search the part of the frame, whatever steps they name
    for name in named or frame.targets:
        source = frame.step(name)
        seen = source.observation if source is not None else None
        found.append(seen.result_hash if seen is not None else name)
        limited = limited or source is None
    if named and limited:
        found += [f"within {each}" for each in frame.targets]
    return found if step.operation == "difference" else sorted(found)


def earlier(state: RunState, frame: Frame, step: Step) -> Step | None:
    """The completed step that did the same, or None. The closing step and subtasks are never repeats."""
    if step.planned.action in ("conclude", "subtask"):
        return None
    wanted = signature_of(frame, step.planned)
    for other in state.frames.values():
        for each in other.steps:
            same = each.status == "completed" and each.planned.action == step.planned.action
            if same and signature_of(other, each.planned) == wanted:
                return each
    return None


def repeats(frame: Frame) -> int:
    """How many steps of a frame were skipped as repeats."""
    return sum(
        1 for step in frame.steps if step.observation and step.observation.error_class == "repeat"
    )
