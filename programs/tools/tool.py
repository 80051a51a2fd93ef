"""A tool: what a call becomes as a step, how it is observed, and how its result is shown."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Protocol

from programs.run import Run
from programs.tools.arguments import Arguments
from programs.tools.output import View
from programs.workspace import Workspace
from runtime.errors import MissingInput, NotFound
from runtime.events import Taken, TakenAction
from runtime.frames import Frame, Step
from runtime.observations import Observation, Payload

_SIMILAR = 3
_COMPARED = 5_000


@dataclass(frozen=True, slots=True)
class Use:
    """One call of a tool in a frame."""

    run: Run
    frame: Frame
    step_id: str
    arguments: Any
    description: str

    @property
    def workspace(self) -> Workspace:
        """The corpus as the run sees it."""
        return self.run.workspace

    @property
    def limit(self) -> int:
        """Characters that the output may have."""
        return self.run.limits.tool_output_chars

    @property
    def step(self) -> Step:
        """The step of the call. Raises MissingInput when there is none yet."""
        found = self.frame.step(self.step_id)
        if found is None:
            raise MissingInput(f"there is no step {self.step_id}")
        return found

    def taken(self, action: TakenAction, **fields: Any) -> Taken:
        """The call as a step; fields that the action does not use are empty."""
        return step_of(self.step_id, self.description, action, **fields)

    def having(self, seen: Observation) -> "Use":
        """The call with what it came to, before that is committed."""
        steps = tuple(
            replace(each, observation=seen) if each.id == self.step_id else each
            for each in self.frame.steps
        )
        return replace(self, frame=replace(self.frame, steps=steps))

    def inside(self) -> frozenset[str] | None:
        """The partitions that the frame is limited to, or None where it has the whole corpus."""
        return inside(self.workspace, self.frame)

    def place(self, name: str) -> list[str]:
        """A source or a partition as targets; none for an empty name. Raises NotFound that says what to do."""
        if not name:
            return []
        if name in self.workspace.partition_rank:
            return [name]
        if name not in self.workspace.source_rank:
            raise NotFound(
                f"the corpus has no source {name!r}{self._similar(name)}; list_sources names all"
            )
        source = self.workspace.corpus.source(name)
        if not source.readable:
            why = f"{source.parse_status} {source.reason}".strip()
            raise NotFound(f"{name} has no text: {why}")
        return [name]

    def _similar(self, name: str) -> str:
        names = list(self.workspace.source_rank)[:_COMPARED]
        wanted = name.casefold()
        found = [each for each in names if wanted in each.casefold()][:_SIMILAR]
        found = found or get_close_matches(name, names, _SIMILAR)
        return f" (there is {', '.join(found)})" if found else ""


def inside(workspace: Workspace, frame: Frame) -> frozenset[str] | None:
    """The partitions that a frame is limited to, or None where it has the whole corpus."""
    if not frame.targets:
        return None
    return frozenset(each.id for each in workspace.partitions_of(frame.targets))


def step_of(id: str, description: str, action: TakenAction, **fields: Any) -> Taken:
    """A step with its unused fields empty."""
    empty = {"patterns": [], "query": "", "targets": [], "operation": "", "depends_on": []}
    values = {"id": id, "description": description, "action": action}
    return Taken.model_validate({**empty, **values, **fields})


class Tool(Protocol):
    """One tool. `taken` and `observed` raise StepError and PatternError for what cannot be done."""

    form: type[Arguments]
    action: TakenAction

    def taken(self, use: Use) -> Taken:
        """The call as a step."""
        ...

    def observed(self, use: Use) -> Observation:
        """What the call comes to, by code. It may take its time: it runs in a thread."""
        ...

    def view(self, use: Use, payload: Payload | None) -> View:
        """What is shown of a result; the same whenever it is asked for."""
        ...


def part_of(payload: Payload | None, form: type[Any]) -> Any:
    """A payload of the kind that a tool makes."""
    if not isinstance(payload, form):
        raise AssertionError(f"a {type(payload).__name__} where a {form.__name__} is expected")
    return payload
