"""Fixed plans: the base of the programs whose steps are the same for every question of a kind.

Code classifies the question and plans; a model reads and concludes. Nothing is refined: a baseline that is
mended on the way would not be one.
"""

from abc import abstractmethod
from functools import partial
from typing import Unpack

import dspy

from programs.base import Program
from programs.classification import signaled
from programs.executor import Executor
from programs.recursion import Recursion
from programs.run import Run
from programs.settings import ProgramSettings
from runtime.events import Planned, Refined
from runtime.frames import Frame
from signatures import AnalyzeLeaf, Conclude, PlannedStep


class FixedPlan(Program):
    """A program whose plan is made by code. Settings are those of Program."""

    min_calls = 2
    """To read and to conclude."""

    def __init__(self, **settings: Unpack[ProgramSettings]) -> None:
        super().__init__(**settings)
        self.analyze_leaf: dspy.Module = dspy.Predict(AnalyzeLeaf)
        self.conclude = dspy.Predict(Conclude)

    @abstractmethod
    def steps(self, run: Run) -> tuple[str, list[PlannedStep]]:
        """Why these steps, in a sentence, and the steps of the run's only frame."""

    def executor(self, run: Run) -> Executor:
        """What executes them."""
        return Executor(run, self.analyze_leaf, self.conclude)

    async def work(self, run: Run) -> None:
        """Execute the plan, step by step."""
        await Recursion(
            run,
            classify=signaled,
            plan=partial(self._planned, run),
            execute=self.executor(run),
            refine=partial(keep, run),
        ).work()

    async def _planned(self, run: Run, frame: Frame) -> None:
        think, steps = self.steps(run)
        run.commit(Planned(frame_id=frame.id, think=think, steps=tuple(steps), degraded=False))


async def keep(run: Run, frame: Frame) -> None:
    """Take note of what steps came to; the plan stands as it is."""
    run.commit(
        Refined(
            frame_id=frame.id,
            after=tuple(step.id for step in frame.steps if step.id in frame.unrefined),
            decision="keep",
            reason="a fixed plan stands",
            think="",
            steps=(),
            degraded=False,
            called_model=False,
        )
    )
