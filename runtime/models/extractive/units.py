"""Units: the smallest stretches of a span that a reader quotes.

A unit is a sentence of prose, a line that stands for itself (log line, table row, heading, list item), or one record of
a CSV or JSONL file; of a JSON record that is longer than a span, a value. A heading bears markup, a title does not.
Units are in order, do not overlap, and bear no surrounding white space.
"""

import re
from dataclasses import dataclass
from typing import Literal

from runtime.models.extractive.times import leading_time
from runtime.models.extractive.values import value_ranges
from runtime.sentences import sentences

Form = Literal["record", "row", "heading", "title", "sentence"]

_LINE = re.compile(r"[^\r\n\f\v\x1c-\x1e\x85\u2028\u2029]+")
_HEADING = re.compile(r"#{1,6}\s+\S|=+ .* =+$|={2,}\s*\S")
_ROW = re.compile(r"\|.*\|$|\{.*\},?$")
_LEVEL = re.compile(
    r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|ALERT|SEVERE)\b\]?[\s:|]"
)
_BREAK = re.compile(r"\r\n|\r|\n")
_BLANK_BEFORE = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)\Z")
_DELIMITERS = (",", "\t", ";")
_ENDS_SENTENCE = frozenset('.!?。！？…"”’」』；;：:,，、)）*')
_LONGEST_HEADING = 120
_LONG_LINE = 200


@dataclass(frozen=True)
class Unit:
    """A half-open range of the span's text, the form in which it was found, and whether a paragraph opens with it."""

    start: int
    end: int
    form: Form
    opens: bool


def units_of(text: str, *, json: bool = False) -> list[Unit]:
    """The units of a span's text; `json` says that it is part of a JSON or JSONL file."""
    units: list[Unit] = []
    start = 0
    for row_start, row_end in _delimited_rows(text):
        units += _between_rows(text, start, row_start, json)
        units.append(Unit(row_start, row_end, "row", _opens(text, units, row_start)))
        start = row_end
    return units + _between_rows(text, start, len(text), json)


def _between_rows(text: str, start: int, end: int, json: bool) -> list[Unit]:
    """Sentences and lines; of a long line of JSON, the values."""
    units: list[Unit] = []
    long = [found.span() for found in _LINE.finditer(text, start, end) if json and _is_long(found)]
    for line_start, line_end in [*long, (end, end)]:
        for a, b in sentences(text[start:line_start]):
            first, last = start + a, start + b
            units.append(Unit(first, last, _form(text, first, last), _opens(text, units, first)))
        for a, b, opens in value_ranges(text[line_start:line_end]):
            units.append(Unit(line_start + a, line_start + b, "sentence", opens))
        start = line_end
    return units


def _is_long(line: re.Match[str]) -> bool:
    return len(line[0]) > _LONG_LINE and '"' in line[0]


def _opens(text: str, before: list[Unit], start: int) -> bool:
    """Whether a unit begins a paragraph: it is the first, or a line break stands before it."""
    return not before or any(mark in text[before[-1].end : start] for mark in "\r\n")


def _delimited_rows(text: str) -> list[tuple[int, int]]:
    """Records: JSON objects of one line, and three or more lines in a row with one number of one delimiter."""
    lines = [found.span() for found in _LINE.finditer(text) if not found[0].isspace()]
    rows = {
        i
        for i, (a, b) in enumerate(lines)
        if text[a] == "{" and text[a:b].rstrip().endswith(("}", "},"))
    }
    for delimiter in _DELIMITERS:
        counts = [text.count(delimiter, a, b) for a, b in lines]
        run = 0
        for index, count in enumerate(counts):
            run = run + 1 if index and count == counts[index - 1] else 1
            if run >= 3 and count >= (1 if delimiter == "\t" else 2):
                rows.update(range(index - run + 1, index + 1))
    records = {i for i in rows if not leading_time(text[slice(*lines[i])])}
    return [_stripped(text, *lines[i]) for i in sorted(records)]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while text[start].isspace():
        start += 1
    while text[end - 1].isspace():
        end -= 1
    return start, end


def _form(text: str, start: int, end: int) -> Form:
    unit = text[start:end]
    if leading_time(unit) or _LEVEL.match(unit):
        return "record"
    if _HEADING.match(unit):
        return "heading"
    if _ROW.match(unit):
        return "row"
    if end - start > _LONGEST_HEADING or unit[-1] in _ENDS_SENTENCE:
        return "sentence"
    return "title" if _stands_alone(text, start, end) else "sentence"


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a blank line is before it, and after it a blank line or a longer line: a heading without markup."""
    before, after = text[:start].rstrip(" \t"), text[end:].lstrip(" \t")
    below = _BREAK.match(after)
    if below is None or (before.strip() and not _BLANK_BEFORE.search(before)):
        return False
    next_line = _LINE.match(after, below.end())
    return next_line is None or next_line[0].isspace() or len(next_line[0]) > 2 * (end - start)
