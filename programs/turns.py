"""Turns: what a frame whose model drives has done, as the model sees it again, and how such a frame closes."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby

from programs.conclusion import as_they_are, gathered
from programs.observing import counted, success
from programs.run import Run
from programs.tools.searching import computing_id
from programs.tools.tool import step_of
from programs.tools.toolbox import Toolbox
from runtime.events import Acted, StepCommitted
from runtime.frames import Frame, RunState
from runtime.observations import Concluded, Observation
from signatures import TurnShown

FADED = 300
"""Characters that are left of an output which has grown old."""
REPEATS = 2
"""How often the very same call may follow itself before the frame is closed."""
CLOSING = "closing"
"""The step by which code closes a frame that did not submit."""


def acts_of(state: RunState, frame: Frame) -> tuple[Acted, ...]:
    """The actions of one frame, in order; what code computes from an action is none of its own."""
    acts = (each for each in state.acted if each.frame_id == frame.id)
    return tuple(each for each in acts if not _is_computation(each.step.id))


def _is_computation(step_id: str) -> bool:
    return step_id == computing_id(step_id.rpartition(".")[0])


def turn_count(state: RunState, frame: Frame) -> int:
    """How many turns a frame has begun."""
    return max((each.turn for each in acts_of(state, frame)), default=0)


def shown_turns(run: Run, frame: Frame, toolbox: Toolbox, room: int) -> list[TurnShown]:
    """The turns with their outputs; once they are more than `room` characters, the oldest ones fade."""
    told = []
    for number, acts in groupby(acts_of(run.state, frame), key=lambda each: each.turn):
        first = next(acts)
        step = run.state.frames[frame.id].step(first.step.id)
        if step is None or step.observation is None:
            continue
        output = json.dumps(toolbox.output(frame, step), ensure_ascii=False)
        told.append(TurnShown(turn=number, call=first.step.description, output=output))
    return faded(told, room)


def faded(turns: Sequence[TurnShown], room: int) -> list[TurnShown]:
    """The turns, the newest whole; from where they fill `room`, only the beginning of each output is kept."""
    kept: list[TurnShown] = []
    for turn in reversed(turns):
        room -= len(turn.output)
        if kept and room < 0 and len(turn.output) > FADED:
            text = f"{turn.output[:FADED]}... (cut: {len(turn.output)} characters; call again)"
            turn = turn.model_copy(update={"output": text})
        kept.append(turn)
    return kept[::-1]


def is_stuck(acts: Iterable[Acted]) -> bool:
    """Whether the last calls were the very same, once too often. The second step of a count is no call."""
    calls = [(each.tool, each.arguments) for each in acts if "." not in each.step.id]
    last = calls[-(REPEATS + 1) :]
    return len(last) > REPEATS and all(each == last[0] for each in last)


def mechanical(run: Run, frame: Frame) -> Observation:
    """The findings of a frame as they are: verified, and worded by nobody."""
    claims, computed = gathered(run, frame)
    usable = [claim for claim in claims if claim.status != "insufficient"]
    statements = tuple(as_they_are(usable, computed) if run.kind == "count" else usable)
    payload = Concluded(statements=statements, unknowns=(), mechanical=True)
    return success(counted(len(statements), "finding"), payload)


def close(run: Run, frame: Frame, code: str = "", message: str = "") -> None:
    """Close a frame that did not submit: what was verified is given as it is, and the reason is told."""
    frame = run.state.frames[frame.id]  # as it is now
    step = step_of(CLOSING, "Give what was found as it is", "conclude")
    act = Acted(
        frame_id=frame.id,
        turn=turn_count(run.state, frame),
        think="",
        tool="submit",
        arguments={},
        step=step,
    )
    end = StepCommitted(
        frame_id=frame.id,
        step_id=step.id,
        status="completed",
        observation=mechanical(run, frame),
        seconds=0.0,
    )
    run.commit(act, end, *run.warn(frame.id, [(code, message)] if code else []))


def submitted_step(frame: Frame) -> bool:
    """Whether a frame has ended by a submission, or was closed."""
    return any(
        step.planned.action == "conclude" and step.status == "completed" for step in frame.steps
    )
