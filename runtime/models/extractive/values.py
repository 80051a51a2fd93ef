"""Values: what a long line of JSON says, string by string, so that nothing is quoted across its syntax.

The line may be a part of a record and begin or end within a string: unescaped quotation marks still tell where strings
begin and end. A value of some words is a stretch by itself, a short one goes together with its key.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from runtime.sentences import sentences

_MARK = re.compile(r'\\.|"', re.DOTALL)
_CLOSED = re.compile(r"\s*(?:[,:}\]]|$)")
_COLON = re.compile(r"\s*:\s*")
_SCALAR = re.compile(r"\s*:\s*(?:-?\d[\d.eE+-]*|true|false|null)(?=\s*[,}\]])")
_FEW_WORDS = 4
_LONG = 600


@dataclass(frozen=True, slots=True)
class _String:
    """The content of a string. At the edges of the line it may be cut."""

    start: int
    end: int
    is_key: bool


def value_ranges(line: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each stretch of a line of JSON, and whether a value begins with it."""
    key: _String | None = None
    for string in _strings(line):
        content = line[string.start : string.end]
        if string.is_key:
            scalar = _SCALAR.match(line, string.end + 1)
            if scalar:
                yield _quoted(line, string)[0], scalar.end(), True
            elif not _COLON.match(line, string.end + 1) or line[_value_at(line, string)] != '"':
                yield *_quoted(line, string), True
            key = string
        elif key and _value_at(line, key) == string.start - 1 and _is_short(content):
            yield _quoted(line, key)[0], _quoted(line, string)[1], True
        elif content.strip():
            yield from _stretches(content, string.start)


def _strings(line: str) -> Iterator[_String]:
    marks = [found.start() for found in _MARK.finditer(line) if found[0] == '"']
    edges = [*([-1] if _begins_inside(line, marks) else []), *marks]
    edges += [len(line)] if len(edges) % 2 else []
    for i in range(0, len(edges), 2):
        start, end = edges[i] + 1, edges[i + 1]
        yield _String(start, end, end < len(line) and _COLON.match(line, end + 1) is not None)


def _begins_inside(line: str, marks: list[int]) -> bool:
    """Whether the line begins within a string: then its first, third, fifth mark are the closing ones."""
    closing = [_CLOSED.match(line, at + 1) is not None for at in marks]
    odd, even = closing[::2], closing[1::2]
    return sum(odd) * len(even) > sum(even) * len(odd) if even else any(odd)


def _value_at(line: str, key: _String) -> int:
    """Where the value of a key begins; the last character of the line if that is cut off."""
    colon = _COLON.match(line, key.end + 1)
    return min(colon.end(), len(line) - 1) if colon else len(line) - 1


def _quoted(line: str, string: _String) -> tuple[int, int]:
    """The string with its quotation marks, as far as the line has them."""
    return max(0, string.start - 1), min(len(line), string.end + 1)


def _is_short(content: str) -> bool:
    return len(content.split(maxsplit=_FEW_WORDS)) < _FEW_WORDS and len(content) < _LONG


def _stretches(content: str, offset: int) -> Iterator[tuple[int, int, bool]]:
    """A whole value, or the sentences of a long one."""
    if len(content) <= _LONG:
        start = len(content) - len(content.lstrip())
        yield offset + start, offset + len(content.rstrip()), True
        return
    for i, (start, end) in enumerate(sentences(content)):
        yield offset + start, offset + end, i == 0
