"""Units: the smallest stretches of a span that a reader quotes.

A unit is a log line, a list item, a table row, a record of a JSONL or CSV file, a heading, or a sentence of
prose. Units are found by form alone, never overlap, and bear no surrounding white space.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runtime.models.extractive.times import leading_time

Form = Literal["record", "row", "item", "heading", "sentence"]

_LINE = re.compile(r"[^\r\n\f\v\x85\u2028\u2029]+")
_HEADING = re.compile(r"#{1,6}\s+\S|=+ .* =+$|={2,}\s*\S")
_ITEM = re.compile(r"(?:[-*+•·‣▪]|\(?\d{1,3}[.)]|[(（]\d{1,3}[)）]|\d{1,3}、|[一二三四五六七八九十]{1,3}、)\s*(?=\S)")
_BULLET_NEEDS_SPACE = re.compile(r"[-*+]\S|\d{1,3}\.\d")
_ROW = re.compile(r"\|.*\|$|\{.*\},?$|\[.*\],?$")
_LEVEL = re.compile(r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|ALERT|SEVERE)\]?[\s:|]")
_DELIMITERS = (",", "\t", ";")
_FULL_STOP = re.compile(r"[。！？]+[”’」』）】\"']*|[.!?…]+[\"'”’)\]]*(?=\s)|(?<=\s)[.!?](?=\s)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Lt|Capt|Sgt|Gov|Sen|Rep|Hon|Rev|v|vs|cf|ca|al|etc|"
    r"e\.g|i\.e|approx|Fig|Figs|Eq|Eqs|Ref|Refs|No|Nos|Vol|pp|Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|"
    r"Sep|Oct|Nov|Dec|U\.S|U\.K|a\.m|p\.m)\.$"
)
_ITEM_AS_ONE = 320
_WRAP_WIDTHS = range(40, 201)


@dataclass(frozen=True)
class Unit:
    """A half-open range of the span's text, and the form in which it was found."""

    start: int
    end: int
    form: Form


def units_of(text: str) -> list[Unit]:
    """The units of a span's text, in order."""
    lines = [_strip(text, m.start(), m.end()) for m in _LINE.finditer(text)]
    lines = [line for line in lines if line[0] < line[1]]
    forms = _forms(text, lines)
    units: list[Unit] = []
    at = 0
    while at < len(lines):
        form = forms[at]
        stop = at + 1
        if form in ("sentence", "item"):
            stop = _paragraph_end(text, lines, forms, at)
        start, end = lines[at][0], lines[stop - 1][1]
        if form == "sentence" or (form == "item" and end - start > _ITEM_AS_ONE):
            units += (Unit(a, b, "sentence") for a, b in sentences(text, start, end))
        else:
            units.append(Unit(start, end, form))
        at = stop
    return units


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, each without surrounding white space."""
    at = start
    for stop in _FULL_STOP.finditer(text, start, end):
        if stop.end() < end and _inside_sentence(text, at, stop.end(), end):
            continue
        a, b = _strip(text, at, stop.end())
        if a < b:
            yield a, b
        at = stop.end()
    a, b = _strip(text, at, end)
    if a < b:
        yield a, b


def _inside_sentence(text: str, start: int, stop: int, end: int) -> bool:
    """Whether the full stop that ends at `stop` is one of an abbreviation, or no word precedes it."""
    if text[stop - 1] in "。！？”’」』）】":
        return False
    if _ABBREVIATION.search(text, max(start, stop - 8), stop):
        return True
    following = text[stop : min(end, stop + 12)].lstrip()
    return bool(following) and following[0].islower()


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _forms(text: str, lines: list[tuple[int, int]]) -> list[Form]:
    forms = [_form(text[a:b]) for a, b in lines]
    records = sum(form == "record" for form in forms)
    if records * 2 > len(forms):
        # Between the lines of a log, a line without a time belongs to the log (a stack trace), not to prose.
        return ["record" if form != "row" else form for form in forms]
    for index in _delimited(text, lines):
        if forms[index] == "sentence":
            forms[index] = "row"
    return forms


def _form(line: str) -> Form:
    if leading_time(line) or _LEVEL.match(line):
        return "record"
    if _HEADING.match(line):
        return "heading"
    if _ROW.match(line):
        return "row"
    if _ITEM.match(line) and not _BULLET_NEEDS_SPACE.match(line):
        return "item"
    return "sentence"


def _delimited(text: str, lines: list[tuple[int, int]]) -> set[int]:
    """Lines of a delimited table: at least three in a row with the same number (two or more) of one delimiter."""
    found: set[int] = set()
    for delimiter in _DELIMITERS:
        counts = [text.count(delimiter, a, b) for a, b in lines]
        run = 0
        for index, count in enumerate(counts):
            run = run + 1 if index and count == counts[index - 1] else 1
            if run >= 3 and count >= (1 if delimiter == "\t" else 2):
                found.update(range(index - run + 1, index + 1))
    return found


def _paragraph_end(text: str, lines: list[tuple[int, int]], forms: list[Form], at: int) -> int:
    """The line after the last that wrapped prose, starting at line `at`, runs on to."""
    stop = at + 1
    while stop < len(lines) and forms[stop] == "sentence" and _is_next_line(text, lines, stop):
        stop += 1
    if stop - at == 1:
        return stop
    width = max(b - a for a, b in lines[at:stop])
    if width not in _WRAP_WIDTHS:
        return at + 1
    for index in range(at + 1, stop):
        a, b = lines[index - 1]
        first_word = text[lines[index][0] : lines[index][1]].split(None, 1)[0]
        # A wrapped line breaks only where the next word would not have fitted.
        if b - a + 1 + len(first_word) <= width:
            return index
    return stop


def _is_next_line(text: str, lines: list[tuple[int, int]], index: int) -> bool:
    """Whether no blank line stands between line `index` and the one before."""
    gap = text[lines[index - 1][1] : lines[index][0]].replace("\r\n", "\n")
    return sum(gap.count(mark) for mark in "\r\n\f\v\x85\u2028\u2029") <= 1
