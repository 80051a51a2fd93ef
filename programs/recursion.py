"""The loop of the recursive program: one move at a time, each committed before the next is chosen.

`route` names the next move from the committed state; planner, executor and refiner make it. There is no other
state than the committed one, so that a killed run goes on exactly where it was.
"""

from programs.assembly import assemble
from programs.classification import classified, scope
from programs.executor import Executor
from programs.observing import failure, success
from programs.planner import Planner
from programs.predictors import Predictors
from programs.refinement import RefinePolicy
from programs.refiner import Refiner
from programs.returning import reason, returned, summary
from programs.routing import begun, has_result, route
from programs.run import Run
from runtime.errors import LimitReached, LimitsError
from runtime.events import Finished, FramePopped, FramePushed, StepStatus
from runtime.frames import Frame


class Recursion:
    """The loop over one run."""

    def __init__(self, run: Run, predictors: Predictors, policy: RefinePolicy) -> None:
        self._run = run
        self._predictors = predictors
        self._plan = Planner(run, predictors.plan)
        self._execute = Executor(run, predictors)
        self._refine = Refiner(run, predictors.refine, policy)

    async def work(self) -> None:
        """Move until the run has an answer."""
        run = self._run
        if run.state.classified is None:
            await self._classify()
        while run.state.finished is None:
            frame = run.state.top
            if frame is not None and frame.unrefined and not begun(frame):
                await self._refine(frame)
            elif frame is not None and frame.planned and not frame.remaining:
                self._pop(frame)
            else:
                await self._move()

    async def _move(self) -> None:
        move = route(self._run.state, self._run.limits.in_flight)
        if move.move == "end" or move.frame is None:
            raise AssertionError("a run ends by its answer, and only then")
        if move.move == "plan":
            await self._plan(move.frame)
        else:
            await self._execute(move.frame, move.steps)

    async def _classify(self) -> None:
        """Classify the question, then make it the root frame."""
        run = self._run
        run.tell("classify", 0, 1)
        try:
            event, warnings = await classified(run, self._predictors.classify)
        except LimitReached as error:
            raise LimitsError(
                f"the limits are too small to start: {error}",
                hint="raise them, or leave them out",
            ) from error
        root = FramePushed(
            frame_id="root",
            parent_id="",
            parent_step="",
            depth=1,
            task=run.question,
            targets=scope(run.question, run.workspace.corpus),
            goal_chain=(),
        )
        run.commit(event, root, *run.warn("root", warnings))

    def _pop(self, frame: Frame) -> None:
        """End a frame whose steps have all ended: hand its result up, or finish the run with its answer."""
        run = self._run
        done = [step for step in frame.steps if has_result(step)]
        worked = [step for step in done if step.planned.action != "conclude"]
        payload = returned(run, frame)
        status: StepStatus = "completed" if worked else "failed"
        if worked:
            seen = success(summary(payload), payload)
        else:
            worst = next(iter(payload.error_classes), "not_found")
            seen = failure(worst, f"no step completed: {reason(frame)}"[:400], payload)
        popped = FramePopped(frame_id=frame.id, status=status, observation=seen)
        if frame.parent_id:
            run.commit(popped)
            return
        answer = assemble(run)
        run.commit(popped, Finished(outcome=answer.outcome, answer=answer.model_dump(mode="json")))
