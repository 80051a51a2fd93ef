"""The pattern argument of a tool: one pattern a line, in the notation of the suite but for plain text.

Plain text is exact, as a programmer expects of a search, and may ignore case on demand. A string that the question
itself asks for, as the model is shown it, is searched for as the question means it, so that the search settles the
question.
"""

import re
from collections.abc import Collection
from dataclasses import replace

from data.pattern import Pattern
from runtime.errors import MissingInput

_LINES = re.compile(r"\r\n|\r|\n")


def patterns_in(text: str, *, ignore_case: bool, asked: Collection[str]) -> list[str]:
    """The patterns of an argument, as searches write them. `asked` are those of the question.

    Raises MissingInput when there is none, PatternError for one that is not valid.
    """
    lines = [line.strip() for line in _LINES.split(text)]
    found = [_read(line, ignore_case, asked).render() for line in lines if line]
    if not found:
        raise MissingInput("the pattern is empty: give a text, or /a regular expression/")
    return list(dict.fromkeys(found))


def _read(line: str, ignore_case: bool, asked: Collection[str]) -> Pattern:
    parsed = Pattern.parse(line)
    if line in asked:
        return parsed
    if parsed.kind == "bare":
        return Pattern(line, "literal", ignore_case)
    return replace(parsed, ignore_case=parsed.ignore_case or ignore_case)
