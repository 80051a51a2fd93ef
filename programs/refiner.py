"""The refiner: digests the observations of a frame and commits what the remaining steps come to."""

from dataclasses import replace

import dspy

from programs.assembly import is_limited
from programs.closing import counting, findings, lacking, reading, scans, stuck
from programs.coverage import coverage
from programs.evidence import restored
from programs.observing import counted
from programs.planner import check_steps, depth_left, fallback_of
from programs.planning import placed, stated
from programs.prompts import refine_inputs
from programs.refinement import (
    Refinement,
    RefinePolicy,
    accepted,
    asks_model,
    by_class,
)
from programs.repeats import ALLOWED, repeats
from programs.run import Run
from runtime.errors import LimitReached, StepError
from runtime.events import Refined
from runtime.frames import Frame, Step
from signatures import PlannedStep


class Refiner:
    """Refines the frames of one run."""

    def __init__(self, run: Run, predictor: dspy.Module, policy: RefinePolicy) -> None:
        self._run = run
        self._predictor = predictor
        self._policy: RefinePolicy = policy

    async def __call__(self, frame: Frame) -> None:
        """Digest the observations that have not been digested; rewrite only what remains."""
        run = self._run
        # In the order of the plan: steps that ran at once ended in any order, and a prompt must not depend on it.
        steps = tuple(step for step in frame.steps if step.id in frame.unrefined)
        warnings: list[tuple[str, str]] = []
        mended = by_class(frame, steps, run.limits.retries)
        if mended.decision == "keep" and self._asks(frame, steps):
            if _spent(frame, run.limits.refinements_per_frame):
                warnings = self._warned_once(frame)
            else:
                run.tell("refine", 0, 1, frame.task)
                mended, warnings = await self._refined_by_model(frame, steps, mended)
        if not frame.parent_id:  # a child tells its parent, which can do something about it
            mended, more = self._completed(frame, mended)
            warnings = [*warnings, *more]
        event = Refined(
            frame_id=frame.id,
            after=tuple(step.id for step in steps),
            decision=mended.decision,
            reason=mended.reason,
            think=mended.think,
            steps=mended.steps,
            degraded=mended.degraded,
            called_model=mended.called_model,
        )
        run.commit(event, *run.warn(frame.id, warnings))

    def _asks(self, frame: Frame, steps: tuple[Step, ...]) -> bool:
        """Whether the model's view is wanted. A plan that repeats itself, or never works, is not discussed any more."""
        if not frame.remaining or is_limited(self._run.state):
            return False
        if repeats(frame) > ALLOWED or stuck(frame):
            return False
        seen_before = any(
            step.observation and step.observation.error_class == "repeat" for step in steps
        )
        return asks_model(self._policy, frame, steps, seen_before)

    def _completed(
        self, frame: Frame, mended: Refinement
    ) -> tuple[Refinement, list[tuple[str, str]]]:
        """The refinement, with what a frame that is about to close still lacks."""
        run = self._run
        asked = run.state.classified
        lack = lacking(
            frame,
            mended.steps,
            counts=run.kind == "count",
            requires_all=asked is not None and asked.requires_all,
            settled=lambda: not coverage(run.state, run.workspace, found=False).unread,
        )
        if lack == "count":
            return _with(mended, counting(scans(frame)), "What was found is counted by code."), []
        if is_limited(run.state) or not lack:
            return mended, []
        if lack == "plan":
            return self._replanned(frame, called=mended.called_model)
        step = reading(findings(frame), frame.task)
        return _with(mended, step, "What was found is read before it is concluded from."), []

    def _replanned(self, frame: Frame, *, called: bool) -> tuple[Refinement, list[tuple[str, str]]]:
        """The plan by kind of question, in place of one that cannot answer it."""
        run = self._run
        plan = accepted(
            "revise",
            fallback_of(run, frame),
            frame,
            max_steps=run.limits.steps_per_frame,
            depth_left=depth_left(run, frame),
        )
        reason = "The plan cannot answer this: the plan by kind of question takes its place."
        warning = ("plan_fallback", "a fallback plan by kind of question is used")
        refinement = Refinement(
            "revise", reason, "", plan.steps, degraded=True, called_model=called
        )
        return refinement, [warning, *plan.warnings]

    def _warned_once(self, frame: Frame) -> list[tuple[str, str]]:
        cap = self._run.limits.refinements_per_frame
        text = f"the plan of {frame.id} stands from here on: it was refined {counted(cap, 'time')}"
        told = any(each.message == text for each in self._run.state.warnings)
        return [] if told else [("limit_refinements", text)]

    async def _refined_by_model(
        self, frame: Frame, steps: tuple[Step, ...], kept: Refinement
    ) -> tuple[Refinement, list[tuple[str, str]]]:
        run = self._run
        number = len(frame.refinements) + 1
        try:
            reply = await run.ask(
                self._predictor,
                refine_inputs(run, frame, steps),
                key=f"{frame.id}/refine{number}",
                frame_id=frame.id,
                step_id=steps[0].id if steps else "",
                check=_check,
            )
        except StepError as error:
            text = f"no usable refinement, the plan stands: {error}"
            return _unusable(kept, called=True), [("refine_failed", text)]
        except LimitReached as error:
            return _unusable(kept, called=False), [("limit", run.told_limit(error))]
        plan = accepted(
            reply.decision,
            placed(restored(list(reply.steps)), run.workspace.known),
            frame,
            max_steps=run.limits.steps_per_frame,
            depth_left=depth_left(run, frame),
        )
        kept_as_it_is = reply.decision == "revise" and not stated(reply.steps)
        decision = "keep" if kept_as_it_is else reply.decision
        refinement = Refinement(
            decision=decision,
            reason=reply.reason,
            think=reply.think_next,
            steps=plan.steps,
            called_model=True,
        )
        return refinement, list(plan.warnings)


def _with(mended: Refinement, step: PlannedStep, reason: str) -> Refinement:
    steps = (step, *mended.steps)
    return replace(mended, decision="revise", reason=reason, steps=steps, degraded=False)


def _check(reply: dspy.Prediction) -> None:
    """Refuse a list that was cut; where none is used, what stands in it does not matter."""
    if reply.decision == "revise":
        check_steps(reply)


def _spent(frame: Frame, cap: int) -> bool:
    """Whether the model was asked as often as it may be; attempts count, not successes."""
    return sum(each.called_model for each in frame.refinements) >= cap


def _unusable(kept: Refinement, *, called: bool) -> Refinement:
    return Refinement(kept.decision, kept.reason, kept.think, kept.steps, True, called)
