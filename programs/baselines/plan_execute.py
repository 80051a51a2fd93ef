"""PlanExecute: the model plans once, code executes; nothing is refined and nothing recurses."""

from functools import partial
from typing import Unpack

import dspy

from programs.base import Program
from programs.baselines.fixed import keep
from programs.classification import classified
from programs.executor import Executor
from programs.planner import Planner
from programs.recursion import Recursion
from programs.run import Run
from programs.settings import ProgramSettings
from signatures import AnalyzeLeaf, ClassifyQuestion, Conclude, Plan


class PlanExecute(Program):
    """A planner and an executor: what Recursive is without refinement and without children."""

    name = "plan_execute"

    def __init__(self, **settings: Unpack[ProgramSettings]) -> None:
        super().__init__(**settings)
        self.limits = self.limits.narrowed(depth=1)
        self.classify = dspy.Predict(ClassifyQuestion)
        self.plan = dspy.Predict(Plan)
        self.analyze_leaf = dspy.Predict(AnalyzeLeaf)
        self.conclude = dspy.Predict(Conclude)

    async def work(self, run: Run) -> None:
        """Plan once and execute the steps in order."""
        await Recursion(
            run,
            classify=partial(classified, predictor=self.classify),
            plan=Planner(run, self.plan),
            execute=Executor(run, self.analyze_leaf, self.conclude),
            refine=partial(keep, run),
        ).work()
