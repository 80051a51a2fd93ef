"""Harmless text: what a corpus or a model wrote, as it may stand in the prompt of a model that writes instructions.

Such a prompt has a structure of its own: headings, numbered examples, fields, fenced blocks from which the new
instruction is taken. A word joiner inside of each mark takes its force away (as runtime/untrusted.py does for the
fields of the suite's own prompts). A joiner goes between two neighboring characters, whatever stands around them: what
was a part of a text stays a part of it, so that a quote still agrees with its span.
"""

import re
from collections.abc import Mapping
from typing import Any

from runtime.untrusted import neutralize

JOINER = "\u2060"
_MARKS = re.compile(
    r"`(?=`)"  # a fence
    r"|~(?=~)"
    r"|#(?=[#\s])"  # a heading
    r"|\[(?=\[ ?#)"  # a field of an adapter
    r"|<(?=[/!?|]?[A-Za-z])"  # a tag, or a token of a chat template
    r"|<(?=\|)"
    r"|\[(?=/?INST)"
    r"|\b[Ee][Xx][Aa][Mm][Pp][Ll][Ee](?=\s*#?\d)"
)


def harmless(text: str) -> str:
    """The text with nothing in it that could pose as a part of a prompt."""
    return _MARKS.sub(lambda found: found[0] + JOINER, neutralize(text))


def harmless_value(value: Any) -> Any:
    """JSON with all its texts made harmless."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {harmless(str(name)): harmless_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [harmless_value(each) for each in value]
    return value
