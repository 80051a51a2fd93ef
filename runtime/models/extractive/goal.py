"""Goals: what a model that drives is after, and by which tools; the same ways that the planner would plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from runtime.models.extractive.planner import plan, separable
from runtime.models.extractive.task import Task, task_from
from runtime.questions.notation import loose
from signatures import CountBy, PlannedStep

Way = Literal["count", "extreme", "search", "rank", "all"]
"""Count lines; find the first or last line; read what a search finds, what is relevant, or everything."""

_BY: Mapping[str, CountBy] = {"count_by_source": "source", "count_by_time": "time"}
LONGEST_QUERY = 4_000
MOST_PARTS = 5
_WIDENABLE = frozenset(("cause", "summary"))


@dataclass(frozen=True)
class Goal:
    """One question and the way to its answer. `sources` is empty for the whole corpus.

    `given` are the patterns that the prompt names: the tools know what they mean. `parts` are the sources that are read
    one by one, where each has its own course of events.
    """

    question: str
    kind: str
    way: Way
    patterns: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    by: CountBy = ""
    latest: bool = False
    given: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """The patterns as one argument of a tool: a line each, and a line of text must match them all."""
        return "\n".join(each if each in self.given else loose(each) for each in self.patterns)

    @property
    def query(self) -> str:
        """The question as the tools take it."""
        return self.question[:LONGEST_QUERY]

    @property
    def source(self) -> str:
        """The source that a search is limited to, where it is one."""
        return self.sources[0] if len(self.sources) == 1 else ""

    @property
    def widens(self) -> bool:
        """Whether an answer may do without the strings of the question, or with only some of them."""
        return self.kind in _WIDENABLE or (self.kind == "lookup" and len(self.patterns) > 1)


def goals_of(
    question: str, kind: str, patterns: Sequence[str], overview: str, *, child: bool = False
) -> list[Goal]:
    """The goals of a question: one, or two where it is two questions that stand by themselves."""
    task = replace(
        task_from(text=question, kind=kind, patterns=patterns, overview=overview, depth_left=1),
        child=child,
    )
    parts = separable(task)
    if not parts:
        return [_goal(task, patterns)]
    tasks = (task_from(text=part, kind="", patterns=(), overview=overview) for part in parts)
    return [_goal(part, patterns) for part in tasks]


def _goal(task: Task, given: Sequence[str]) -> Goal:
    _, steps = plan(replace(task, depth_left=0))
    operation = next((step.operation for step in steps if step.operation), "")
    scanned = next((step for step in steps if step.action == "scan"), None)
    return Goal(
        question=task.question,
        kind=task.kind,
        way=_way(task.kind, steps, operation),
        patterns=tuple(scanned.patterns) if scanned else (),
        sources=task.scope,
        # Lines of several sources cannot be counted by one call, unless by source.
        by="source" if len(task.scope) > 1 else _BY.get(operation, ""),
        latest=operation == "latest",
        given=tuple(given),
        parts=_parts(task),
    )


def _parts(task: Task) -> tuple[str, ...]:
    wanted = task.scope
    sources = [s.id for s in task.overview.readable if not wanted or s.id in wanted]
    apart = task.kind == "timeline" and task.overview.complete
    return tuple(sources) if apart and 2 <= len(sources) <= MOST_PARTS else ()


def _way(kind: str, steps: Sequence[PlannedStep], operation: str) -> Way:
    actions = {step.action for step in steps}
    if operation.startswith("count"):
        return "count"
    if operation in ("earliest", "latest"):
        return "extreme"
    if "scan" in actions:
        return "search"
    return "rank" if "rank" in actions and kind != "summary" else "all"
