"""Recursive: plan, execute, refine and recurse over a corpus, with an explicit stack.

The scheme is that of ReCAP (Zhang et al., "ReCAP: Recursive Context-Aware Reasoning and Planning for Large Language
Model Agents", 2025): a plan of primitive and composite steps, refinement of the remaining ones after each observation
and after a child's return, and the parent's plan put back before the model when a child ends.
"""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import dspy

from programs.answer import Answer
from programs.base import Program
from programs.predictors import Predictors
from programs.progress import Listener
from programs.recursion import Recursion
from programs.refinement import RefinePolicy
from programs.run import Run
from runtime.errors import LimitsError
from runtime.journal import Journal
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
        limits: Limits | None = None,
        refine: RefinePolicy = "always",
        partitioner: str = "auto",
        lm: dspy.BaseLM | None = None,
        leaf_lm: dspy.BaseLM | None = None,
        journal: Journal | Path | None = None,
        progress: Listener | None = None,
    ) -> None:
        super().__init__(
            limits=limits,
            partitioner=partitioner,
            lm=lm,
            leaf_lm=leaf_lm,
            journal=journal,
            progress=progress,
        )
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

    async def _carried_out(self, run: Run) -> dspy.Prediction:
        """Work a run to its end; whatever interrupts it, it can be resumed."""
        if run.state.finished is None:
            beat = asyncio.create_task(_heartbeat(run))
            try:
                await Recursion(run, self._predictors(), self.refine_policy).work()
            except BaseException:
                run.ledger.cancel()
                if run.state.finished is None:
                    run.commit(status="interrupted")
                raise
            finally:
                beat.cancel()
                with suppress(asyncio.CancelledError):
                    await beat
        finished = run.state.finished
        assert finished is not None
        answer = Answer.model_validate(finished.answer)
        return dspy.Prediction(answer=answer, outcome=answer.outcome, run_id=run.id)

    def _predictors(self) -> Predictors:
        return Predictors(
            classify=self.classify,
            plan=self.plan,
            refine=self.refine,
            analyze_leaf=self.analyze_leaf,
            conclude=self.conclude,
        )


async def _heartbeat(run: Run) -> None:
    """Keep the lease of a run during long calls."""
    while True:
        await asyncio.sleep(run.lease_seconds / 3)
        run.renew()
