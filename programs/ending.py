"""The ends of a run: how it begins with its root frame, and what a frame comes to when its steps have ended."""

from collections.abc import Iterator
from contextlib import contextmanager

from programs.assembly import assemble
from programs.classification import scope
from programs.observing import failure, success
from programs.returning import reason, returned, summary
from programs.routing import has_result
from programs.run import Run
from runtime.errors import LimitReached, LimitsError
from runtime.events import Classified, Event, Finished, FramePopped, FramePushed, StepStatus
from runtime.frames import Frame


@contextmanager
def starting() -> Iterator[None]:
    """A block with the first call of a run. Limits that do not allow that one are a mistake: LimitsError."""
    try:
        yield
    except LimitReached as error:
        raise LimitsError(
            f"the limits are too small to start: {error}",
            hint="raise them, or leave them out",
        ) from error


def begin(run: Run, event: Classified, warnings: list[tuple[str, str]]) -> None:
    """Commit the classification and make the question the root frame."""
    run.commit(*opening(run, event, warnings))


def opening(run: Run, event: Classified, warnings: list[tuple[str, str]]) -> list[Event]:
    """The events with which a run begins: the classification, and the question as the root frame."""
    root = FramePushed(
        frame_id="root",
        parent_id="",
        parent_step="",
        depth=1,
        task=run.question,
        targets=scope(run.question, run.workspace.corpus),
        goal_chain=(),
    )
    return [event, root, *run.warn("root", warnings)]


def end_frame(run: Run, frame: Frame) -> None:
    """End a frame whose steps have all ended: hand its result up, or finish the run with its answer."""
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
