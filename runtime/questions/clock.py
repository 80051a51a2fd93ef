"""Clock range: the part of a day to which a question limits itself, "between 09:30 and 10:00"."""

import re
from dataclasses import dataclass

_TIME = r"(\d{1,2}:\d{2}(?::\d{2})?)(?!\d)"
_LEAD = r"(?<![\d:])"
_BOTH = re.compile(
    rf"(?:\b(?:between|from)\s+{_TIME}\s*(?:and|to|until|till|-|–)\s*{_TIME})"
    rf"|{_LEAD}{_TIME}\s*(?:-|–|—|~|至|到|和|与)\s*{_TIME}",
    re.IGNORECASE,
)
_FROM = re.compile(
    rf"\b(?:after|since|from)\s+{_TIME}|{_LEAD}{_TIME}\s*(?:之后|以后|后|起)", re.IGNORECASE
)
_UNTIL = re.compile(
    rf"\b(?:before|until|till|by)\s+{_TIME}|{_LEAD}{_TIME}\s*(?:之前|以前|前)", re.IGNORECASE
)
_BEFORE = re.compile("before|前", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2}))?|(?<!\d)\d{6} (\d{2})(\d{2})(\d{2})(?!\d)"
    r"|(?<=\d-)(\d{2})\.(\d{2})\.(\d{2})(?!\d)"
)
_DAY = 24 * 3600


@dataclass(frozen=True)
class ClockRange:
    """Seconds of the day, both ends included; a range that ends before it starts goes over midnight."""

    first: int
    last: int

    def holds(self, time: str) -> bool | None:
        """Whether a time as it is written lies in the range; None for one without a clock."""
        at = _seconds(time)
        if at is None:
            return None
        if self.first <= self.last:
            return self.first <= at <= self.last
        return at >= self.first or at <= self.last


def clock_range(question: str) -> ClockRange | None:
    """The range that a question names; None if it names none."""
    if both := _BOTH.search(question):
        first, last = (found for found in both.groups() if found)
        return _range(_seconds(first), _seconds(last))
    if since := _FROM.search(question):
        return _range(_seconds(_given(since)), _DAY)
    if until := _UNTIL.search(question):
        last = _seconds(_given(until))
        return _range(0, last - 1 if last and _BEFORE.search(until.group()) else last)
    return None


def _range(first: int | None, last: int | None) -> ClockRange | None:
    return None if first is None or last is None else ClockRange(first, last)


def _given(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group)


def _seconds(time: str) -> int | None:
    found = _CLOCK.search(time)
    if found is None:
        return None
    hours, minutes, seconds = ([int(part) for part in found.groups() if part] + [0])[:3]
    return hours * 3600 + minutes * 60 + seconds if hours < 24 and minutes < 60 else None
