"""Statements that may be at odds: what is decided, prescribed or measured about the topic of a question."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runtime.lexicon import stems
from runtime.models.extractive.fields import Field, fields_of, is_decision, replaces
from runtime.models.extractive.score import Focus, focus_of
from runtime.models.extractive.select import matching
from runtime.models.extractive.shown import Shown
from signatures import TermStatistic

MAX_STATEMENTS = 40
_ABOUT = 0.4
_ASKS_FOR_CONFLICT = re.compile(
    r"\b(?:contradict\w*|conflict\w*|inconsisten\w*|disagree\w*|incompatible|at odds|decisions?|decided|statements?"
    r"|minutes|meetings?|earlier|later|previous|other|each|without|saying|documents?|notes|sources?|records?|find|list|show"
    r"|any|there)\b"
    r"|互相|相互|彼此|前后|矛盾|冲突|不一致|抵触|决议|决定|纪要|会议|说法|关于|之间|文档|记录|找出|列出|存在",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Stated:
    """One statement with its fields; none where it says that it replaces an earlier one."""

    unit: Shown
    fields: tuple[Field, ...]


def statements(
    question: str, patterns: Sequence[str], terms: Sequence[TermStatistic], units: Sequence[Shown]
) -> list[Stated]:
    """The statements about the topic of the question; where it names none, all decisions."""
    topic = topic_of(question)
    focus = focus_of(topic, terms, units)
    wanted = [pattern for pattern in patterns if pattern.strip()]
    hits = matching(wanted, units) if wanted else None
    found: list[tuple[float, int, Stated]] = []
    for index, unit in enumerate(units):
        # A row of a table lists items side by side; what differs between two rows is not at odds.
        if (
            not unit.quotable
            or unit.form in ("heading", "title", "row")
            or (hits is not None and index not in hits)
        ):
            continue
        fields = tuple(fields_of(unit.text))
        about = _about(index, units, focus) if topic else 0.0
        if not fields or not (about >= _ABOUT if topic else is_decision(unit.text)):
            continue
        replaced = replaces(unit.text) or _replaced_after(index, units)
        weight = about + (1.0 if is_decision(unit.text) else 0.0)
        found.append((weight, index, Stated(unit, () if replaced else fields)))
    best = sorted(found, key=lambda each: (-each[0], each[1]))[:MAX_STATEMENTS]
    return [stated for _, _, stated in sorted(best, key=lambda each: each[1])]


def topic_of(question: str) -> str:
    """The question without the words that ask for a contradiction; empty if nothing else is left."""
    topic = _ASKS_FOR_CONFLICT.sub(" ", question)
    return topic if any(len(word) > 1 for word in stems(topic)) else ""


def _about(index: int, units: Sequence[Shown], focus: Focus) -> float:
    """How much of the topic the statement covers; the heading above it helps by half."""
    own = focus.coverage(units[index].stems)
    above = units[index].heading
    if above is None:
        return own
    return own + 0.5 * (focus.coverage([*units[above].stems, *units[index].stems]) - own)


def _replaced_after(index: int, units: Sequence[Shown]) -> bool:
    """Whether the next sentence of the same paragraph says that this statement replaces another."""
    following = units[index + 1] if index + 1 < len(units) else None
    return bool(
        following
        and following.run == units[index].run
        and not following.opens
        and replaces(following.text)
    )
