"""HeadingPartitioner: sections of a text with headings.

Markdown headings (`# Title`, or underlined), those of a wiki (`== Title ==`) and Chinese ones (第三章, 一、) count, but
not inside fenced code; numbered headings (`1.2 Title`) count only where the text has none of the others, since most
numbered lines there are lists.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from data.partition.lines import line_starts
from data.partition.partitioner import PATH, Segment, segments_from
from data.source import Source

OPENING = "(opening)"
MAX_HEADING = 160

_NUMERAL = "[一二三四五六七八九十百千零〇两\\d]"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_WIKI = re.compile(r"[ \t]{0,3}(=(?: ?=){0,5}) (\S.*?) \1[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*$")
_NOT_TITLE = re.compile(r" {4}|\t|\s*(?:[-*+>|]|\d+[.)]\s|$)|.*[|]")
_NUMBERED = re.compile(r" {0,3}(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+(?=[^\W\d_])(.*)$")
_CHINESE = (
    re.compile(rf"\s*第{_NUMERAL}{{1,6}}[编編卷部篇](?![^\s：:（(].{{30}})"),
    re.compile(rf"\s*第{_NUMERAL}{{1,6}}[章回](?!的)"),
    re.compile(rf"\s*第{_NUMERAL}{{1,6}}[节節](?!的)"),
    re.compile(rf"\s*第{_NUMERAL}{{1,6}}[条條](?=[\s　:：])"),
    re.compile(r"\s*[一二三四五六七八九十]{1,3}、\S"),
    re.compile(r"\s*[（(][一二三四五六七八九十]{1,3}[)）]\s*\S"),
)
_ENDS_PROSE = tuple("。；，;,.")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line: where it begins, its level (1 is the highest) and its text."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class HeadingPartitioner:
    """Applies to a text with at least one heading. A label is the path of titles."""

    name: ClassVar[str] = "heading"

    max_chars: int

    def cut(self, text: str, source: Source) -> list[Segment]:
        """One segment a heading, from its line to the next heading of any level."""
        marks = [(heading.start, path) for heading, path in _with_paths(headings(text))]
        return segments_from(marks, len(text), OPENING)


def headings(text: str) -> list[Heading]:
    """All headings of the text, in order."""
    lines = list(_lines(text))
    marked = [*_markdown(lines), *_chinese(lines)]
    if not marked:
        marked = list(_numbered(lines))
    return sorted(marked, key=lambda heading: heading.start)


def _lines(text: str) -> list[tuple[int, str]]:
    """Offset and text of each line outside fenced code, without its line end; fences become blank lines."""
    edges = [*line_starts(text).tolist(), len(text)]
    found: list[tuple[int, str]] = []
    fence = ""
    for at in range(len(edges) - 1):
        line = text[edges[at] : min(edges[at + 1], edges[at] + 400)].rstrip("\r\n")
        match = _FENCE.match(line)
        if fence:
            closes = match and match[1].startswith(fence) and not line[match.end() :].strip()
            fence, line = ("" if closes else fence), ""
        elif match:
            fence, line = match[1], ""
        found.append((edges[at], line))
    return found


def _markdown(lines: list[tuple[int, str]]) -> Iterator[Heading]:
    previous, before = (0, ""), ""
    for start, line in lines:
        if (match := _ATX.match(line)) and len(line) <= MAX_HEADING:
            yield Heading(start, len(match[1]), match[2] or "(untitled)")
        elif match := _WIKI.match(line):
            yield Heading(start, match[1].count("="), match[2])
        elif (match := _UNDERLINE.match(line)) and _is_title(previous[1], before):
            yield Heading(previous[0], 1 if match[1][0] == "=" else 2, previous[1])
        previous, before = (start, line), previous[1]


def _is_title(line: str, before: str) -> bool:
    """Whether an underline makes this line a heading: it stands alone, and is no list, table or code."""
    return not before.strip() and len(line) <= MAX_HEADING and not _NOT_TITLE.match(line)


def _chinese(lines: list[tuple[int, str]]) -> Iterator[Heading]:
    for start, line in lines:
        level = next((i for i, form in enumerate(_CHINESE, start=1) if form.match(line)), 0)
        article = level == 4
        if level and (article or (len(line) <= 60 and not line.rstrip().endswith(_ENDS_PROSE))):
            yield Heading(start, level, line.strip()[:60])


def _numbered(lines: list[tuple[int, str]]) -> Iterator[Heading]:
    """`1.2 Title` on a short line that is no sentence; `1 Title` only between blank lines."""
    for at, (start, line) in enumerate(lines):
        match = _NUMBERED.match(line)
        if not match or len(line) > 100 or line.rstrip().endswith(_ENDS_PROSE):
            continue
        depth = match[1].count(".") + 1
        if depth > 1 or (_blank(lines, at - 1) and _blank(lines, at + 1)):
            yield Heading(start, depth, line.strip())


def _blank(lines: list[tuple[int, str]], at: int) -> bool:
    return not 0 <= at < len(lines) or not lines[at][1].strip()


def _with_paths(found: list[Heading]) -> Iterator[tuple[Heading, str]]:
    """Each heading with the titles above it: `Install > Linux`."""
    above: list[Heading] = []
    for heading in found:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        yield heading, PATH.join(part.title.strip(" *_") for part in above)
