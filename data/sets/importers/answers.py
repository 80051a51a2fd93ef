"""Answers: the answer that public data give as words, as a typed answer."""

import re
from collections.abc import Iterable
from datetime import datetime

from data.questions import TypedAnswer

_INTEGER = re.compile(r"-?(\d+|\d{1,3}(,\d{3})+)", re.ASCII)
_DATES = ("%Y-%m-%d", "%d %B %Y", "%d %B, %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y")

NO_ANSWER = TypedAnswer(type="none")
"""Of a question that has none; and of one whose answer the data do not give, which then cannot be judged."""


def typed_answer(words: str) -> TypedAnswer:
    """Yes and no as boolean, digits as integer, a full date as date; other words as a string."""
    words = words.strip()
    if words.lower() in ("yes", "no"):
        value = "true" if words.lower() == "yes" else "false"
        return TypedAnswer(type="boolean", values=(value,), accepted=(words,))
    if _INTEGER.fullmatch(words):
        value = str(int(words.replace(",", "")))
        return TypedAnswer(type="integer", values=(value,), accepted=_unless(value, words))
    date = _date(words)
    if date:
        return TypedAnswer(type="date", values=(date,), accepted=_unless(date, words))
    return TypedAnswer(type="string", values=(words,))


def any_of_several(answers: Iterable[str]) -> TypedAnswer:
    """Several answers that are all right, as a set; one alone by its words."""
    distinct = tuple(dict.fromkeys(each.strip() for each in answers))
    if len(distinct) == 1:
        return typed_answer(distinct[0])
    return TypedAnswer(type="set", values=distinct)


def _date(words: str) -> str:
    for form in _DATES:
        try:
            return datetime.strptime(words, form).date().isoformat()
        except ValueError:
            continue
    return ""


def _unless(value: str, words: str) -> tuple[str, ...]:
    return () if words == value else (words,)
