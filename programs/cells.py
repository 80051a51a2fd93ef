"""Cells: the code that a model writes in one frame, one cell a turn, with the tool calls that each cell makes."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import dspy

from programs.assembly import is_limited
from programs.observing import counted, failure, success
from programs.run import Run
from programs.tools.tool import step_of
from programs.tools.toolbox import Toolbox
from programs.turns import acts_of
from runtime.errors import LimitReached, RunError, SpantreeError
from runtime.events import Acted, StepCommitted, StepStarted
from runtime.frames import Frame, Step
from runtime.observations import CellRan, Observation
from runtime.sandbox import Cell

_HEAD = 70
_LAST = " (the last one: SUBMIT now)"


class CellsSpent(SpantreeError):
    """Raised when a frame has no cell left. `dspy.RLM` would make an answer of a trajectory that has none."""


class Cells:
    """The cells of one frame, `most` at most. `descend` works a frame that a tool call opened, to its end."""

    def __init__(
        self,
        run: Run,
        frame_id: str,
        toolbox: Toolbox,
        descend: Callable[[Frame], Awaitable[None]],
        most: int,
    ) -> None:
        self._run = run
        self._frame_id = frame_id
        self._toolbox = toolbox
        self._descend = descend
        self._most = most
        self._calls = 0
        self._final = False
        self.number = 0

    @property
    def _frame(self) -> Frame:
        return self._run.state.frames[self._frame_id]

    @property
    def _id(self) -> str:
        return f"c{self.number}"

    async def next(
        self, predictor: dspy.Predict, signature: Any, inputs: dict[str, Any]
    ) -> dspy.Prediction:
        """Ask for the next cell, or take the recorded one. Raises CellsSpent, and what Run.ask raises."""
        run, number = self._run, self.number + 1
        self._close_unrun()
        if number > self._most or self._final:
            raise CellsSpent(f"{self._frame_id} has no cell left")
        run.tell("code", number - 1, self._most, self._frame.task)
        self._final = self._is_final(number)
        try:
            reply = await self._asked(predictor, signature, inputs, number)
        except LimitReached as error:
            if self._final or self._frame.parent_id:  # what is kept back is for the root
                raise
            run.commit(*run.warn(self._frame_id, [("limit", run.told_limit(error))]))
            self._final = True
            reply = await self._asked(predictor, signature, inputs, number)
        self.number, self._calls = number, 0
        self._begin(reply)
        return reply

    def _is_final(self, number: int) -> bool:
        """Whether no cell may follow this one; of a cell that was begun before, what was true then."""
        begun = next((each for each in self._acts() if each.turn == number), None)
        if begun is not None:
            return bool(begun.arguments.get("final"))
        return number == self._most or is_limited(self._run.state)

    def _acts(self) -> list[Acted]:
        return [each for each in acts_of(self._run.state, self._frame) if each.tool == "code"]

    async def _asked(
        self, predictor: dspy.Predict, signature: Any, inputs: dict[str, Any], number: int
    ) -> dspy.Prediction:
        place = f"{number}/{number}{_LAST}" if self._final else f"{number}/{self._most}"
        return await self._run.ask(
            predictor,
            {**inputs, "iteration": place},
            key=f"{self._frame_id}/cell{number}",
            closing=self._final and not self._frame.parent_id,
            frame_id=self._frame_id,
            step_id=f"c{number}",
            signature=signature,
        )

    @property
    def replayed(self) -> bool:
        """Whether the cell that runs has run to its end before."""
        step = self._frame.step(self._id)
        return step is not None and step.ended

    def _begin(self, reply: dspy.Prediction) -> None:
        step, code = self._frame.step(self._id), reply.code or ""
        if step is not None:
            return
        lines = [line for line in code.splitlines() if line.strip(" `")]
        head = next((line.strip() for line in lines if not line.startswith("```")), "nothing")
        act = Acted(
            frame_id=self._frame_id,
            turn=self.number,
            think=reply.reasoning or "",
            tool="code",
            arguments={"code": code, "final": self._final},
            step=step_of(self._id, head[:_HEAD], "code"),
        )
        begun = StepStarted(frame_id=self._frame_id, step_id=self._id, attempt=1)
        self._run.commit(act, begun)

    async def call(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """One tool call of the cell that runs, or its recorded result."""
        self._calls += 1
        step_id = f"{self._id}.{self._calls}"
        found = await self._toolbox.call(
            self._frame, turn=self.number, step_id=step_id, think="", tool=name, arguments=given
        )
        if found is not None:
            return found
        run = self._run
        child = next(
            each
            for each in run.state.frames.values()
            if each.parent_id == self._frame_id and each.parent_step == step_id
        )
        await self._descend(child)
        return self._toolbox.output(self._frame, self._ended_step(step_id))

    def ended(self, cell: Cell) -> None:
        """Commit the end of the cell that ran, unless this is a replay of it."""
        step = self._frame.step(self._id)
        if step is None or step.ended:
            return
        payload = CellRan(
            code_hash=hashlib.sha256(cell.code.encode("utf-8", "replace")).hexdigest()[:16],
            output_characters=cell.output_characters,
            tool_calls=cell.tool_calls,
            seconds=cell.seconds_in_sandbox,
            reset=cell.reset,
            error=cell.error[:400],
        )
        told = f"{counted(cell.output_characters, 'character')} of output"
        if cell.tool_calls:
            told += f", {counted(cell.tool_calls, 'tool call')}"
        if cell.error:
            self._end(failure("sandbox", cell.error[:400], payload), cell.seconds_in_sandbox)
        else:
            self._end(success(told, payload), cell.seconds_in_sandbox)

    def _close_unrun(self) -> None:
        """End a cell that was never run, because it is no Python."""
        step = self._frame.step(self._id)
        if step is not None and not step.ended:
            self._end(failure("parse_failure", "the reply holds no Python that could be run"), 0.0)

    def _end(self, seen: Observation, seconds: float) -> None:
        self._run.commit(
            StepCommitted(
                frame_id=self._frame_id,
                step_id=self._id,
                status="completed" if seen.success else "failed",
                observation=seen,
                seconds=seconds,
            )
        )

    def _ended_step(self, step_id: str) -> Step:
        step = self._frame.step(step_id)
        if step is None or not step.ended:
            raise RunError(
                f"the replay of {self._frame_id} took another way than the run",
                hint="ask again: the code of the run depends on something that changed",
            )
        return step
