"""ReAct: `dspy.ReActV2` over the corpus: the model calls the tools of a run until it submits.

ReActV2 is used through its seats: the signature, its dict of tools and the predictor that it owns. Each of its calls
is paid from the ledger of the run and recorded, so that a killed run is replayed without asking a model again. What
ReActV2 would pass off as an answer is told for what it is: a submission that it had to force is `partial`.
"""

from typing import Any, Unpack

import dspy

from programs.base import Program
from programs.baselines.reacting import Reacting, agent_of
from programs.classification import signaled
from programs.ending import begin, end_frame
from programs.run import Run
from programs.settings import ProgramSettings
from programs.tools.functions import tool_functions
from programs.turns import submitted_step
from runtime.errors import LimitsError
from runtime.limits import Limits
from signatures import AnalyzeLeaf

MAX_TURNS = 20
"""Turns in which the model may call tools."""


class ReAct(Program):
    """Answers by the tool calls of a model, in one frame: a sub-call is a reading, never a child."""

    name = "react"
    min_calls = 2
    """To look and to submit."""

    def __init__(self, *, max_turns: int = MAX_TURNS, **settings: Unpack[ProgramSettings]) -> None:
        super().__init__(**settings)
        if max_turns < 2:
            raise LimitsError(
                f"{max_turns} turns are too few: one to look, one to submit",
                hint="allow at least 2 turns",
            )
        self.limits = self.limits.narrowed(depth=1)
        self.max_turns = max_turns
        self.react = agent_of(tool_functions(_unbound), max_turns).react
        self.analyze_leaf = dspy.Predict(AnalyzeLeaf)

    def configuration(self, limits: Limits) -> dict[str, Any]:
        """What is recorded about a run so that it can be resumed the same way."""
        return {**super().configuration(limits), "max_turns": self.max_turns}

    async def work(self, run: Run) -> None:
        """Let the model act until it submits; what it did before is replayed."""
        if run.state.classified is None:
            begin(run, *await signaled(run))
        frame = run.state.frames["root"]
        if not submitted_step(frame):
            max_turns = int(run.record.config["max_turns"])
            await Reacting(run, frame.id, self.react, self.analyze_leaf, max_turns).work()
        end_frame(run, run.state.frames[frame.id])


def _unbound(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError(f"{name}({arguments}) is called outside of a run")
