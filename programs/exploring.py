"""The loop of the action space `repl`: `dspy.RLM` over the tools, in a sandbox, under the ledger and in the journal.

`dspy.RLM` is used through its seats: the signature, the tools, the LM of sub-queries, the interpreter factory, and the
two predictors that it owns. What it lacks is here: each call of a model is paid from the ledger of the run and
recorded, a frame may only go as deep as the host allows, and the end of the iterations is not an answer. A run that was
killed is replayed: recorded replies and results of tools take the place of calls, and the same cells run again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dspy

from programs.bridge import Bridge
from programs.cells import Cells, CellsSpent
from programs.ending import end_frame
from programs.run import Run
from programs.submitting import flattened, given_back, submit
from programs.subqueries import SubQueries
from programs.tools.functions import tool_functions
from programs.tools.toolbox import Toolbox
from programs.turns import close, submitted_step
from runtime.errors import LimitReached, StepError
from runtime.frames import Frame
from runtime.sandbox import InterpreterFactory, guarded, quiet_rlm
from signatures import Explore, SubmittedClaim

SUB_QUERIES = 1_000
"""Sub-queries of one frame, as the model is told; what it may really spend is up to the ledger."""


def explorer(factory: InterpreterFactory, max_turns: int) -> dspy.Predict:
    """The predictor that writes the next cell, as `dspy.RLM` builds it for the tools and the sandbox."""

    def unbound(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError(f"{name}({arguments}) is called outside of a run")

    return _rlm(tool_functions(unbound), factory, max_turns).generate_action


def _rlm(
    tools: list[Callable[..., Any]], factory: InterpreterFactory, max_turns: int, **seats: Any
) -> Any:
    # One iteration more than may be used: what comes after the last one is ours to say.
    return dspy.RLM(
        Explore,
        max_iters=max_turns + 1,
        max_llm_calls=SUB_QUERIES,
        tools=tools,
        interpreter_factory=factory,
        **seats,
    )


@dataclass(frozen=True)
class Exploring:
    """The loop over one run."""

    run: Run
    explore: dspy.Predict
    sub_query: dspy.Predict
    toolbox: Toolbox
    max_turns: int
    factory: InterpreterFactory

    async def work(self) -> None:
        """Work the root frame, then finish the run. Frames below it are worked by the calls that open them."""
        run = self.run
        while run.state.finished is None:
            await self._frame(run.state.frames["root"])

    async def _frame(self, frame: Frame) -> None:
        """Work one frame to its end, from the beginning: what it has done already is replayed."""
        run = self.run
        if not submitted_step(frame):
            try:
                await self._explored(frame)
            except LimitReached as error:
                close(run, frame, "limit", run.told_limit(error))
            except CellsSpent:
                text = f"{frame.id} had no cell left and did not submit"
                close(run, frame, "limit_turns", text)
            except StepError as error:
                text = f"the model did not say what to do next: {error}"
                close(run, frame, "limit_act", text)
        end_frame(run, run.state.frames[frame.id])

    async def _explored(self, frame: Frame) -> None:
        run = self.run
        bridge = Bridge()
        cells = Cells(run, frame.id, self.toolbox, self._frame, self.max_turns)
        final = _Final(run, frame.id, bridge, cells)
        queries = SubQueries(run, frame.id, self.sub_query, lambda: cells.replayed)
        rlm = _rlm(
            tool_functions(lambda name, given: bridge.wait(lambda: cells.call(name, given))),
            guarded(
                self.factory,
                run.limits,
                on_cell=lambda cell: bridge.now(lambda: cells.ended(cell)),
                on_final=final.objection,
            ),
            self.max_turns,
            sub_lm=_SubLM(bridge, queries),
            max_output_chars=run.limits.sandbox_output_chars,
        )
        rlm.generate_action = _Action(bridge, cells, self.explore)  # type: ignore[assignment]
        inputs = {
            "question": frame.task,
            "kind": run.kind,
            "patterns": list(run.patterns),
            "overview": run.workspace.overview(frame.targets),
        }
        with quiet_rlm():
            found = await bridge.thread(lambda: rlm(**inputs))
        claims, evidence = flattened(found.claims)
        submit(
            run,
            run.state.frames[frame.id],
            turn=cells.number,
            think=found.final_reasoning,
            answer=found.answer,
            claims=claims,
            evidence=evidence,
            last=True,
        )


@dataclass(frozen=True)
class _Action:
    """Stands where `dspy.RLM` has the predictor of the next cell: the call is paid, recorded and replayed."""

    bridge: Bridge
    cells: Cells
    predictor: dspy.Predict

    @property
    def signature(self) -> Any:
        return self.predictor.signature

    def __call__(self, *, signature: Any, **inputs: Any) -> dspy.Prediction:
        return self.bridge.wait(lambda: self.cells.next(self.predictor, signature, inputs))


@dataclass(frozen=True)
class _SubLM:
    """Stands where `dspy.RLM` has the LM of sub-queries."""

    bridge: Bridge
    queries: SubQueries

    def __call__(self, prompt: str) -> list[str]:
        return [self.bridge.wait(lambda: self.queries.reply(prompt))]


@dataclass(frozen=True)
class _Final:
    """What is held against a final answer: once, quotes that are not where they are said to be."""

    run: Run
    frame_id: str
    bridge: Bridge
    cells: Cells

    def objection(self, output: Any) -> str:
        """Why a final answer is given back, or nothing. Its types are for `dspy.RLM` to check."""
        if not isinstance(output, dict):
            return ""
        try:
            made = [SubmittedClaim.model_validate(each) for each in output.get("claims") or ()]
        except ValueError:
            return ""
        claims, evidence = flattened(made)
        answer = str(output.get("answer", ""))
        return self.bridge.now(
            lambda: given_back(
                self.run,
                self.run.state.frames[self.frame_id],
                turn=self.cells.number,
                answer=answer,
                claims=claims,
                evidence=evidence,
            )
        )
