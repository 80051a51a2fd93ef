"""Routing: what a run does next, computed from its state alone.

There are three outcomes: the run ends, steps are executed, or a frame is planned. Refinement and the return of
a child are edges between them, and each leads back here. Since nothing but the committed state is consulted, a
resumed run goes on exactly where it was.
"""

from dataclasses import dataclass
from typing import Literal

from runtime.frames import Frame, RunState, Step
from signatures import PlannedStep

INDEPENDENT = frozenset(("scan", "rank", "read", "analyze"))
"""Actions that only read the corpus: several of them may run at once if none uses another's result."""
_GATHERING = frozenset(("timeline", "conflicts", "sort", "distinct"))


@dataclass(frozen=True, slots=True)
class Route:
    """The next move: `end`, `execute` with the steps to run (one, or independent ones), or `plan` a frame."""

    move: Literal["end", "execute", "plan"]
    frame: Frame | None = None
    steps: tuple[Step, ...] = ()


def route(state: RunState, in_flight: int) -> Route:
    """The next move of a run. A frame whose steps have all ended is popped before this is asked."""
    frame = state.top
    if state.finished is not None or frame is None:
        return Route("end")
    if not frame.planned:
        return Route("plan", frame)
    return Route("execute", frame, _ready(frame, in_flight))


def begun(frame: Frame) -> tuple[Step, ...]:
    """The steps of the top frame that were broken off: begun together by a process that died before they all ended.

    They come before anything else, so that what ran at once is digested at once, with or without a kill.
    """
    return tuple(step for step in frame.remaining if step.status == "running")


def _ready(frame: Frame, in_flight: int) -> tuple[Step, ...]:
    """The step at the cursor, with the steps right behind it that are certain to be independent of each other."""
    if broken_off := begun(frame):
        return broken_off
    remaining = frame.remaining
    batch: list[Step] = []
    for step in remaining[:in_flight]:
        if step.planned.action not in INDEPENDENT or needs(step.planned) & {b.id for b in batch}:
            break
        if not _inputs_ended(frame, step):
            break
        batch.append(step)
    return tuple(batch) or remaining[:1]


def needs(step: PlannedStep) -> set[str]:
    """The ids that a step refers to."""
    return {*step.depends_on, *step.targets}


def _inputs_ended(frame: Frame, step: Step) -> bool:
    return all(
        each.ended for each in frame.steps if each.id in needs(step.planned) and each.id != step.id
    )


def has_result(step: Step) -> bool:
    """Whether later steps can use what a step came to: it completed, or another one had done the same before."""
    seen = step.observation
    repeated = seen is not None and seen.error_class == "repeat" and seen.payload is not None
    return step.status == "completed" or repeated


def is_blocked(frame: Frame, step: PlannedStep) -> bool:
    """Whether a step lacks what it needs because earlier steps did not complete.

    A step that gathers runs on what there is; every other step needs all of its inputs. The closing step always runs.
    """
    inputs = [each for each in frame.steps if each.id in needs(step) and each.id != step.id]
    if step.action == "conclude" or not inputs:
        return False
    usable = [each for each in inputs if has_result(each)]
    gathers = step.action == "analyze" or step.operation in _GATHERING
    return not usable if gathers else len(usable) < len(inputs)


def over_cap(frame: Frame, max_steps: int) -> bool:
    """The third defense on step counts: whether only the closing step may still run."""
    ended = sum(1 for step in frame.steps if step.ended and step.status != "skipped")
    return ended >= max_steps - 1
