"""Closing: what a frame that is about to conclude still lacks, and the step that makes up for it.

A small model plans a search and leaves it at that, or a step that cannot be done. Without a count or a reading of what
was found, the answer would be that there is nothing.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from programs.planning import step as planned_step
from runtime.frames import Frame, Step
from runtime.observations import Payload, Ranked, ReadSpans, Scanned
from signatures import PlannedStep

Lack = Literal["", "count", "reading", "plan"]

COUNT, READING = "count", "reading"
"""Ids of the steps that are added."""
STUCK = 3
"""Steps in a row that cannot be done, after which a plan is not discussed any more."""
_SEARCHES = frozenset(("scan", "rank", "read"))
_OF_THE_PLAN = frozenset(("not_found", "missing_input", "parse_failure"))
"""Error classes of a step that could not be done as it was written."""


def lacking(
    frame: Frame,
    remaining: Sequence[PlannedStep],
    *,
    counts: bool,
    requires_all: bool,
    settled: Callable[[], bool],
) -> Lack:
    """What a frame lacks whose remaining steps only conclude.

    `counts`: the question is how many; `settled`: the searches alone settle it. `plan` when no step could be done, when
    searches that settle nothing found nothing, or when only a selection was made though all is asked about.
    """
    worked = [each for each in frame.steps if each.ended and each.planned.action != "conclude"]
    if not worked or any(each.action != "conclude" for each in remaining):
        return ""
    beyond = [each for each in worked if each.planned.action not in _SEARCHES]
    if counts and scans(frame) and all(map(_failed_to_count, beyond)):
        return "count" if frame.step(COUNT) is None else ""
    if all(map(_is_of_the_plan, worked)):
        return "" if _replaced(frame) else "plan"
    if beyond or frame.step(READING) is not None or settled():
        return ""
    if not _replaced(frame) and not (findings(frame) and (scans(frame) or not requires_all)):
        return "plan"
    return "reading" if findings(frame) else ""


def stuck(frame: Frame) -> bool:
    """Whether step after step could not be done as it was written, or was replaced: more of the same hand is no use."""
    if _replanned(frame):
        return True
    worked = [each for each in frame.steps if each.ended and each.planned.action != "conclude"]
    return len(worked) >= STUCK and all(map(_is_of_the_plan, worked[-STUCK:]))


def scans(frame: Frame) -> tuple[str, ...]:
    """The exhaustive searches that were made."""
    return tuple(
        each.id
        for each in frame.steps
        if each.planned.action == "scan" and each.status == "completed"
    )


def findings(frame: Frame) -> tuple[str, ...]:
    """The steps that found something to read."""
    return tuple(
        each.id for each in frame.steps if each.observation and _found(each.observation.payload)
    )


def counting(searches: Sequence[str]) -> PlannedStep:
    """The step that counts what some searches found."""
    step = planned_step(
        COUNT, "Count the matching lines", "compute", targets=searches, operation="count"
    )
    return step.model_copy(update={"depends_on": list(searches)})


def reading(searches: Sequence[str], question: str) -> PlannedStep:
    """The step that reads what some searches found."""
    step = planned_step(
        READING, "Analyze what was found", "analyze", query=question, targets=searches
    )
    return step.model_copy(update={"depends_on": list(searches)})


def _replaced(frame: Frame) -> bool:
    """Whether the plan of a frame is one by kind of question already."""
    return frame.degraded or _replanned(frame)


def _replanned(frame: Frame) -> bool:
    return any(each.degraded and each.decision == "revise" for each in frame.refinements)


def _found(payload: Payload | None) -> bool:
    match payload:
        case Scanned(total=total):
            return total > 0
        case Ranked(span_ids=ids) | ReadSpans(span_ids=ids):
            return bool(ids)
        case _:
            return False


def _failed_to_count(step: Step) -> bool:
    counts = step.planned.action == "compute" and step.planned.operation in ("", "count")
    return counts and step.status != "completed"


def _is_of_the_plan(step: Step) -> bool:
    seen = step.observation
    if seen is None or step.status == "completed" or seen.error_class not in _OF_THE_PLAN:
        return False
    # What a reader replied is not the fault of the plan, and would not be better another time.
    return step.planned.action != "analyze" or seen.error_class != "parse_failure"
