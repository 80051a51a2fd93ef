"""Retrieve: rank the passages by relevance to the question, read the best of them, conclude."""

from typing import Any, Unpack

from programs.actions import RANKED
from programs.baselines.fixed import FixedPlan
from programs.executor import Executor
from programs.planning import conclusion, step
from programs.run import Run
from programs.settings import ProgramSettings
from runtime.errors import LimitsError
from runtime.limits import Limits
from signatures import PlannedStep


class Retrieve(FixedPlan):
    """Answers from the `k` passages that share the most words with the question, and never claims to have seen all."""

    name = "retrieve"

    def __init__(self, *, k: int = RANKED, **settings: Unpack[ProgramSettings]) -> None:
        super().__init__(**settings)
        if k < 1:
            raise LimitsError(f"k is {k}: no passage could be read", hint="use 1 or more")
        self.k = k

    def configuration(self, limits: Limits) -> dict[str, Any]:
        """What is recorded about a run so that it can be resumed the same way."""
        return {**super().configuration(limits), "k": self.k}

    def steps(self, run: Run) -> tuple[str, list[PlannedStep]]:
        """Rank, read, conclude."""
        k = run.record.config["k"]
        rank = step("s1", f"Find the {k} most relevant passages", "rank", query=run.question)
        read = step("s2", "Read them", "analyze", query=run.question, targets=["s1"])
        return "The passages closest to the question are read.", [rank, read, conclusion("s3")]

    def executor(self, run: Run) -> Executor:
        """The executor whose ranking hands on `k` passages."""
        k = int(run.record.config["k"])
        return Executor(run, self.analyze_leaf, self.conclude, ranked=k)
