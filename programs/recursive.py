"""Recursive: plan, execute, refine and recurse over a corpus, with an explicit stack.

The scheme is that of ReCAP (Zhang et al., "ReCAP: Recursive Context-Aware Reasoning and Planning for Large Language
Model Agents", 2025): a plan of primitive and composite steps, refinement of the remaining ones after each observation
and after a child's return, and the parent's plan put back before the model when a child ends.
"""

from functools import partial
from typing import Any, Unpack, get_args

import dspy

from programs.base import Program
from programs.classification import classified
from programs.executor import Executor
from programs.planner import Planner
from programs.recursion import Recursion
from programs.refinement import RefinePolicy
from programs.refiner import Refiner
from programs.run import Run
from programs.settings import ProgramSettings
from runtime.errors import LimitsError
from runtime.limits import Limits
from signatures import AnalyzeLeaf, ClassifyQuestion, Conclude, Plan, Refine


class Recursive(Program):
    """Answers a question by planning, executing, refining and recursing over the corpus.

    `refine_policy` says when the model is asked to refine: `always`, `on_change` (not after a result that is as
    planned and was seen before) or `on_failure`.
    """

    name = "recursive"
    version = 1

    def __init__(
        self,
        *,
        refine: RefinePolicy = "always",
        **settings: Unpack[ProgramSettings],
    ) -> None:
        super().__init__(**settings)
        if refine not in get_args(RefinePolicy):
            raise LimitsError(
                f"there is no refine policy {refine!r}",
                hint=f"use one of {', '.join(get_args(RefinePolicy))}",
            )
        self.refine_policy: RefinePolicy = refine
        self.classify = dspy.Predict(ClassifyQuestion)
        self.plan = dspy.Predict(Plan)
        self.refine = dspy.Predict(Refine)
        self.analyze_leaf = dspy.Predict(AnalyzeLeaf)
        self.conclude = dspy.Predict(Conclude)

    def configuration(self, limits: Limits) -> dict[str, Any]:
        """What is recorded about a run so that it can be resumed the same way."""
        return {**super().configuration(limits), "refine": self.refine_policy}

    async def work(self, run: Run) -> None:
        """Plan, execute, refine and recurse until the run has an answer."""
        policy = run.record.config.get("refine", self.refine_policy)
        await Recursion(
            run,
            classify=partial(classified, predictor=self.classify),
            plan=Planner(run, self.plan),
            execute=Executor(run, self.analyze_leaf, self.conclude),
            refine=Refiner(run, self.refine, policy),
        ).work()
