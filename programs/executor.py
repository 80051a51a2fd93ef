"""The executor: runs steps, one or several independent ones, and commits each with its observation."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

import dspy

from programs.actions import RANKED, rank, read, scan
from programs.assembly import is_limited
from programs.compute import compute
from programs.conclusion import Conclusion
from programs.coverage import coverage, described
from programs.leaf import LeafAnalysis, Select, selected
from programs.observing import failure, from_error, success
from programs.planner import depth_left, read_in_place
from programs.readings import Targets
from programs.repeats import ALLOWED, earlier, repeats, signature_of
from programs.returning import returned
from programs.routing import is_blocked, over_cap
from programs.run import Run
from programs.workspace import Workspace
from runtime.errors import LimitReached, ParseFailure, PatternError, StepError, TimeoutFailure
from runtime.events import FramePushed, StepCommitted, StepStarted, StepStatus
from runtime.fanout import together
from runtime.frames import Frame, Step
from runtime.observations import Observation
from signatures import PlannedStep

Analyze = Callable[[Frame, PlannedStep], Awaitable[Observation]]
"""An analyze action: what readers say about what a step names."""

_CODE_ACTIONS: dict[str, Callable[[Workspace, Frame, PlannedStep], Observation]] = {
    "scan": scan,
    "rank": rank,
    "read": read,
    "compute": compute,
}


class Executor:
    """Executes the steps of one run.

    `select` decides what readers are given, and `ranked` how many spans a ranking hands on. `analyze` takes the place
    of the leaf analysis.
    """

    def __init__(
        self,
        run: Run,
        analyze_leaf: dspy.Module,
        conclude: dspy.Module,
        select: Select = selected,
        *,
        ranked: int = RANKED,
        analyze: Analyze | None = None,
    ) -> None:
        self._run = run
        self._analyze = analyze or LeafAnalysis(run, analyze_leaf, select)
        self._conclude = Conclusion(run, conclude)
        self._actions = {**_CODE_ACTIONS, "rank": partial(rank, most=ranked)}

    async def __call__(self, frame: Frame, steps: tuple[Step, ...]) -> None:
        """Make a composite step a frame, or run the steps."""
        first = steps[0]
        composite = first.planned.action == "subtask" and self._refused(frame, first) is None
        if composite and depth_left(self._run, frame) > 0:
            self._push(frame, first)
            return
        if composite:
            self._run.commit(*self._run.warn(frame.id, [read_in_place(self._run, frame, first.id)]))
        await self._execute(frame, steps)

    def _push(self, frame: Frame, step: Step) -> None:
        """Make a composite step a frame on the stack; one that has nothing to work on fails."""
        visit = f"#{step.attempts + 1}" if step.attempts else ""
        try:
            targets = Targets(self._run.workspace, frame).partition_targets(step.planned.targets)
        except StepError as error:
            self._end(frame, step, "failed", from_error(error), [])
            return
        self._run.commit(
            FramePushed(
                frame_id=f"{frame.id}.{step.id}{visit}",
                parent_id=frame.id,
                parent_step=step.id,
                depth=frame.depth + 1,
                task=step.planned.query or step.planned.description,
                targets=targets,
                goal_chain=(*frame.goal_chain, frame.task),
            )
        )

    async def _execute(self, frame: Frame, steps: tuple[Step, ...]) -> None:
        """Run one step, or several independent ones, and commit each with its observation."""
        run = self._run
        ready: dict[str, Step] = {}
        for step in steps:
            refused = None if step.status == "running" else self._refused(frame, step)
            if refused is None:
                ready.setdefault(signature_of(frame, step.planned), step)
            else:
                self._end(frame, step, *refused)
        if not ready:
            return
        run.commit(
            *(
                StepStarted(frame_id=frame.id, step_id=each.id, attempt=each.attempts + 1)
                for each in ready.values()
            )
        )
        await together(self._step(frame, each) for each in ready.values())

    def _refused(
        self, frame: Frame, step: Step
    ) -> tuple[StepStatus, Observation, list[tuple[str, str]]] | None:
        """Why a step is not run, if it is not: with its status, observation and warnings."""
        run, planned = self._run, step.planned
        if planned.action == "conclude":
            return None
        if is_blocked(frame, planned):
            seen = failure("missing_input", "a step that it needs did not complete")
            return "blocked", seen, []
        if over_cap(frame, run.limits.steps_per_frame):
            text = f"the frame has run its {run.limits.steps_per_frame} steps"
            return "skipped", failure("limit", text), [("limit_steps", text)]
        if is_limited(run.state) and planned.action in ("analyze", "subtask"):
            return "skipped", failure("limit", "a limit of the run was reached"), []
        twin = earlier(run.state, frame, step)
        if twin is not None or repeats(frame) > ALLOWED:
            return _repeated(step, twin)
        return None

    async def _step(self, frame: Frame, step: Step) -> None:
        """Run a step and commit its end: status, result and cursor in one transaction."""
        run = self._run
        started = time.monotonic()
        warnings: list[tuple[str, str]] = []
        status: StepStatus = "completed"
        try:
            seen = await self._observed(frame, step.planned)
            if not seen.success:
                status = "failed"
            if seen.error_class == "limit":
                warnings.append(("limit", seen.error))
            elif seen.error_class and step.planned.action == "conclude":
                text = f"no usable conclusion, the findings are given as they are: {seen.error}"
                warnings.append(("conclude_failed", text))
        except TimeoutFailure as error:
            seen, status = from_error(error), "timed_out"
        except StepError as error:
            seen, status = from_error(error), "failed"
        except LimitReached as error:
            seen, status = failure("limit", run.told_limit(error)), "failed"
            warnings.append(("limit", run.told_limit(error)))
        self._end(frame, step, status, seen, warnings, time.monotonic() - started)

    def _end(
        self,
        frame: Frame,
        step: Step,
        status: StepStatus,
        seen: Observation,
        warnings: list[tuple[str, str]],
        seconds: float = 0.0,
    ) -> None:
        """Commit the end of a step."""
        event = StepCommitted(frame_id=frame.id, step_id=step.id, status=status,
                              observation=seen, seconds=seconds)  # fmt: skip
        self._run.commit(event, *self._run.warn(frame.id, warnings))

    async def _observed(self, frame: Frame, planned: PlannedStep) -> Observation:
        run = self._run
        if planned.action in ("analyze", "subtask"):
            return await self._analyze(frame, planned)
        if planned.action == "conclude":
            return await self._concluded(frame, planned)
        run.tell(planned.action, 0, 1, planned.description)
        action = self._actions[planned.action]
        seconds = run.limits.action_seconds
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(action, run.workspace, frame, planned)
        except PatternError as error:
            raise ParseFailure(f"{error.message} {error.hint}") from error
        except TimeoutError as error:
            raise TimeoutFailure(f"{planned.action} took longer than {seconds:g} s") from error

    async def _concluded(self, frame: Frame, planned: PlannedStep) -> Observation:
        """The root's conclusion is written by the model; a child hands up what it found, merged by code."""
        run = self._run
        if not frame.parent_id:
            reach = described(coverage(run.state, run.workspace, found=True))
            return await self._conclude(frame, planned, reach)
        return success("handed up", returned(run, frame))


def _repeated(
    step: Step, twin: Step | None
) -> tuple[StepStatus, Observation, list[tuple[str, str]]]:
    """A step that is not run again: it comes to what the one that did the same came to."""
    seen = twin.observation if twin is not None else None
    if twin is None or seen is None:
        text = "the plan repeats itself"
        return "skipped", failure("repeat", text), [("repeat", f"step {step.id}: {text}")]
    text = f"the same as step {twin.id}: {seen.summary}"
    warning = f"step {step.id} is the same as step {twin.id}"
    return "skipped", failure("repeat", text, seen.payload), [("repeat", warning)]
