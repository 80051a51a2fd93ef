"""Frames and the state of a run: a fold over the events of the journal.

The state is immutable; `apply` returns a new one. A resumed run is the fold of what was committed, so that nothing
about the stack has to be remembered elsewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from runtime.events import (
    Accessed,
    Acted,
    Classified,
    Event,
    Finished,
    FramePopped,
    FramePushed,
    Planned,
    Refined,
    Routed,
    StepCommitted,
    StepStarted,
    StepStatus,
    Warned,
)
from runtime.observations import Observation
from signatures import PlannedStep

ENDED: frozenset[StepStatus] = frozenset(("completed", "failed", "timed_out", "blocked", "skipped"))
"""The statuses from which a step does not come back."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a frame: what was planned, and what became of it."""

    planned: PlannedStep
    status: StepStatus = "pending"
    attempts: int = 0
    observation: Observation | None = None
    seconds: float = 0.0

    @property
    def id(self) -> str:
        """The id of the step within its frame."""
        return self.planned.id

    @property
    def ended(self) -> bool:
        """Whether the step is over, whatever came of it."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Frame:
    """One task on the stack: task, think, steps, cursor, observations, result."""

    id: str
    parent_id: str
    parent_step: str
    depth: int
    task: str
    targets: tuple[str, ...]
    goal_chain: tuple[str, ...]
    planned: bool = False
    degraded: bool = False
    think: str = ""
    steps: tuple[Step, ...] = ()
    refinements: tuple[Refined, ...] = ()
    unrefined: tuple[str, ...] = ()
    status: StepStatus = "running"
    result: Observation | None = None

    @property
    def cursor(self) -> int:
        """Index of the first step that has not ended; the number of steps when all have."""
        return next((i for i, step in enumerate(self.steps) if not step.ended), len(self.steps))

    @property
    def remaining(self) -> tuple[Step, ...]:
        """Steps that have not ended."""
        return tuple(step for step in self.steps if not step.ended)

    def step(self, step_id: str) -> Step | None:
        """The step with this id, or None."""
        return next((step for step in self.steps if step.id == step_id), None)


@dataclass(frozen=True, slots=True)
class PlanChange:
    """A refinement and what it did to the remaining steps, as step ids. `changed` kept its id, not its content."""

    refined: Refined
    added: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything that the events say: stack, registry of all frames, last observation, final output."""

    frames: Mapping[str, Frame] = field(default_factory=lambda: MappingProxyType({}))
    stack: tuple[str, ...] = ()
    classified: Classified | None = None
    warnings: tuple[Warned, ...] = ()
    plan_changes: tuple[PlanChange, ...] = ()
    acted: tuple[Acted, ...] = ()
    accessed: tuple[Accessed, ...] = ()
    routed: Routed | None = None
    last_observation: Observation | None = None
    finished: Finished | None = None

    @property
    def top(self) -> Frame | None:
        """The frame that is being worked on, or None when the stack is empty."""
        return self.frames[self.stack[-1]] if self.stack else None

    def with_frame(self, frame: Frame) -> "RunState":
        """The state with one frame replaced."""
        return replace(self, frames=MappingProxyType({**self.frames, frame.id: frame}))


def fold(events: Iterable[Event]) -> RunState:
    """The state that a sequence of events leads to."""
    state = RunState()
    for event in events:
        state = apply(state, event)
    return state


def apply(state: RunState, event: Event) -> RunState:
    """The state after one more event."""
    match event:
        case FramePushed():
            return _pushed(state, event)
        case Planned():
            return _planned(state, event)
        case StepStarted():
            return _step(
                state, event.frame_id, event.step_id, status="running", attempts=event.attempt
            )
        case StepCommitted():
            return _committed(state, event)
        case Refined():
            return _refined(state, event)
        case FramePopped():
            return _popped(state, event)
        case Acted():
            return _acted(state, event)
        case _:
            return _noted(state, event)


def _noted(state: RunState, event: Classified | Accessed | Routed | Warned | Finished) -> RunState:
    """What concerns the run as a whole and changes no frame."""
    match event:
        case Classified():
            return replace(state, classified=event)
        case Accessed():
            return replace(state, accessed=(*state.accessed, event))
        case Routed():
            return replace(state, routed=event)
        case Warned():
            return replace(state, warnings=(*state.warnings, event))
        case Finished():
            return replace(state, finished=event)


