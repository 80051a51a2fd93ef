"""Repeats: recognizing an action that has been done already, by what it does and not by its name."""

import hashlib
import json

from runtime.frames import Frame, RunState, Step
from signatures import PlannedStep

ALLOWED = 1
"""Repeats that a frame may ask for before only its closing step is left."""


def signature_of(frame: Frame, step: PlannedStep) -> str:
    """A hash over action and arguments; results of earlier steps stand for their ids."""
    targets = []
    for target in step.targets:
        source = frame.step(target)
        seen = source.observation if source is not None else None
        targets.append(seen.result_hash if seen is not None else target)
    query = step.query or frame.task
    key = [step.action, sorted(step.patterns), query, sorted(targets), step.operation]
    if not step.targets:
        key.append(sorted(frame.targets))
    return hashlib.sha256(json.dumps(key, ensure_ascii=False).encode()).hexdigest()[:16]


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
