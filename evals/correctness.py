"""Correctness: whether a typed answer is the right one. By value where the answer has one, else read from its text.

What the types mean:

- integer: equal as numbers. Text: the one number that the statements hold ("12:30 is 7" holds 7, "seven" does too).
- date: equal, as exactly as gold states it. Times are compared as they are written; a zone is not applied.
- string: a value or an accepted wording stands in a statement, as whole words after normalization (`wording`). One
  that is only denied there ("it is not Kafka") is not stated.
- set: every value is stated and no item states anything else; F1 counts items. What is `accepted` may be an item
  and need not be. A superfluous item is only seen where items can be told apart: in a typed list, in statements.
- boolean: the word with which the statements begin. A question for existence that was answered is a yes.

A text in which nothing of the type stands is right if an accepted wording does. One that states several numbers, dates,
or yes and no, leaves open which it means: like one in which there is nothing, it is `unparsed`, which is neither right
nor wrong, and counted as itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from data.questions import TypedAnswer
from evals import values
from evals.metrics import UNDEFINED, Ratio
from evals.wording import asserts, denies, normalized, states
from runtime.lexicon import stems


@dataclass(frozen=True, slots=True)
class Given:
    """What an answer gives: its typed value (or None), its statements, and the kind that its program took it for."""

    value: Any
    statements: Sequence[str]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether an answer is right: None where its type could not be read. `read` is what was taken as the answer."""

    correct: bool | None
    read: str
    source: str
    f1: Ratio = UNDEFINED


_UNPARSED = Judged(None, "", "text")


def judged(gold: TypedAnswer, given: Given) -> Judged:
    """An answer against gold. Raises ValueError for gold of type `none`: only an abstention is right there."""
    if gold.type == "none":
        raise ValueError("no answer is right where gold has none")
    return _JUDGES[gold.type](gold, given)


def _integer(gold: TypedAnswer, given: Given) -> Judged:
    wanted = {each for text in _wordings(gold) for each in values.numbers(text)}
    if isinstance(given.value, int | float) and not isinstance(given.value, bool):
        return Judged(float(given.value) in wanted, f"{given.value:.15g}", "value")
    found = values.numbers("\n".join(given.statements))
    if len(found) != 1:
        return _by_wording(gold, given) if not found else _UNPARSED
    (read,) = found
    return Judged(read in wanted, f"{read:.15g}", "text")


def _date(gold: TypedAnswer, given: Given) -> Judged:
    wanted = [each for text in gold.values for each in values.moments(text)]
    if not wanted:
        raise ValueError(f"no date: {gold.values}")
    precision = wanted[0].precision
    value = given.value.get("time") if isinstance(given.value, dict) else given.value
    typed = values.moments(value, precision) if isinstance(value, str) else ()
    found = typed or values.moments("\n".join(given.statements), precision)
    if len(found) != 1:
        return _by_wording(gold, given) if not found else _UNPARSED
    (read,) = found
    right = any(read == each.to(precision) for each in wanted)
    return Judged(right, read.at.isoformat(sep=" "), "value" if typed else "text")


def _string(gold: TypedAnswer, given: Given) -> Judged:
    value = given.value.get("text") if isinstance(given.value, dict) else given.value
    source, texts = ("value", [value]) if isinstance(value, str) and value else ("", [])
    if not source:
        source, texts = "text", list(given.statements)
    found = next((each for each in _wordings(gold) if any(asserts(t, each) for t in texts)), None)
    return Judged(found is not None, found or "", source)


def _boolean(gold: TypedAnswer, given: Given) -> Judged:
    source, found = "text", values.answers(given.statements)
    if isinstance(given.value, bool):
        source, found = "value", frozenset([given.value])
    elif not found and given.kind == "existence" and given.statements:
        source, found = "outcome", frozenset([True])
    if len(found) != 1:
        return _by_wording(gold, given) if not found else _UNPARSED
    (read,) = found
    return Judged(str(read).lower() in gold.values, str(read).lower(), source)


def _by_wording(gold: TypedAnswer, given: Given) -> Judged:
    """Where nothing of the type is stated: right if an accepted wording is. One that is denied is wrong."""
    for wording in gold.accepted:
        if any(denies(text, wording) for text in given.statements):
            return Judged(False, f"not {wording}", "text")
        if any(states(text, wording) for text in given.statements):
            return Judged(True, wording, "text")
    return _UNPARSED


def _set(gold: TypedAnswer, given: Given) -> Judged:
    source, texts, found = _listed(gold, given)
    wanted = list({normalized(each): each for each in gold.values}.values())
    stated = [each for each in wanted if any(states(text, each) for text in texts)]
    extra = {normalized(each) for each in found if not _belongs(each, (*wanted, *gold.accepted))}
    missed = len(wanted) - len(stated)
    f1 = Ratio(2 * len(stated), 2 * len(stated) + len(extra) + missed)
    read = "; ".join([*stated, *(f"+{each}" for each in sorted(extra))])
    return Judged(not missed and not extra, read, source, f1)


def _listed(gold: TypedAnswer, given: Given) -> tuple[str, Sequence[str], Sequence[str]]:
    """Where the items come from, the texts that state values, and the items.

    The sides of conflicts stand in the statements as the text has them, and in the value as code has compared them.
    """
    if not isinstance(given.value, list | tuple):
        found = values.items(given.statements, lambda part: _resembles(part, _wordings(gold)))
        return "text", given.statements, found
    if any(isinstance(each, dict) and "values" in each for each in given.value):
        return "text", given.statements, given.statements
    found = values.entries(given.value)
    return "value", found, found


def _resembles(part: str, wordings: Sequence[str]) -> bool:
    """Whether a part of a sentence could be meant as an item: as short as the values, and with digits if they have."""
    if not stems(part) or not wordings:
        return bool(stems(part))
    return (
        len(part) <= 2 * max(map(len, wordings))
        and len(part.split()) <= max(len(each.split()) for each in wordings)
        and (_has_digit(part) or not all(map(_has_digit, wordings)))
    )


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _belongs(item: str, wanted: Sequence[str]) -> bool:
    """Whether an item states a value, or is a part of one that has a comma in it."""
    return any(states(item, each) or states(each, item) for each in wanted)


def _wordings(gold: TypedAnswer) -> tuple[str, ...]:
    return (*gold.values, *gold.accepted)


_JUDGES = {
    "integer": _integer,
    "date": _date,
    "string": _string,
    "boolean": _boolean,
    "set": _set,
}