def _pushed(state: RunState, event: FramePushed) -> RunState:
    frame = Frame(
        id=event.frame_id,
        parent_id=event.parent_id,
        parent_step=event.parent_step,
        depth=event.depth,
        task=event.task,
        targets=event.targets,
        goal_chain=event.goal_chain,
    )
    if event.parent_id:
        parent = state.frames[event.parent_id]
        step = parent.step(event.parent_step)
        started = step is not None and step.status == "running"  # its StepStarted counted it
        attempts = (step.attempts if step else 0) + (not started)
        state = _step(
            state, event.parent_id, event.parent_step, status="running", attempts=attempts
        )
    return replace(state.with_frame(frame), stack=(*state.stack, frame.id))


def _planned(state: RunState, event: Planned) -> RunState:
    frame = state.frames[event.frame_id]
    return state.with_frame(
        replace(
            frame,
            planned=True,
            degraded=event.degraded,
            think=event.think,
            steps=_replaced(frame, event.steps),
        )
    )


def _acted(state: RunState, event: Acted) -> RunState:
    """A step that was taken without a plan comes behind all others."""
    frame = state.frames[event.frame_id]
    steps = (*frame.steps, Step(event.step))
    frame = replace(frame, planned=True, think=event.think or frame.think, steps=steps)
    return replace(state.with_frame(frame), acted=(*state.acted, event))


def _step(state: RunState, frame_id: str, step_id: str, **changes: object) -> RunState:
    frame = state.frames[frame_id]
    steps = tuple(replace(step, **changes) if step.id == step_id else step for step in frame.steps)
    return state.with_frame(replace(frame, steps=steps))


def _committed(state: RunState, event: StepCommitted) -> RunState:
    state = _step(
        state,
        event.frame_id,
        event.step_id,
        status=event.status,
        observation=event.observation,
        seconds=event.seconds,
    )
    return _observed(state, event.frame_id, event.step_id, event.observation)


def _observed(state: RunState, frame_id: str, step_id: str, seen: Observation) -> RunState:
    frame = state.frames[frame_id]
    state = state.with_frame(replace(frame, unrefined=(*frame.unrefined, step_id)))
    return replace(state, last_observation=seen)


def _refined(state: RunState, event: Refined) -> RunState:
    frame = state.frames[event.frame_id]
    emptied = event.decision == "keep" and not event.steps  # to keep a plan is not to wipe it
    steps = frame.steps if emptied else _replaced(frame, event.steps)
    refined = replace(
        frame,
        steps=steps,
        think=event.think or frame.think,
        refinements=(*frame.refinements, event),
        unrefined=(),
    )
    change = _change(event, frame.remaining, refined.remaining)
    return replace(state.with_frame(refined), plan_changes=(*state.plan_changes, change))


def _replaced(frame: Frame, planned: Iterable[PlannedStep]) -> tuple[Step, ...]:
    """The steps of a frame with the pending ones replaced: what has begun or ended is never rewritten."""
    begun = tuple(step for step in frame.steps if step.status != "pending")
    pending = {step.id: step for step in frame.steps if step.status == "pending"}
    taken = {step.id for step in begun}
    new = {step.id: step for step in planned if step.id not in taken}
    return begun + tuple(
        pending[step.id] if step.id in pending and pending[step.id].planned == step else Step(step)
        for step in new.values()
    )


def _change(event: Refined, before: Iterable[Step], after: Iterable[Step]) -> PlanChange:
    old = {step.id: step.planned for step in before}
    new = {step.id: step.planned for step in after}
    return PlanChange(
        refined=event,
        added=tuple(each for each in new if each not in old),
        removed=tuple(each for each in old if each not in new),
        kept=tuple(each for each in new if old.get(each) == new[each]),
        changed=tuple(each for each in new if each in old and old[each] != new[each]),
    )


def _popped(state: RunState, event: FramePopped) -> RunState:
    frame = state.frames[event.frame_id]
    state = state.with_frame(replace(frame, status=event.status, result=event.observation))
    state = replace(state, stack=tuple(each for each in state.stack if each != frame.id))
    if not frame.parent_id:
        return replace(state, last_observation=event.observation)
    state = _step(
        state,
        frame.parent_id,
        frame.parent_step,
        status=event.status,
        observation=event.observation,
    )
    return _observed(state, frame.parent_id, frame.parent_step, event.observation)
