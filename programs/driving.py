"""The loop of the action space `tools`: one typed tool call a turn, each committed before the next is asked for.

There is no other state than the committed one: a killed run goes on at its turn, and a call that was answered is not
made again.
"""

from typing import Any

import dspy

from programs.assembly import is_limited
from programs.ending import end_frame
from programs.evidence import restored
from programs.leaf import check_leaf
from programs.run import Run
from programs.submitting import SUBMIT, submit
from programs.tools.toolbox import Toolbox
from programs.turns import acts_of, close, is_stuck, shown_turns, submitted_step, turn_count
from runtime.errors import LimitReached, StepError
from runtime.frames import Frame, Step
from signatures import ToolCall

_HISTORY = 3
"""Outputs of full size that a prompt has room for."""


class Driving:
    """The loop over one run."""

    def __init__(self, run: Run, act: dspy.Module, toolbox: Toolbox, max_turns: int) -> None:
        self._run = run
        self._act = act
        self._toolbox = toolbox
        self._max_turns = max_turns

    async def work(self) -> None:
        """Move until the run has an answer."""
        run = self._run
        while run.state.finished is None:
            frame = run.state.top
            if frame is None:
                raise AssertionError("a run ends by its answer, and only then")
            broken_off = frame.remaining
            if submitted_step(frame):
                end_frame(run, frame)
            elif broken_off:
                await self._again(frame, broken_off[0])
            else:
                await self._turn(frame)

    async def _again(self, frame: Frame, step: Step) -> None:
        """Make a call once more that was begun by a process which died."""
        step_id = step.id.partition(".")[0]
        act = next(each for each in acts_of(self._run.state, frame) if each.step.id == step_id)
        await self._call(frame, act.turn, act.think, act.tool, act.arguments)

    async def _turn(self, frame: Frame) -> None:
        """Ask for the next call and make it; close the frame when there is none to be had."""
        run = self._run
        number = turn_count(run.state, frame) + 1
        if self._closed(frame, number):
            return
        final = number == self._max_turns or is_limited(run.state)
        run.tell("act", number - 1, self._max_turns, frame.task)
        try:
            reply = await run.ask(
                self._act,
                self._inputs(frame, 0 if final else self._max_turns - number),
                key=f"{frame.id}/turn{number}",
                closing=final and not frame.parent_id,  # what is kept back is for the root
                frame_id=frame.id,
                step_id=f"t{number}",
                check=_check,
            )
        except LimitReached as error:
            if final:
                close(run, frame, "limit", run.told_limit(error))
            else:  # what is kept back for the conclusion is enough to ask for one
                run.commit(*run.warn(frame.id, [("limit", run.told_limit(error))]))
            return
        except StepError as error:
            close(run, frame, "limit_act", f"the model did not say what to do next: {error}")
            return
        await self._done(frame, number, reply, final=final)

    async def _done(
        self, frame: Frame, number: int, reply: dspy.Prediction, *, final: bool
    ) -> None:
        """Do what a reply says."""
        call: ToolCall = restored(reply.call)
        if call.tool == SUBMIT:
            submit(
                self._run,
                frame,
                turn=number,
                think=restored(reply.think),
                answer=restored(reply.answer),
                claims=restored(list(reply.claims)),
                evidence=restored(list(reply.evidence)),
                last=final,
            )
        elif final:
            text = f"{frame.id} had no turn left and did not submit"
            close(self._run, frame, "limit_turns", text)
        else:
            await self._call(frame, number, restored(reply.think), call.tool, arguments(call))

    def _closed(self, frame: Frame, number: int) -> bool:
        """Whether the frame may take no more turns; it is closed then."""
        run = self._run
        if number > self._max_turns:
            text = f"{frame.id} used its {self._max_turns} turns and did not submit"
            close(run, frame, "limit_turns", text)
        elif is_stuck(acts_of(run.state, frame)):
            close(run, frame, "limit_turns", f"{frame.id} made the same call over and over")
        elif is_limited(run.state) and frame.parent_id:  # what is kept back is for the root
            close(run, frame)
        else:
            return False
        return True

    async def _call(
        self, frame: Frame, turn: int, think: str, tool: str, given: dict[str, Any]
    ) -> None:
        await self._toolbox.call(
            frame, turn=turn, step_id=f"t{turn}", think=think, tool=tool, arguments=given
        )

    def _inputs(self, frame: Frame, turns_left: int) -> dict[str, Any]:
        run = self._run
        room = _HISTORY * run.limits.tool_output_chars
        return {
            "question": frame.task,
            "kind": run.kind,
            "patterns": list(run.patterns),
            "goal_chain": list(frame.goal_chain),
            "overview": run.workspace.overview(frame.targets),
            "turns": shown_turns(run, frame, self._toolbox, room),
            "budget": run.ledger.describe(),
            "turns_left": turns_left,
        }


def _check(reply: dspy.Prediction) -> None:
    """Refuse a submission that was cut."""
    if reply.call.tool == SUBMIT:
        check_leaf(reply)


_USED = {
    "list_sources": ("source", "cursor"),
    "search": ("pattern", "ignore_case", "source", "cursor"),
    "count": ("pattern", "by", "ignore_case", "source"),
    "rank": ("query", "k"),
    "read_span": ("source", "first_line", "last_line", "cursor"),
    "subcall": ("cursor",),
    "budget": (),
}


def arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call by the names of the tool; what the tool does not use, and what is empty, is left out."""
    given = {name: getattr(call, name) for name in _USED[call.tool]}
    given = {name: value for name, value in given.items() if value not in ("", 0)}
    if call.tool == "subcall":
        return {"question": call.query, "span_ids": list(call.ids), **given}
    if call.tool == "read_span" and call.ids:
        at = {"cursor": call.cursor} if call.cursor else {}
        return {"span_id": call.ids[0], **at}
    return given
