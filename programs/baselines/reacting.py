"""Reacting: one conversation of `dspy.ReActV2` within a run, with its calls, its tools and its end under control."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy

from programs.baselines.react_tools import react_tools, submit_tool
from programs.evidence import restored
from programs.run import Run
from programs.submitting import SUBMIT, flattened, given_back, submit
from programs.tools.toolbox import Toolbox
from programs.turns import acts_of, close
from runtime.errors import LimitReached, SpantreeError, StepError
from runtime.frames import Frame
from signatures import Explore, SubmittedClaim

_ALONE = (
    "not accepted: submit must be the only call of its turn. You have not seen the outputs of the other calls; "
    "look at them, then submit."
)
_NOW = "No turn is left: call `submit` now, and nothing else."
CALLS_A_TURN = 16
"""Calls of tools that one reply may ask for; no ledger bounds those that code alone carries out."""
_FAILED = "ReActV2 failed to produce final outputs"


class _Spent(SpantreeError):
    """Raised when a turn is asked for after the one for which budget was kept back."""


def agent_of(tools: Sequence[Callable[..., Any] | dspy.Tool], max_turns: int) -> Any:
    """`dspy.ReActV2` over some tools."""
    return dspy.ReActV2(Explore, tools=list(tools), max_iters=max_turns)


class Reacting:
    """One conversation. It stands where ReActV2 has its predictor: every turn passes through `acall`.

    ReActV2 turns whatever a tool raises into an observation. What must end the run all the same (a cancellation, a
    model that cannot be asked, a bug) is kept, and raised again at the next turn.
    """

    def __init__(
        self,
        run: Run,
        frame_id: str,
        react: dspy.Predict,
        analyze_leaf: dspy.Module,
        max_turns: int,
    ) -> None:
        self._run = run
        self._frame_id = frame_id
        self._react = react
        self._toolbox = Toolbox(run, analyze_leaf)
        self._max_turns = max_turns
        self._turn = 0
        self._think = ""
        self._calls = 0
        self._together = 0
        self._forced = False
        self._last = False
        self._broken: BaseException | None = None

    async def work(self) -> None:
        """Have the conversation and commit how it ended."""
        run, frame = self._run, self._frame
        agent = agent_of(react_tools(self._tool), self._max_turns)
        agent.tools[SUBMIT] = submit_tool(self._end)
        agent.react = self
        inputs = {
            "question": frame.task,
            "kind": run.kind,
            "patterns": list(run.patterns),
            "overview": run.workspace.overview(frame.targets),
        }
        try:
            found = await agent.acall(**inputs)
        except LimitReached as error:
            close(run, self._frame, "limit", run.told_limit(error))
        except _Spent:
            close(run, self._frame)
        except StepError as error:
            text = f"the model did not say what to do next: {error}"
            close(run, self._frame, "limit_act", text)
        except ValueError as error:
            if self._broken is not None:
                raise self._broken from None
            if not str(error).startswith(_FAILED):
                raise
            close(run, self._frame, *self._why_forced("did not submit"))
        else:
            self._submitted(found)

    async def acall(self, **inputs: Any) -> dspy.Prediction:
        """The next turn: asked for, or taken from the journal."""
        if self._broken is not None:
            raise self._broken
        if self._last:
            raise _Spent("what was kept back for the end is spent")
        self._forced = (
            "config" in inputs
        )  # ReActV2 configures no other turn than the one that it forces
        inputs.pop("config", None)
        self._turn += 1
        self._run.tell("act", self._turn - 1, self._max_turns, self._frame.task)
        reply = await self._asked(inputs)
        calls = reply.tool_calls.tool_calls if reply.tool_calls else []
        self._calls, self._together = 0, len(calls)
        self._think = str(restored(str(reply.next_thought or "")))
        return reply

    async def _end(self, answer: str, claims: list[SubmittedClaim]) -> Any:
        """What a submission comes to: the end, or why it is not."""
        if self._together > 1 and not self._forced:
            return _ALONE
        objection = "" if self._is_final else self._objection(answer, claims)
        # ReActV2 takes a dict for the end, and anything else for an observation.
        return objection or {"answer": answer, "claims": claims}

    def _objection(self, answer: str, claims: list[SubmittedClaim]) -> str:
        """Why an answer is given back, once; empty when it is not."""
        try:
            flat, evidence = flattened(claims)
            return given_back(
                self._run,
                self._frame,
                turn=self._turn,
                answer=answer,
                claims=flat,
                evidence=evidence,
            )
        except BaseException as error:
            self._broken = error
            raise

    @property
    def _is_final(self) -> bool:
        """Whether no turn follows in which an answer could be mended."""
        return self._forced or self._last

    async def _tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One call of a tool, or its recorded result."""
        if self._broken is not None or self._is_final:
            return {"error": "no turn is left in which this could be used"}
        self._calls += 1
        if self._calls > CALLS_A_TURN:
            return {"error": f"not done: a turn has at most {CALLS_A_TURN} calls"}
        step_id = f"t{self._turn}.{self._calls}"
        try:
            output = await self._toolbox.call(
                self._frame,
                turn=self._turn,
                step_id=step_id,
                think=self._think,
                tool=name,
                arguments=arguments,
            )
        except BaseException as error:
            self._broken = error
            raise
        if output is None:
            self._broken = AssertionError(f"{step_id} opened a frame, and this program has one")
            raise self._broken
        return output

    async def _asked(self, inputs: dict[str, Any]) -> dspy.Prediction:
        """A reply; once a limit is reached, one more, from what is kept back for the end."""
        run = self._run
        if self._is_limited():
            return await self._asked_last(inputs)
        try:
            return await self._call(inputs, closing=False, must=self._forced)
        except LimitReached as error:
            run.commit(*run.warn(self._frame_id, [("limit", run.told_limit(error))]))
            return await self._asked_last(inputs)

    async def _asked_last(self, inputs: dict[str, Any]) -> dspy.Prediction:
        self._last = True
        return await self._call(inputs, closing=True, must=True)

    async def _call(self, inputs: dict[str, Any], *, closing: bool, must: bool) -> dspy.Prediction:
        own: Any = self._react.signature
        signature = own.with_instructions(f"{own.instructions}\n{_NOW}") if must else None
        return await self._run.ask(
            self._react,
            inputs,
            key=f"{self._frame_id}/react{self._turn}",
            closing=closing,
            frame_id=self._frame_id,
            step_id=f"t{self._turn}",
            signature=signature,
        )

    def _is_limited(self) -> bool:
        """Whether a tool met a limit in an earlier turn. Told from the steps, so that a replay sees the same."""
        earlier = {
            act.step.id
            for act in acts_of(self._run.state, self._frame)
            if act.turn < self._turn and act.tool != SUBMIT
        }
        seen = [step.observation for step in self._frame.steps if step.id in earlier]
        return any(each is not None and each.error_class == "limit" for each in seen)

    def _submitted(self, found: dspy.Prediction) -> None:
        """Commit the answer that was submitted."""
        run = self._run
        if found.termination_reason != SUBMIT:
            run.commit(*run.warn(self._frame_id, [self._why_forced("was made to submit")]))
        claims, evidence = flattened(found.claims)
        submit(
            run,
            self._frame,
            turn=self._turn,
            think=self._think,
            answer=found.answer,
            claims=claims,
            evidence=evidence,
            last=True,
        )

    def _why_forced(self, end: str) -> tuple[str, str]:
        if self._turn > self._max_turns:
            return "limit_turns", f"the model used its {self._max_turns} turns and {end}"
        return "limit_act", f"the model called no tool in turn {self._turn - 1} and {end}"

    @property
    def _frame(self) -> Frame:
        return self._run.state.frames[self._frame_id]
