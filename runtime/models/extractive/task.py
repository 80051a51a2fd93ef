"""The task: what a plan is made for, read from the inputs of a prompt."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runtime.questions.classifier import classify
from runtime.questions.mentions import about, without_quotes
from runtime.questions.notation import (
    Overview,
    question_of,
    read_overview,
    read_targets,
    source_of,
)

STEP_ID = re.compile(r"(?<![\w-])s(\d{1,6})(?:r\d{1,3})?(?![\w-])")
"""The form of the step ids that this planner gives: s1, s2, and s1r1 for a second attempt at s1."""


@dataclass(frozen=True)
class Task:
    """What a plan is made for. `scope` is empty for the whole corpus; `child` if a task stands above it."""

    text: str
    kind: str
    patterns: tuple[str, ...]
    overview: Overview
    scope: tuple[str, ...] = ()
    child: bool = False
    depth_left: int = 0
    max_steps: int = 12
    first_number: int = 1

    @property
    def question(self) -> str:
        """The question that readers are asked: without the frame that a child's task puts around it."""
        return question_of(self.text)


def task_from(
    *,
    text: str,
    kind: str,
    patterns: Sequence[str],
    overview: str,
    constraints: str = "",
    goal_chain: Sequence[str] = (),
    history: str = "",
    depth_left: int = 0,
    max_steps: int = 12,
) -> Task:
    """A task from the inputs of `Plan`, or from those of `Refine`, which has fewer."""
    corpus = read_overview(overview)
    asked = question_of(text)
    source = source_of(text)
    if not kind.strip() or not about(asked, patterns):
        # The kind and the strings of a parent's question do not fit a part of it.
        own = classify(asked, overview)
        kind, patterns = own.kind, own.patterns
    return Task(
        text=text,
        kind="timeline" if source else kind.strip(),
        patterns=tuple(pattern for pattern in patterns if pattern.strip()),
        overview=corpus,
        scope=read_targets(constraints)
        or ((source,) if source else corpus.named_in(without_quotes(text))),
        child=bool(goal_chain) or bool(source),
        depth_left=depth_left,
        max_steps=max(1, max_steps),
        first_number=next_number(history),
    )


def next_number(*texts: str) -> int:
    """The first step number that is greater than all that occur in the texts."""
    return max((int(number) for text in texts for number in STEP_ID.findall(text)), default=0) + 1
