"""The toolbox of one run: carries out the calls of a model that drives, each as a step committed with its access.

A call never raises for what a model did wrong: it comes to a failed step, and to an output that says why. What a tool
showed is not kept. It is rendered again from what was found and from the corpus, so that a resumed run shows the same.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import dspy

from programs.assembly import is_limited
from programs.evidence import neutralized
from programs.leaf import LeafAnalysis
from programs.observing import brief, failure, from_error
from programs.run import Run
from programs.tools.arguments import checked, recorded, told
from programs.tools.asking import SubcallTool, selection_of, too_deep
from programs.tools.looking import BudgetTool, ListSourcesTool
from programs.tools.output import View, error_output, joined
from programs.tools.reading import ReadSpanTool
from programs.tools.searching import CountTool, RankTool, SearchTool, computing_id
from programs.tools.tool import Tool, Use, step_of
from runtime.errors import (
    LimitReached,
    MissingInput,
    ParseFailure,
    PatternError,
    RunError,
    StepError,
    TimeoutFailure,
)
from runtime.events import Accessed, Acted, Event, StepCommitted, StepStarted, StepStatus, Taken
from runtime.frames import Frame, Step
from runtime.observations import Observation, Scanned

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call as it is recorded: where it belongs, the tool and its arguments as plain data."""

    frame_id: str
    step_id: str
    tool: str
    given: Mapping[str, Any]


