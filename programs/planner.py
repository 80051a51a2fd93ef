"""The planner: gives a frame its steps, from the model, from a rescued reply or from the kind of question."""

import dspy

from data.pattern import Pattern
from programs.assembly import is_limited
from programs.coverage import own_patterns
from programs.evidence import restored
from programs.planning import fallback, ordered, placed, rescued, stated
from programs.prompts import plan_inputs
from programs.run import Run
from runtime.errors import LimitReached, ParseFailure, StepError
from runtime.events import Planned
from runtime.frames import Frame
from signatures import PlannedStep


class Planner:
    """Plans the frames of one run."""

    def __init__(self, run: Run, predictor: dspy.Module) -> None:
        self._run = run
        self._predictor = predictor

    async def __call__(self, frame: Frame) -> None:
        """Give a frame its steps: the model's, rescued ones, or those that fit the kind of question."""
        run = self._run
        run.tell("plan", 0, 1, frame.task)
        warnings: list[tuple[str, str]] = []
        think, steps, degraded = "", [], False
        if not is_limited(run.state):
            try:
                reply = await run.ask(
                    self._predictor,
                    plan_inputs(run, frame),
                    key=f"{frame.id}/plan",
                    frame_id=frame.id,
                    check=check_steps,
                )
                think, steps = reply.think, restored(list(reply.steps))
            except ParseFailure as error:
                think, steps = restored(rescued(error.reply) or ("", []))
                degraded = True
                warnings.append(("plan_rescued", f"the plan could not be parsed: {error}"))
            except StepError as error:
                warnings.append(("plan_failed", f"the model gave no plan: {error}"))
            except LimitReached as error:
                warnings.append(("limit", run.told_limit(error)))
        if not any(each.action != "conclude" for each in stated(steps)):
            steps, degraded = fallback_of(run, frame), True
            think = "No usable plan was given: this one follows from the kind of question."
            warnings.append(("plan_fallback", "a fallback plan by kind of question is used"))
        plan = ordered(
            placed(steps, run.workspace.known),
            max_steps=run.limits.steps_per_frame,
            depth_left=depth_left(run, frame),
        )
        event = Planned(frame_id=frame.id, think=think, steps=plan.steps, degraded=degraded)
        run.commit(event, *run.warn(frame.id, [*warnings, *plan.warnings]))


def fallback_of(run: Run, frame: Frame) -> list[PlannedStep]:
    """The steps that a frame gets when there are none that can be used: by the kind of question."""
    kind = run.state.classified.question_kind if run.state.classified else "lookup"
    own = own_patterns(run.state, run.workspace)
    # Not those that a model thought of: it is the one whose plan cannot be used.
    patterns = [each for each in run.patterns if Pattern.parse(each).render() in own]
    return fallback(kind, frame.task, patterns, frame.targets)


def depth_left(run: Run, frame: Frame) -> int:
    """How many levels may still be opened below a frame; none when the run has all the frames it may."""
    room = len(run.state.frames) < run.limits.frames
    return run.limits.depth - frame.depth if room else 0


def read_in_place(run: Run, frame: Frame, step_id: str) -> tuple[str, str]:
    """The warning that a step is read where it stands, though it was meant to have a frame of its own."""
    deep = frame.depth >= run.limits.depth
    why = "no depth is left" if deep else "the run has all the frames that it may have"
    return "depth", f"step {step_id} is read here and gets no frame of its own: {why}"


def check_steps(reply: dspy.Prediction) -> None:
    """Refuse a list of steps that is not as long as it says: a cut list parses as a valid shorter one."""
    if reply.step_count != len(reply.steps):
        raise ParseFailure(
            f"step_count is {reply.step_count}, but there are {len(reply.steps)} steps"
        )
