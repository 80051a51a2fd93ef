"""Returning: what a finished frame hands to its parent."""

from programs.conclusion import gathered
from programs.observing import counted
from programs.run import Run
from runtime.frames import Frame
from runtime.observations import ComputedResult, Returned


def returned(run: Run, frame: Frame) -> Returned:
    """What a frame hands up: conclusions and error classes, never raw payloads or the text."""
    claims, computed = gathered(run, frame)
    values = [
        step.observation.payload.value
        for step in frame.steps
        if step.observation and isinstance(step.observation.payload, ComputedResult)
    ]
    classes = dict.fromkeys(
        step.observation.error_class
        for step in frame.steps
        if step.observation and not step.observation.success and step.observation.error_class
    )
    return Returned(
        frame_id=frame.id,
        claims=claims if frame.parent_id else (),
        computed=computed if frame.parent_id else (),
        value=values[-1] if values and frame.parent_id else None,
        unknowns=(),
        error_classes=tuple(classes),
        steps_done=sum(step.status == "completed" for step in frame.steps),
        steps_failed=sum(step.status not in ("completed", "skipped") for step in frame.steps),
    )


def summary(result: Returned) -> str:
    """What a frame hands up, in one line."""
    text = f"{counted(len(result.claims), 'claim')} returned"
    if result.error_classes:
        text += f"; errors met: {', '.join(result.error_classes)}"
    return text
