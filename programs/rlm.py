"""RLM: the model drives. It looks into a corpus that it cannot see whole, by tool calls or by code in a sandbox.

After Zhang, Kraska and Khattab, "Recursive Language Models", 2025. Two action spaces share one set of tools: in `tools`
the model makes one typed call a turn and no code runs; in `repl` it writes cells for `dspy.RLM`, which reach the
corpus through the tools alone. Both end in claims that code has verified.
"""

from typing import Any, Literal, Unpack, get_args

import dspy

from data.corpus import Corpus
from programs.base import Program
from programs.classification import signaled
from programs.driving import Driving
from programs.ending import begin
from programs.exploring import Exploring, explorer
from programs.run import Run
from programs.settings import ProgramSettings
from programs.tools.toolbox import Toolbox
from runtime.errors import LimitsError, RunError
from runtime.journal import RunRecord
from runtime.limits import Limits
from runtime.sandbox import InterpreterFactory, sandbox_factory
from signatures import Act, AnalyzeLeaf, SubQuery

ActionSpace = Literal["tools", "repl"]
MAX_TURNS = 20
"""Turns of one frame: tool calls, or cells of code."""


class RLM(Program):
    """Answers a question by letting the model choose what to look at.

    `action_space`: `tools` (one tool call a turn) or `repl` (code in a sandbox). `sandbox` names one that is at hand
    (`monty`, `deno`); any `interpreter_factory` of DSPy can be given instead. `max_turns` is the most turns of a frame.
    """

    name = "rlm"
    version = 1
    min_calls = 2

    def __init__(
        self,
        *,
        action_space: ActionSpace = "tools",
        max_turns: int = MAX_TURNS,
        sandbox: str = "monty",
        interpreter_factory: InterpreterFactory | None = None,
        **settings: Unpack[ProgramSettings],
    ) -> None:
        super().__init__(**settings)
        if action_space not in get_args(ActionSpace):
            raise LimitsError(
                f"there is no action space {action_space!r}",
                hint=f"use one of {', '.join(get_args(ActionSpace))}",
            )
        if max_turns < 2:
            raise LimitsError(
                f"{max_turns} turns are too few: one to look, one to submit",
                hint="allow at least 2 turns",
            )
        self.action_space: ActionSpace = action_space
        self.max_turns = max_turns
        self.sandbox = sandbox
        self.interpreter_factory = interpreter_factory
        self.analyze_leaf = dspy.Predict(AnalyzeLeaf)
        if action_space == "tools":
            self.act = dspy.Predict(Act)
        else:
            self.explore = explorer(self._factory(self.limits), max_turns)
            self.sub_query = dspy.Predict(SubQuery)

    def configuration(self, limits: Limits) -> dict[str, Any]:
        """What is recorded about a run so that it can be resumed the same way."""
        mine = {
            "action_space": self.action_space,
            "max_turns": self.max_turns,
            "sandbox": "given" if self.interpreter_factory else self.sandbox,
        }
        return {**super().configuration(limits), **mine}

    def _check_resumable(self, record: RunRecord, corpus: Corpus) -> None:
        """Refuse also to go on in another action space or sandbox than that in which the run was begun."""
        super()._check_resumable(record, corpus)
        mine = self.configuration(self.limits)
        names = ("action_space", "sandbox") if self.action_space == "repl" else ("action_space",)
        for name in names:
            begun = record.config.get(name)
            if begun != mine[name]:
                raise RunError(
                    f"run {record.run_id} was begun with {name} {begun!r}, and this is {mine[name]!r}",
                    hint="resume it as it was begun, or ask again",
                )

    async def work(self, run: Run) -> None:
        """Let the model act until the run has an answer."""
        if run.state.classified is None:
            begin(run, *await signaled(run))
        toolbox = Toolbox(run, self.analyze_leaf)
        max_turns = int(run.record.config.get("max_turns", self.max_turns))
        if self.action_space == "tools":
            await Driving(run, self.act, toolbox, max_turns).work()
        else:
            factory = self._factory(run.limits)
            await Exploring(run, self.explore, self.sub_query, toolbox, max_turns, factory).work()

    def _factory(self, limits: Limits) -> InterpreterFactory:
        return self.interpreter_factory or sandbox_factory(self.sandbox, limits)
