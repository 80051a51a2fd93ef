"""Typed values as they stand in a text: all that a text states, so that nobody has to guess which one it means."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evals.wording import folded, normalized
from runtime.lexicon import is_cjk

_TOKEN = re.compile(r"(?<!\w)[-+]?\w+(?:[.,:/@'+\\-]\w+)*")
_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d+)?")
_UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {word: number for number, word in enumerate(_UNITS)}
_WORDS |= {word: number * 10 for number, word in enumerate(_TENS, 2)}
_WORDS |= {
    f"{tens}-{unit}": number * 10 + _WORDS[unit]
    for number, tens in enumerate(_TENS, 2)
    for unit in _UNITS[1:10]
}
_MONTHS = [
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
]
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_CLOCK = r"(?:[t ,]{1,2}(?P<h>\d{2}):(?P<m>\d{2})(?::(?P<s>\d{2})(?:[.,](?P<f>\d{1,9}))?)?)?"
_DATES = tuple(
    re.compile(rf"(?<![\d.]){day}{_CLOCK}(?!\d)")
    for day in (
        r"(?P<y>\d{4})([-/])(?P<mo>\d{1,2})\2(?P<d>\d{1,2})",
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?P<mo>{_MONTH})\.?,? (?P<y>\d{{4}})",
        rf"(?<![a-z])(?P<mo>{_MONTH})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}})",
        r"(?P<y>\d{4})年(?P<mo>\d{1,2})月(?P<d>\d{1,2})日",
    )
)
_PRECISIONS = ("day", "minute", "second", "fraction")
_YES_NO = re.compile(
    r"(?:(?P<yes>yes|true)|(?P<no>no|false))(?![\w'-])"
    r"|(?:(?P<shi>是的|是|有|对)|(?P<fou>不是|否|没有|不对))(?=[,.;:!?。、]|$)"
)
_COMMAS = r"[,，、]|\band\b|(?<=\W)和(?=\W)"
_SEPARATORS = (r"\n+", r"[;；]", _COMMAS)
_LEAD = re.compile(r"[^:：\n]*[:：](?=\s)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, or a time of a date, with what it is exact to: day, minute, second or fraction."""

    at: datetime
    precision: str

    def to(self, precision: str) -> "Moment":
        """The same, no more exact than `precision`."""
        if _PRECISIONS.index(precision) >= _PRECISIONS.index(self.precision):
            return self
        at = self.at.replace(microsecond=0)
        if precision in ("minute", "day"):
            at = at.replace(second=0)
        if precision == "day":
            at = at.replace(minute=0, hour=0)
        return Moment(at, precision)


def numbers(text: str) -> frozenset[float]:
    """The numbers that a text states: in digits, or if there are none in words up to ninety-nine.

    Digits within times, dates, versions, ranges and names are none of its numbers.
    """
    plain = "".join(" " if is_cjk(char) else char for char in folded(text))
    tokens = [match.group() for match in _TOKEN.finditer(plain)]
    found = frozenset(float(token) for token in tokens if _NUMBER.fullmatch(token))
    return found or frozenset(float(_WORDS[token]) for token in tokens if token in _WORDS)


def moments(text: str, precision: str = "fraction") -> frozenset[Moment]:
    """The dates and times that a text states, no more exact than asked for."""
    return frozenset(each.to(precision) for each in _moments(text))


def _moments(text: str) -> Iterable[Moment]:
    plain = " ".join(text.casefold().split())
    for pattern in _DATES:
        for match in pattern.finditer(plain):
            try:
                yield _moment(match)
            except ValueError:
                continue  # the 31st of February


def _moment(match: re.Match[str]) -> Moment:
    month, hour, minute, second, fraction = match.group("mo", "h", "m", "s", "f")
    at = datetime(
        int(match["y"]),
        int(month) if month.isdigit() else [name[:3] for name in _MONTHS].index(month[:3]) + 1,
        int(match["d"]),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        int(fraction[:6].ljust(6, "0")) if fraction else 0,
    )
    known = [True, hour is not None, second is not None, fraction is not None]
    precision = _PRECISIONS[sum(known) - 1]
    return Moment(at, precision)


def answers(texts: Sequence[str]) -> frozenset[bool]:
    """Yes and no, as the words with which statements begin; a statement without one says neither."""
    matches = (_YES_NO.match(folded(text)) for text in texts)
    return frozenset(match.lastgroup in ("yes", "shi") for match in matches if match)


def items(texts: Sequence[str], is_item: Callable[[str], bool]) -> list[str]:
    """The items of a list: the statements, or the parts of a single one.

    One statement is taken apart at line ends, else at semicolons, else at commas and "and", behind a lead that ends in
    a colon; a JSON list is what it says. Between commas stands prose too: only what can be an item is one.
    """
    if len(texts) != 1:
        return [text for text in texts if text.strip()]
    text = texts[0].strip()
    listed = _json_list(text)
    if listed is not None:
        return listed
    body = _LEAD.sub("", text, count=1).strip() or text
    for separator in _SEPARATORS:
        parts = [_BULLET.sub("", part).strip() for part in re.split(separator, body)]
        parts = [part for part in parts if normalized(part)]
        if len(parts) > 1:
            return [part for part in parts if separator != _COMMAS or is_item(part)]
    return [_BULLET.sub("", body)] if body else []


def _json_list(text: str) -> list[str] | None:
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return entries(found) if isinstance(found, list) else None


def entries(value: Sequence[Any]) -> list[str]:
    """The items of a typed list: texts and numbers, the labels of counts, the texts of events."""
    named = (
        each.get("label", each.get("text", "")) if isinstance(each, dict) else each
        for each in value
    )
    return [str(each) for each in named if each not in ("", None)]
