"""The planner: the steps that answer a question of one kind over a corpus of one shape.

A plan depends on the task, its kind, its patterns and the overview alone, so that the step that failed in a plan
can be made again later, word for word.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from runtime.models.extractive.task import STEP_ID, Task
from runtime.models.extractive.wording import Wording, wording_for
from runtime.questions.classifier import counted_words, named_strings
from runtime.questions.clock import clock_range
from runtime.questions.mentions import without_quotes
from runtime.questions.notation import timeline_task, unique
from signatures import Action, Operation, PlannedStep

_EVERY_LINE = "/^/"
_LATEST = re.compile(r"\b(?:last|latest|most recent|final)\b|最晚|最后|最近|最新", re.IGNORECASE)
_EARLIEST = re.compile(
    r"\b(?:first|earliest|initial|initially|oldest)\b|最早|首次|第一次|最先", re.IGNORECASE
)
_NOT_EXTREME = re.compile(
    r"\b(?:last|first) (?:week|month|year|night|name|few|day|hour|\d+)|\bat (?:last|first)\b",
    re.IGNORECASE,
)
# What a question about the first or last line limits it to, behind the string: "for root", "by the scheduler".
_CONCERNING = re.compile(r"(?<=…)\s*(?:for|from|by|of|against|with|to)\s+([^…?？.,;]+)")
_BY_SOURCE = re.compile(
    r"\bhow many (?:of the |different |distinct )?(?:\w+ )?(?:files|sources|documents)\b"
    r"|(?:多少|几)[个份]?(?:日志)?(?:文件|来源|文档)"
    r"|\b(?:per|by|for each|in each|of each|each) (?:files?|sources?|services?|hosts?|documents?|logs?)\b"
    r"|\bwhich (?:file|source|service|host|document|log)\b.{0,80}\bmost\b"
    r"|(?:每个|各个?)(?:文件|来源|服务|主机)|按(?:文件|来源|服务)",
    re.IGNORECASE,
)
_BY_TIME = re.compile(
    r"\b(?:per|by|for each|in each|each|every) (?:minute|hour|day|date|week|month|year)\b"
    r"|\bwhen\b.{0,80}\bmost\b|\b(?:which|what) (?:minute|hour|day|time|date)\b.{0,80}\bmost\b"
    r"|\b(?:hourly|daily)\b|每(?:分钟|小时|天|日|周|月|年)|按(?:小时|天|时间|日期)",
    re.IGNORECASE,
)
_VALUES = re.compile(r"\bwhich\b|哪些", re.IGNORECASE)
_ASKS = r"(?:who|what|when|where|which|why|how|is there|are there)\b"
# What follows tells a second question ("does the log") from the rest of the first ("and are from").
_CHECKS = r"(?:is|are|was|were|does|do|did|has|have) (?:any\w*|the|an?|[\"“「])"
_TWO = re.compile(
    rf"^(?P<first>{_ASKS}[^?]{{12,400}}?)(?:\?\s+(?:and\s+)?|,?\s+and\s+)"
    rf"(?P<second>(?:{_ASKS}|{_CHECKS})[^?]{{8,400}})\?$"
    r"|^(?P<zh1>[^？?]{6,200}[？?])\s*(?P<zh2>[^？?]{6,200}[？?])$",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|his|her|there|of which|so)\b|它|他|她|这|那|其"
    r"|分别|又|还",
    re.IGNORECASE,
)


@dataclass
class Draft:
    """A plan under construction: numbers the steps and describes them."""

    task: Task
    steps: list[PlannedStep] = field(default_factory=list)

    @property
    def wording(self) -> Wording:
        return wording_for(self.task.question)

    @property
    def scope_name(self) -> str:
        return ", ".join(self.task.scope) if self.task.scope else self.wording.everything

    def add(
        self,
        action: Action,
        description: str,
        *,
        patterns: Sequence[str] = (),
        query: str = "",
        targets: Sequence[str] = (),
        operation: Operation = "",
    ) -> str:
        """Append a step that depends on those of its targets that are steps of this draft; its id."""
        known = {step.id for step in self.steps}
        step = PlannedStep(
            id=f"s{self.task.first_number + len(self.steps)}",
            description=description,
            action=action,
            patterns=list(patterns),
            query=query,
            targets=list(targets),
            operation=operation,
            depends_on=[target for target in targets if target in known],
        )
        self.steps.append(step)
        return step.id

    def scan(self, patterns: Sequence[str]) -> str:
        what = self.wording.conjunction.join(patterns)
        text = self.wording.scan.format(scope=self.scope_name, what=what)
        return self.add("scan", text, patterns=patterns, targets=self.task.scope)

    def rank(self) -> str:
        text = self.wording.rank.format(scope=self.scope_name)
        return self.add("rank", text, query=self.task.question, targets=self.task.scope)

    def analyze(self, found_by: str = "") -> str:
        """Let readers answer the question: from what a step found, or from everything in scope."""
        if found_by:
            text = self.wording.analyze_found.format(steps=found_by)
            return self.add("analyze", text, query=self.task.question, targets=[found_by])
        text = self.wording.analyze.format(scope=self.scope_name)
        return self.add("analyze", text, query=self.task.question, targets=self.task.scope)

    def compute(self, operation: Operation, of: Sequence[str]) -> str:
        name = operation.replace("_", " ")
        text = self.wording.compute.format(operation=name, steps=", ".join(of))
        return self.add("compute", text, targets=of, operation=operation)

    def conclude(self) -> list[PlannedStep]:
        """Append the closing step, which depends on all others, and return the plan."""
        step = PlannedStep(
            id=f"s{self.task.first_number + len(self.steps)}",
            description=self.wording.conclude,
            action="conclude",
            patterns=[],
            query="",
            targets=[],
            operation="",
            depends_on=[step.id for step in self.steps],
        )
        return [*self.steps, step]


def plan(task: Task) -> tuple[str, list[PlannedStep]]:
    """The thinking and the steps. The last step is always `conclude`, whatever the cap."""
    draft = Draft(task)
    parts = separable(task)
    if parts:
        think = _two_questions(draft, parts)
    elif _extreme(task):
        think = _extreme_line(draft)
    else:
        think = _RECIPES.get(task.kind, _lookup)(draft)
    steps = draft.conclude()
    if len(steps) > task.max_steps:
        steps = _fit(draft, task.max_steps)
        think += f" The cap of {task.max_steps} steps leaves room for the first ones only."
    return think, steps


def _fit(draft: Draft, cap: int) -> list[PlannedStep]:
    """The first steps and the closing one, within the cap."""
    return Draft(draft.task, draft.steps[: cap - 1]).conclude()


def _count(draft: Draft) -> str:
    task = draft.task
    frame = without_quotes(task.question)
    words = task.patterns or tuple(counted_words(frame, task.overview))
    found = draft.scan(words or (_EVERY_LINE,))
    operation: Operation = "count"
    if _BY_SOURCE.search(frame):
        operation = "count_by_source"
    elif _BY_TIME.search(frame) or clock_range(frame):
        operation = "count_by_time"
    draft.compute(operation, [found])
    return "A count comes from an exhaustive scan; code counts the matching lines."


def _lookup(draft: Draft) -> str:
    if draft.task.patterns:
        draft.analyze(draft.scan(draft.task.patterns))
        return "The question names exact strings, so the lines that contain them all are read."
    draft.analyze(draft.rank())
    return "The question names no exact string, so the most relevant passages are read."


def _existence(draft: Draft) -> str:
    if draft.task.patterns:
        return _lookup(draft)
    draft.analyze()
    return "Absence can only be told after everything has been read, so everything is analyzed."


def _list(draft: Draft) -> str:
    task = draft.task
    read = draft.analyze(draft.scan(task.patterns) if task.patterns else "")
    if _VALUES.search(without_quotes(task.question)):
        draft.compute("distinct", [read])
    return "A list must be complete: no ranking, only an exhaustive search or a full reading."


def _timeline(draft: Draft) -> str:
    task = draft.task
    wanted = set(task.scope)
    sources = [s.id for s in task.overview.readable if not wanted or s.id in wanted]
    if task.patterns and task.text == task.question:
        draft.compute("timeline", [draft.analyze(draft.scan(task.patterns))])
        return (
            "The lines with the strings that the question names are read and put in order of time."
        )
    if _worth_splitting(task, sources):
        asked, zh = task.question, draft.wording.chinese
        parts = [
            draft.add(
                "subtask",
                draft.wording.subtask.format(source=source),
                query=timeline_task(source, asked, zh),
                targets=[source],
            )
            for source in sources
        ]
        draft.compute("timeline", parts)
        return f"Each of the {len(sources)} sources has its own course of events; code merges them by time."
    draft.compute("timeline", [draft.analyze()])
    return "Everything in scope is read once, then code puts the events in order of time."


def _worth_splitting(task: Task, sources: Sequence[str]) -> bool:
    fits = 2 <= len(sources) <= task.max_steps - 2
    open_task = task.depth_left > 0 and not task.child
    return fits and open_task and task.overview.complete and task.overview.partitions > 1


def _conflict(draft: Draft) -> str:
    draft.compute("conflicts", [draft.analyze()])
    return "Contradictions stand between places far apart, so everything is read and code compares the details."


_RECIPES: dict[str, Callable[[Draft], str]] = {
    "count": _count,
    "existence": _existence,
    "list": _list,
    "timeline": _timeline,
    "conflict": _conflict,
}


def _extreme(task: Task) -> bool:
    return bool(task.patterns) and task.kind == "lookup" and bool(_extreme_operation(task))


def _extreme_operation(task: Task) -> Operation:
    frame = _NOT_EXTREME.sub(" ", without_quotes(task.question))
    first, last = _EARLIEST.search(frame), _LATEST.search(frame)
    if bool(first) == bool(last):
        return ""
    return "earliest" if first else "latest"


def _extreme_line(draft: Draft) -> str:
    task = draft.task
    frame = without_quotes(task.question)
    named = " ".join(task.patterns)
    concerned = [
        word
        for found in _CONCERNING.findall(frame)
        for word in counted_words(found, task.overview)
        if word not in named
    ]
    draft.compute(_extreme_operation(task), [draft.scan(unique([*task.patterns, *concerned]))])
    return "The first or last of the matching lines is asked for; code compares their times."


def separable(task: Task) -> tuple[str, str] | None:
    """The two questions in one, if each names its own strings and the second stands by itself."""
    found = _TWO.match(task.question.strip()[:1_000])
    if not found or task.depth_left < 1 or task.max_steps < 3 or task.child:
        return None
    first, second = (found["first"] or found["zh1"], found["second"] or found["zh2"])
    strings = [set(named_strings(part, task.overview)) for part in (first, second)]
    if not all(strings) or strings[0] & strings[1] or _REFERS_BACK.search(without_quotes(second)):
        return None
    return first.rstrip(" ?？") + "?", second.rstrip(" ?？") + "?"


def _two_questions(draft: Draft, parts: tuple[str, str]) -> str:
    for question in parts:
        text = draft.wording.subquestion.format(question=question)
        draft.add("subtask", text, query=question, targets=draft.task.scope)
    return "These are two questions, each with strings of its own; each is answered by itself."


def step_of_plan(task: Task, step_id: str, action: str) -> PlannedStep | None:
    """The step of this id and action in the plan that this planner makes for the task."""
    number = STEP_ID.fullmatch(step_id)
    if not number:
        return None
    _, steps = plan(replace(task, first_number=1))
    same = [step for step in steps if step.action == action and action != "conclude"]
    exact = [step for step in same if step.id == f"s{number[1]}"]
    return next(iter(exact or (same if len(same) == 1 else [])), None)
