"""Views of a run for people: the stack as a tree, steps, refinements, progress, metrics of its calls.

Everything is derived from the state (the fold of the events) or from the calls of the journal; nothing here is stored.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runtime.calls import CallRecord
from runtime.columns import cells, cut, one_line
from runtime.events import Event, StepStatus
from runtime.frames import Frame, RunState, Step, apply
from runtime.journal_calls import total_usage
from runtime.observations import Observation

MARKS: dict[StepStatus, str] = {
    "completed": "[x]",
    "failed": "[!]",
    "timed_out": "[~]",
    "skipped": "[-]",
    "blocked": "[b]",
    "running": "[>]",
    "pending": "[ ]",
}
"""How a status is written."""

THINK_CHARACTERS = 50
_INDENT = "    "


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """One step of a run. `result` is one line: what was found, or the error with its class."""

    frame_id: str
    depth: int
    id: str
    action: str
    description: str
    status: StepStatus
    attempts: int
    seconds: float
    result: str


@dataclass(frozen=True, kw_only=True)
class RefinementRow:
    """One refinement. The lists hold step ids; `changed` ones kept their id, not their content."""

    frame_id: str
    after: tuple[str, ...]
    decision: str
    reason: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    changed: tuple[str, ...]
    degraded: bool
    called_model: bool


class StepProgress(NamedTuple):
    """Steps that ended, steps known so far, and the percentage: 100 only for a run that is finished."""

    done: int
    total: int
    percent: int


class Level(NamedTuple):
    """One level of the stack at one turn."""

    frame_id: str
    depth: int
    cursor: int
    step_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The stack after one event, outermost frame first, and the last observation as one line."""

    number: int
    event: str
    levels: tuple[Level, ...]
    observed: str


@dataclass(frozen=True, kw_only=True)
class CallMetrics:
    """The calls of one signature. Seconds are of attempts that ended, None if none did; `reasons` by frequency.

    `calls` counts calls of an engine (a cached one is none), so that its sum is the one of the receipt; `failed` counts
    attempts without a usable reply; `unfinished` those that never ended because the process died.
    """

    signature: str
    calls: int
    cached: int
    failed: int
    unfinished: int
    retries: int
    input_tokens: int
    output_tokens: int
    mean_seconds: float | None
    median_seconds: float | None
    max_seconds: float | None
    reasons: tuple[tuple[str, int], ...]


def stack_view(state: RunState, *, width: int = 80) -> str:
    """All frames as an indented tree, the open ones marked `(open)`, each with its steps."""
    roots = [frame for frame in state.frames.values() if frame.parent_id not in state.frames]
    lines = [line for frame in roots for line in _frame_lines(state, frame, "", width)]
    return "\n".join(lines) if lines else "(nothing planned yet)"


def step_table(state: RunState) -> list[StepRow]:
    """All steps of all frames: a child's steps follow the step that it stands for."""
    return [_row(frame, step) for frame, step in _walk(state)]


def refinement_log(state: RunState) -> list[RefinementRow]:
    """All refinements in order: after which steps, what was decided and why, what changed."""
    return [
        RefinementRow(
            frame_id=change.refined.frame_id,
            after=change.refined.after,
            decision=change.refined.decision,
            reason=change.refined.reason,
            added=change.added,
            removed=change.removed,
            kept=change.kept,
            changed=change.changed,
            degraded=change.refined.degraded,
            called_model=change.refined.called_model,
        )
        for change in state.plan_changes
    ]


def progress(state: RunState) -> StepProgress:
    """How many of the steps known so far have ended. `done` never goes back; `total` may grow."""
    steps = [step for frame in state.frames.values() for step in frame.steps]
    done = sum(step.ended for step in steps)
    most = 100 if state.finished is not None else 99
    percent = 100 * done // len(steps) if steps else most // 100 * 100
    return StepProgress(done, len(steps), min(most, percent))


def turns(events: Iterable[Event]) -> Iterator[Turn]:
    """The stack after each event: which levels, each one's plan and cursor, what was observed."""
    state = RunState()
    for number, event in enumerate(events, start=1):
        state = apply(state, event)
        yield Turn(
            number=number,
            event=event.kind,
            levels=tuple(_level(state.frames[each]) for each in state.stack),
            observed=result_line(state.last_observation),
        )


def call_metrics(calls: Iterable[CallRecord]) -> list[CallMetrics]:
    """One row a signature, in the order of their first calls."""
    groups: dict[str, list[CallRecord]] = {}
    for call in calls:
        groups.setdefault(call.signature, []).append(call)
    return [_metrics(signature, group) for signature, group in groups.items()]