class Toolbox:
    """Calls tools in the frames of one run, and renders what came of it."""

    def __init__(self, run: Run, analyze_leaf: dspy.Module) -> None:
        self._run = run
        self._analyze = LeafAnalysis(run, analyze_leaf, selection_of)
        self._count = CountTool()
        self._subcall = SubcallTool()
        self._tools: dict[str, Tool] = {
            "list_sources": ListSourcesTool(),
            "search": SearchTool(),
            "count": self._count,
            "rank": RankTool(),
            "read_span": ReadSpanTool(),
            "subcall": self._subcall,
            "budget": BudgetTool(),
        }
        self._rendered: dict[tuple[str, str], str] = {}

    async def call(
        self,
        frame: Frame,
        *,
        turn: int,
        step_id: str,
        think: str,
        tool: str,
        arguments: Mapping[str, Any],
    ) -> dict[str, Any] | None:
        """Carry out a call and return its output; one that was carried out already is only rendered again.

        None when a frame was pushed for it: work that frame to its end, then ask for `output`. Raises RunError when the
        step was taken by another call, and what the run itself raises: UserError, RunCancelled.
        """
        asked = _Asked(frame.id, step_id, tool, recorded(arguments))
        known = self._frame(frame.id).step(step_id) is not None
        problem = self._again(asked) if known else self._begin(asked, turn, think)
        step = self._step(frame.id, step_id)
        if not step.ended:
            if step.planned.action == "subtask":
                return None
            await self._carry_out(asked, problem)
        if tool == "count":
            await self._compute(asked, turn)
        return self.output(frame, self._step(frame.id, step_id))

    def output(self, frame: Frame, step: Step) -> dict[str, Any]:
        """What was shown of a step that has ended, rendered from its result and from the corpus."""
        key = (frame.id, step.id)
        if key not in self._rendered:
            self._rendered[key] = json.dumps(neutralized(self._output(*key)), ensure_ascii=False)
        return json.loads(self._rendered[key])

    def _output(self, frame_id: str, step_id: str) -> dict[str, Any]:
        seen, act = self._step(frame_id, step_id).observation, self._act(frame_id, step_id)
        if seen is None or act is None:
            raise AssertionError(f"{frame_id}/{step_id} is not a call that has ended")
        limit = self._run.limits.tool_output_chars
        if not seen.success:
            return error_output(seen, limit)
        if act.tool not in self._tools:
            return {"done": brief(seen.summary)}
        counted = self._frame(frame_id).step(computing_id(step_id))
        if counted and counted.observation and not counted.observation.success:
            return error_output(counted.observation, limit)
        asked = _Asked(frame_id, step_id, act.tool, act.arguments)
        return self._tools[act.tool].view(self._use(asked), seen.payload).output

    def _begin(self, asked: _Asked, turn: int, think: str) -> StepError | None:
        """Commit that a call is about to run, or the frame that takes it over; returns why it cannot run."""
        taken, problem = self._prepared(asked)
        begun: Event = StepStarted(frame_id=asked.frame_id, step_id=asked.step_id, attempt=1)
        if taken.action == "subtask" and problem is None:
            begun = self._subcall.pushed(self._use(asked))
        self._run.commit(self._acted(asked, taken, turn, think), begun)
        return problem

    def _again(self, asked: _Asked) -> StepError | None:
        """Take a call up that was begun before; one that was broken off is begun once more."""
        act, step = (
            self._act(asked.frame_id, asked.step_id),
            self._step(asked.frame_id, asked.step_id),
        )
        if act is None or (act.tool, act.arguments) != (asked.tool, asked.given):
            raise RunError(
                f"step {asked.step_id} of {asked.frame_id} was another call than {told(asked.tool, asked.given)}",
                hint="ask again: the run cannot be repeated as it was",
            )
        if step.ended or step.planned.action == "subtask":
            return None
        self._run.commit(
            StepStarted(frame_id=asked.frame_id, step_id=step.id, attempt=step.attempts + 1)
        )
        return self._prepared(asked)[1]

    def _prepared(self, asked: _Asked) -> tuple[Taken, StepError | None]:
        """A call as a step, and why it cannot be carried out, if it cannot."""
        try:
            return self._tools_for(asked).taken(self._use(asked)), None
        except PatternError as error:
            problem: StepError = ParseFailure(f"{error.message} {error.hint}".strip())
        except StepError as error:
            problem = error
        tool = self._tools.get(asked.tool)
        description = told(asked.tool, asked.given)
        return step_of(asked.step_id, description, tool.action if tool else "look"), problem

    def _tools_for(self, asked: _Asked) -> Tool:
        tool = self._tools.get(asked.tool)
        if tool is None:
            known = ", ".join(self._tools)
            raise MissingInput(f"there is no tool {asked.tool[:80]!r}; there are {known}, submit")
        return tool

    def _use(self, asked: _Asked) -> Use:
        """A call with its arguments typed. Raises MissingInput."""
        return Use(
            run=self._run,
            frame=self._frame(asked.frame_id),
            step_id=asked.step_id,
            arguments=checked(asked.tool, self._tools_for(asked).form, asked.given),
            description=told(asked.tool, asked.given),
        )

    async def _carry_out(self, asked: _Asked, problem: StepError | None) -> None:
        """Do what a call asks for and commit its end, with what it read and showed."""
        started = time.monotonic()
        warnings: list[tuple[str, str]] = []
        view, status = View({}), "completed"
        try:
            if problem is not None:
                raise problem
            seen, view = await self._observed(self._use(asked), asked.tool, warnings)
            status = "completed" if seen.success else "failed"
            if seen.error_class == "limit":
                warnings.append(("limit", seen.error))
        except StepError as error:
            seen = from_error(error)
            status = "timed_out" if isinstance(error, TimeoutFailure) else "failed"
        except LimitReached as error:
            seen, status = failure("limit", self._run.told_limit(error)), "failed"
            warnings.append(("limit", self._run.told_limit(error)))
        end = _committed(asked, asked.step_id, seen, status, started)
        self._run.commit(end, _accessed(asked, view), *self._run.warn(asked.frame_id, warnings))

    async def _observed(
        self, use: Use, name: str, warnings: list[tuple[str, str]]
    ) -> tuple[Observation, View]:
        """What a call comes to, and what is shown of it."""
        run, tool, planned = self._run, self._tools[name], use.step.planned
        run.tell(planned.action, 0, 1, planned.description)
        if planned.action != "analyze":
            return await self._timed(name, lambda: _looked(tool, use))
        if is_limited(run.state):
            return failure("limit", "a limit of the run was reached"), View({})
        warnings += too_deep(use)
        seen = await self._analyze(use.frame, planned)
        if not seen.success and seen.payload is None:
            return seen, View({})
        return seen, await self._timed(name, lambda: tool.view(use.having(seen), seen.payload))

    async def _timed(self, name: str, work: Callable[[], T]) -> T:
        """The result of code over the corpus, in a thread and within the time of an action."""
        seconds = self._run.limits.action_seconds
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(work)
        except PatternError as error:
            raise ParseFailure(f"{error.message} {error.hint}".strip()) from error
        except TimeoutError as error:
            raise TimeoutFailure(f"{name} took longer than {seconds:g} s") from error

    async def _compute(self, asked: _Asked, turn: int) -> None:
        """The second step of a count: what is computed from its search, unless that is done already."""
        step = self._step(asked.frame_id, asked.step_id)
        found = step.observation.payload if step.observation else None
        done = self._frame(asked.frame_id).step(computing_id(asked.step_id))
        if not isinstance(found, Scanned) or done is not None:
            return
        use, started = self._use(asked), time.monotonic()
        taken, status = self._count.following(use, found), "completed"
        try:
            seen = await self._timed("count", lambda: self._count.computed(use, taken))
        except StepError as error:
            seen, status = from_error(error), "failed"
        # One transaction: a count that was broken off is made again from its search.
        self._run.commit(
            self._acted(asked, taken, turn, ""),
            StepStarted(frame_id=asked.frame_id, step_id=taken.id, attempt=1),
            _committed(asked, taken.id, seen, status, started),
        )

    def _frame(self, frame_id: str) -> Frame:
        return self._run.state.frames[frame_id]

    def _step(self, frame_id: str, step_id: str) -> Step:
        step = self._frame(frame_id).step(step_id)
        if step is None:
            raise AssertionError(f"there is no step {frame_id}/{step_id}")
        return step

    def _act(self, frame_id: str, step_id: str) -> Acted | None:
        acts = reversed(self._run.state.acted)
        return next((a for a in acts if a.frame_id == frame_id and a.step.id == step_id), None)

    @staticmethod
    def _acted(asked: _Asked, taken: Taken, turn: int, think: str) -> Acted:
        return Acted(
            frame_id=asked.frame_id,
            turn=turn,
            think=think,
            tool=asked.tool,
            arguments=dict(asked.given),
            step=taken,
        )


def _looked(tool: Tool, use: Use) -> tuple[Observation, View]:
    seen = tool.observed(use)
    return seen, tool.view(use.having(seen), seen.payload)


def _committed(
    asked: _Asked, step_id: str, seen: Observation, status: StepStatus, started: float
) -> StepCommitted:
    return StepCommitted(
        frame_id=asked.frame_id,
        step_id=step_id,
        status=status,
        observation=seen,
        seconds=time.monotonic() - started,
    )


def _accessed(asked: _Asked, view: View) -> Accessed:
    """What a call read and showed: nothing, if it failed."""
    shown = joined(view.shown)
    return Accessed(
        frame_id=asked.frame_id,
        step_id=asked.step_id,
        tool=asked.tool,
        read_characters=view.read,
        shown_characters=sum(place.end - place.start for place in shown),
        shown=shown,
        cut=view.output.get("cut", ""),
    )
