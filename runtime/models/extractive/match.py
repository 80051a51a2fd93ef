"""Patterns: the strings that a matching unit must contain, in the suite's small syntax.

`"..."` is a literal, case-sensitive substring; `/re/` or `/re/i` an RE2 regular expression; anything else a
literal substring that ignores case and, where it begins or ends with a digit, is no part of a longer number.
"""

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

_EXPRESSION = re.compile(r"/(.+)/(i?)$", re.DOTALL)


def matches(pattern: str, texts: Sequence[str]) -> list[bool]:
    """For each text whether it contains the pattern. A pattern that is not valid is contained nowhere."""
    if expression := _EXPRESSION.match(pattern):
        return _regular(expression[1], texts, ignore_case=bool(expression[2]))
    if len(pattern) > 2 and pattern[0] == pattern[-1] == '"':
        return [pattern[1:-1] in text for text in texts]
    bare = re.escape(pattern)
    before = r"(?<!\d)" if pattern[:1].isdigit() else ""
    after = r"(?!\d)" if pattern[-1:].isdigit() else ""
    found = re.compile(before + bare + after, re.IGNORECASE)
    return [found.search(text) is not None for text in texts]


def all_match(patterns: Sequence[str], texts: Sequence[str]) -> list[bool]:
    """For each text whether it contains every pattern; an empty list of patterns is contained nowhere."""
    rows = [matches(pattern, texts) for pattern in patterns if pattern.strip()]
    return [all(column) for column in zip(*rows, strict=True)] if rows else [False] * len(texts)


def _regular(expression: str, texts: Sequence[str], *, ignore_case: bool) -> list[bool]:
    """RE2, so that a hostile expression or text costs linear time."""
    if not texts:
        return []
    try:
        found = pc.match_substring_regex(pa.array(texts, pa.large_string()), expression, ignore_case=ignore_case)
    except pa.ArrowInvalid:
        return [False] * len(texts)
    return found.to_pylist()
