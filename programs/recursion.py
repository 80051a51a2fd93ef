"""The loop of a program that works by plan: one move at a time, each committed before the next is chosen.

`route` names the next move from the committed state; planner, executor and refiner make it. There is no other
state than the committed one, so that a killed run goes on exactly where it was.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from programs.ending import begin, end_frame, starting
from programs.routing import begun, route
from programs.run import Run
from runtime.events import Classified
from runtime.frames import Frame, Step

Warnings = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Recursion:
    """The loop over one run, and the parts that make its moves.

    `classify` gives the kind of the question, `plan` the steps of a frame, `execute` runs steps, `refine` digests what
    they came to; each commits what it did.
    """

    run: Run
    classify: Callable[[Run], Awaitable[tuple[Classified, Warnings]]]
    plan: Callable[[Frame], Awaitable[None]]
    execute: Callable[[Frame, tuple[Step, ...]], Awaitable[None]]
    refine: Callable[[Frame], Awaitable[None]]

    async def work(self) -> None:
        """Move until the run has an answer."""
        run = self.run
        if run.state.classified is None:
            await self._begin()
        while run.state.finished is None:
            frame = run.state.top
            if frame is not None and frame.unrefined and not begun(frame):
                await self.refine(frame)
            elif frame is not None and frame.planned and not frame.remaining:
                end_frame(run, frame)
            else:
                await self._move()

    async def _move(self) -> None:
        move = route(self.run.state, self.run.limits.in_flight)
        if move.move == "end" or move.frame is None:
            raise AssertionError("a run ends by its answer, and only then")
        if move.move == "plan":
            await self.plan(move.frame)
        else:
            await self.execute(move.frame, move.steps)

    async def _begin(self) -> None:
        """Classify the question, then make it the root frame."""
        self.run.tell("classify", 0, 1)
        with starting():
            begin(self.run, *await self.classify(self.run))