def _frame_lines(state: RunState, frame: Frame, indent: str, width: int) -> Iterator[str]:
    is_open = frame.id in state.stack
    notes = [
        frame.status,
        *(["open"] if is_open else []),
        *(["degraded"] if frame.degraded else []),
    ]
    head = f"{indent}{MARKS[frame.status]} {frame.id}: "
    yield _fit(head, one_line(frame.task), f" ({', '.join(notes)})", width)
    if frame.think:
        think = one_line(frame.think)
        yield cut(f"{indent}{_INDENT}think: {_first(think, THINK_CHARACTERS)}", width)
    if is_open:
        yield cut(f"{indent}{_INDENT}next: {_next(frame)}", width)
    for step in frame.steps:
        yield from _step_lines(state, frame, step, indent + _INDENT, width)
    for child in _children(state, frame, None):
        yield from _frame_lines(state, child, indent + _INDENT, width)


def _step_lines(
    state: RunState, frame: Frame, step: Step, indent: str, width: int
) -> Iterator[str]:
    head = f"{indent}{MARKS[step.status]} {step.id} {step.planned.action}: "
    again = f" (attempt {step.attempts})" if step.attempts > 1 else ""
    yield _fit(head, one_line(step.planned.description), again, width)
    if step.observation is not None:
        yield cut(f"{indent}{_INDENT}= {result_line(step.observation)}", width)
    for child in _children(state, frame, step):
        yield from _frame_lines(state, child, indent + _INDENT, width)


def _children(state: RunState, frame: Frame, step: Step | None) -> list[Frame]:
    """Frames that stand for a step; for None, those whose step is no longer in the plan."""
    known = {each.id for each in frame.steps}
    return [
        child
        for child in state.frames.values()
        if child.parent_id == frame.id
        and (child.parent_step == step.id if step else child.parent_step not in known)
    ]


def _walk(state: RunState) -> Iterator[tuple[Frame, Step]]:
    def below(frame: Frame) -> Iterator[tuple[Frame, Step]]:
        for step in frame.steps:
            yield frame, step
            for child in _children(state, frame, step):
                yield from below(child)
        for child in _children(state, frame, None):
            yield from below(child)

    for frame in state.frames.values():
        if frame.parent_id not in state.frames:
            yield from below(frame)


def _row(frame: Frame, step: Step) -> StepRow:
    return StepRow(
        frame_id=frame.id,
        depth=frame.depth,
        id=step.id,
        action=step.planned.action,
        description=step.planned.description,
        status=step.status,
        attempts=step.attempts,
        seconds=step.seconds,
        result=result_line(step.observation),
    )


def _metrics(signature: str, calls: Sequence[CallRecord]) -> CallMetrics:
    usage = total_usage(calls)
    seconds = [call.seconds for call in calls if call.status != "intent"]
    failed = [call for call in calls if call.status == "failed"]
    reasons = Counter(call.error_class or one_line(call.error) for call in failed)
    return CallMetrics(
        signature=signature,
        calls=usage.calls,
        cached=usage.cached_calls,
        failed=len(failed),
        unfinished=len(calls) - len(seconds),
        retries=usage.retries,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        mean_seconds=sum(seconds) / len(seconds) if seconds else None,
        median_seconds=statistics.median(seconds) if seconds else None,
        max_seconds=max(seconds, default=None),
        reasons=tuple(reasons.most_common()),
    )


def _level(frame: Frame) -> Level:
    return Level(frame.id, frame.depth, frame.cursor, tuple(step.id for step in frame.steps))


def _next(frame: Frame) -> str:
    if not frame.planned:
        return "to be planned"
    if frame.cursor == len(frame.steps):
        return "nothing left: return the result"
    step = frame.steps[frame.cursor]
    return f"{step.id} {step.planned.action}"


def result_line(seen: Observation | None) -> str:
    """What a step came to, on one line: what was found, or the error with its class; empty before it ended."""
    if seen is None:
        return ""
    if seen.success:
        return one_line(seen.summary)
    return one_line(f"{seen.error_class}: {seen.error or seen.summary}")


def _first(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"


def _fit(head: str, text: str, tail: str, width: int) -> str:
    """A line whose text gives way, so that what stands after it is never cut off."""
    room = width - cells(head) - cells(tail)
    return cut(head + cut(text, max(room, 8)) + tail, width)
