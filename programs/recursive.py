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

from programs.base import Program, predicted
from programs.predictors import Predictors
from programs.progress import Listener
from programs.recursion import Recursion
from programs.refinement import RefinePolicy
from programs.run import Run
from runtime.errors import LimitsError, RunError
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
        """Work a run to its end; whatever interrupts it, it can be resumed, as it was begun."""
        if run.state.finished is None:
            policy = run.record.config.get("refine", self.refine_policy)
            beat = asyncio.create_task(_heartbeat(run))
            try:
                await Recursion(run, self._predictors(), policy).work()
            except BaseException:
                _leave(run)
                raise
            finally:
                beat.cancel()
                await asyncio.gather(beat, return_exceptions=True)
        finished = run.state.finished
        assert finished is not None
        return predicted(finished)

    def _predictors(self) -> Predictors:
        return Predictors(
            classify=self.classify,
            plan=self.plan,
            refine=self.refine,
            analyze_leaf=self.analyze_leaf,
            conclude=self.conclude,
        )


def _leave(run: Run) -> None:
    """Give a run up for now. That must not hide why, so a journal that cannot be written is no error here."""
    run.ledger.cancel()
    if run.state.finished is None:
        with suppress(RunError):  # a run that nobody holds counts as interrupted all the same
            run.commit(status="interrupted")


async def _heartbeat(run: Run) -> None:
    """Keep the lease of a run during long calls."""
    while True:
        await asyncio.sleep(run.lease_seconds / 3)
        with suppress(RunError):  # if it is lost for good, the next call says so before it starts
            run.renew()
