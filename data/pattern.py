"""Pattern: what a line must contain, in the small notation that questions, plans and users share.

"..."    the text between the quotes, exactly and case-sensitively (“...”, „...“, 「...」 and 『...』 are quotes too)
/.../    a regular expression, /.../i ignoring case
other    the text itself, ignoring case; where it starts (ends) with a digit, no other digit may precede (follow)
         it, so that 10.0.0.1 is not found in 10.0.0.12
not ...  a line that does not contain what one of the first two says: not "root", not /fail|error/i

Regular expressions are RE2: linear time whatever the pattern, hence no backreferences and no lookaround.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
from pyarrow.compute import MatchSubstringOptions, call_function

from runtime.errors import PatternError

PatternKind = Literal["literal", "regex", "bare"]

_QUOTES = {'"': '"', "“": "”", "„": "“", "「": "」", "『": "』"}
_REGEX = re.compile(r"/(.*)/(i?)", re.DOTALL)
_NOT = re.compile(r"not\s+(?=\S)")
_RE2_HINT = (
    "Regular expressions are RE2: no backreferences (\\1), no lookahead or lookbehind ((?=...), (?<=...)), no "
    'possessive or atomic groups, no repetition above 1000. Put literal text in double quotes: "..."'
)
_UNSUPPORTED = (
    (re.compile(r"\(\?<?[=!]"), "lookahead and lookbehind are not supported"),
    (re.compile(r"\\[1-9]|\\k<|\(\?P="), "backreferences are not supported"),
    (re.compile(r"\(\?>|[*+?}]\+"), "atomic groups and possessive quantifiers are not supported"),
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A checked pattern. Raises PatternError when it is empty, not valid or cannot match within a line."""

    text: str
    kind: PatternKind = "bare"
    ignore_case: bool = True
    negated: bool = False

    def __post_init__(self) -> None:
        if not self.text:
            raise PatternError("the pattern is empty", "Give a text or a regular expression.")
        if "\n" in self.text or "\r" in self.text:
            raise PatternError(
                f"the pattern {_short(self.text)} contains a line end; patterns match within one line",
                "Give the parts as separate patterns.",
            )
        _check(self)

    @classmethod
    def parse(cls, notation: str) -> "Pattern":
        """Read the notation; white space around it does not count."""
        notation = notation.strip()
        denied = _denied(notation)
        if denied:
            return replace(cls.parse(denied), negated=True)
        if _is_quoted(notation):
            return cls(notation[1:-1], "literal", False)
        expression = _REGEX.fullmatch(notation)
        if expression:
            return cls(expression[1], "regex", bool(expression[2]))
        return cls(notation, "bare", True)

    def render(self) -> str:
        """The notation of this pattern; what has none of its own is given as a regular expression."""
        if self.negated:
            return f"not {replace(self, negated=False).render()}"
        if self.kind == "regex":
            return f"/{self.text}/{'i' if self.ignore_case else ''}"
        if self.kind == "literal" and not self.ignore_case:
            return f'"{self.text}"'
        if self.kind == "bare" and self.ignore_case and self._is_plain():
            return self.text
        return f"/{self.expression}/{'i' if self.ignore_case else ''}"

    @property
    def expression(self) -> str:
        """The pattern as an RE2 expression; case is a matter of `ignore_case`."""
        if self.kind == "regex":
            return self.text
        expression = _escaped(self.text)
        if self.kind == "bare" and _is_digit(self.text[0]):
            expression = f"(?:^|[^0-9]){expression}"
        if self.kind == "bare" and _is_digit(self.text[-1]):
            expression = f"{expression}(?:[^0-9]|$)"
        return expression

    @property
    def stages(self) -> tuple[str, ...]:
        """RE2 expressions that match together where the pattern does; a cheap one that excludes most comes first.

        RE2 searches a plain text several times faster than one with a context, and faster than Arrow's own
        `match_substring`, so that every pattern goes through it.
        """
        plain = _escaped(self.text)
        if self.kind == "regex" or self.negated or plain == self.expression:
            return (self.expression,)
        return plain, self.expression

    def matches(self, lines: Sequence[str]) -> list[bool]:
        """Which of the lines the pattern is true of."""
        found = mask(pa.array(lines, pa.large_string()), self.expression, self.ignore_case)
        return [each != self.negated for each in found.to_pylist()]

    def first_in(self, line: str) -> int:
        """Where the pattern first matches in a line, in code points; 0 where it does not, or is a negated one."""
        options = MatchSubstringOptions(self.expression, ignore_case=self.ignore_case)
        found = call_function(
            "find_substring_regex", [pa.array([line], pa.large_string())], options
        )
        at = found[0].as_py()
        return 0 if self.negated or at < 1 else len(line.encode()[:at].decode())

    def _is_plain(self) -> bool:
        text = self.text
        return text == text.strip() and not (_is_marked(text) or _denied(text))


def as_patterns(patterns: Sequence[str | Pattern]) -> tuple[Pattern, ...]:
    """Parse what is not parsed yet. Raises PatternError when there is none."""
    if isinstance(patterns, str):
        patterns = [patterns]
    if not patterns:
        raise PatternError("there is no pattern to search for", "Give at least one.")
    return tuple(p if isinstance(p, Pattern) else Pattern.parse(p) for p in patterns)


def mask(
    lines: pa.Array | pa.ChunkedArray, expression: str, ignore_case: bool
) -> pa.Array | pa.ChunkedArray:
    """Boolean column: in which of the lines an RE2 expression matches."""
    options = MatchSubstringOptions(expression, ignore_case=ignore_case)
    return call_function("match_substring_regex", [lines], options)


def _check(pattern: Pattern) -> None:
    try:
        pattern.matches([""])
    except UnicodeEncodeError as error:
        raise PatternError(
            f"the pattern {pattern.text!a} contains half a character (a lone surrogate)",
            "Remove it: no text contains one.",
        ) from error
    except pa.ArrowInvalid as error:
        raise PatternError(
            f"the pattern {_short(pattern.render())} is not valid: {_cause(pattern.text, error)}",
            _RE2_HINT,
        ) from error


def _cause(expression: str, error: pa.ArrowInvalid) -> str:
    for form, cause in _UNSUPPORTED:
        if form.search(expression):
            return cause
    return str(error).removeprefix("Invalid regular expression: ")


def _escaped(text: str) -> str:
    return "".join(
        f"\\x{{{ord(c):x}}}" if ord(c) < 32 else f"\\{c}" if c.isascii() and not c.isalnum() else c
        for c in text
    )


def _is_quoted(notation: str) -> bool:
    return len(notation) >= 2 and _QUOTES.get(notation[0]) == notation[-1]


def _is_marked(notation: str) -> bool:
    """Whether it is a literal text in quotes or a regular expression between slashes."""
    return _is_quoted(notation) or _REGEX.fullmatch(notation) is not None


def _denied(notation: str) -> str:
    """What a notation with `not` in front says that a line must not contain; empty for any other."""
    negation = _NOT.match(notation)
    denied = notation[negation.end() :] if negation else ""
    return denied if _is_marked(denied) else ""


def _is_digit(character: str) -> bool:
    return character.isascii() and character.isdigit()


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
