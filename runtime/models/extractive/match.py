"""Matching: which units contain the strings that a question asks for, in the suite's small notation.

`"..."` is a literal, case-sensitive text; `/.../` an RE2 regular expression, `/.../i` one that ignores case; anything
else a literal text that ignores case and, where it begins or ends with a digit, is no part of a longer number.
`not` before one of the first two asks for texts without it.
"""

import re
from collections.abc import Sequence

import pyarrow as pa
from pyarrow.compute import MatchSubstringOptions, call_function

_QUOTES = {'"': '"', "“": "”", "„": "“", "「": "」", "『": "』"}
_DIGITS = frozenset("0123456789")
_EXPRESSION = re.compile(r"/(.*)/(i?)", re.DOTALL)
_NOT = re.compile(r"""not\s+(?=["“„「『].*["”“」』]$|/.*/i?$)""", re.DOTALL)


def matches(pattern: str, texts: Sequence[str]) -> list[bool]:
    """For each text whether it contains the pattern. A pattern that is not valid is contained nowhere."""
    pattern = pattern.strip()
    if denied := _NOT.match(pattern):
        return [not found for found in matches(pattern[denied.end() :], texts)]
    if len(pattern) > 2 and _QUOTES.get(pattern[0]) == pattern[-1]:
        return [pattern[1:-1] in text for text in texts]
    if expression := _EXPRESSION.fullmatch(pattern):
        return _regular(expression[1], texts, ignore_case=bool(expression[2]))
    before = "(?<![0-9])" if pattern[:1] in _DIGITS else ""
    after = "(?![0-9])" if pattern[-1:] in _DIGITS else ""
    bare = re.compile(before + re.escape(pattern) + after, re.IGNORECASE)
    return [bare.search(text) is not None for text in texts]


def all_match(patterns: Sequence[str], texts: Sequence[str]) -> list[bool]:
    """For each text whether it contains every pattern; no text does if there are none."""
    rows = [matches(pattern, texts) for pattern in patterns if pattern.strip()]
    return [all(column) for column in zip(*rows, strict=True)] if rows else [False] * len(texts)


def _regular(expression: str, texts: Sequence[str], *, ignore_case: bool) -> list[bool]:
    """RE2, so that a hostile expression or text costs linear time."""
    options = MatchSubstringOptions(expression, ignore_case=ignore_case)
    try:
        found = call_function(
            "match_substring_regex", [pa.array(texts, pa.large_string())], options
        )
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return [False] * len(texts)
    return found.to_pylist()
