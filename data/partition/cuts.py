"""Cuts: where a stretch of text is divided into spans of limited length.

In order of preference: at a blank line, at the end of a line, at the end of a sentence, at white space, and when there
is none of them hard at the limit. A line end in the middle of a sentence (prose wrapped by hand) comes after the end
of a sentence. A cut never falls within CR LF, and within one visible character (an accent, an emoji sequence) only when
that character is longer than anything sensible.
"""

import re
import unicodedata
from collections.abc import Iterator

from runtime.lexicon import sentences

_BLANK_LINES = re.compile(r"(?:\r\n|\n|\r)(?:[ \t]*(?:\r\n|\n|\r))+")
_JOINERS = "\u200d\u200c"
_MAX_CLUSTER = 32


def span_ends(text: str, start: int, end: int, limit: int) -> Iterator[int]:
    """The ends of the spans of at most `limit` characters that tile text[start:end]."""
    while end - start > limit:
        start = _cut(text, start, end, limit)
        yield start
    if end > start:
        yield end


def _cut(text: str, start: int, end: int, limit: int) -> int:
    high = start + limit
    quarter, half = start + max(1, limit // 4), start + max(1, limit // 2)
    line = _line_end(text, start, high)
    fits = line > start and (line >= quarter or _line_stop(text, line, end, limit) - line <= limit)
    if (blank := _blank_line(text, half, high)) is not None:
        return blank
    if fits and not _mid_sentence(text, line, end):
        return line
    candidates = (
        _sentence_start(text, start, half, high, line),
        line if fits else start,
        _white_space(text, quarter, high),
    )
    chosen = next((at for at in candidates if at > start), high)
    return _between_characters(text, start, chosen)


def _line_end(text: str, start: int, high: int) -> int:
    """The last end of a line in text[start:high]; `start` if there is none."""
    end = max(text.rfind("\n", start, high), text.rfind("\r", start, high)) + 1
    if end and _within_crlf(text, end):
        end = max(text.rfind("\n", start, end - 1), text.rfind("\r", start, end - 1)) + 1
    return max(start, end)


def _line_stop(text: str, start: int, end: int, limit: int) -> int:
    """Where the line that begins at `start` ends, as far as that matters: beyond `limit` it is too long."""
    stop = min(end, start + limit + 1)
    found = [at for at in (text.find("\n", start, stop), text.find("\r", start, stop)) if at >= 0]
    return min(found) + 1 if found else stop


def _blank_line(text: str, low: int, high: int) -> int | None:
    """The end of the last blank lines in text[low:high]."""
    ends = [match.end() for match in _BLANK_LINES.finditer(text, low, high)]
    return next((end for end in reversed(ends) if not _within_crlf(text, end)), None)


def _mid_sentence(text: str, line: int, end: int) -> bool:
    """Whether the line end before `line` only wraps a sentence: a small letter goes on after a word or a comma."""
    before = text[max(0, line - 3) : line].rstrip()[-1:]
    after = text[line : min(end, line + 2)].strip()[:1]
    return after.islower() and (before.isalnum() or before in (",", "-", "’", '"'))


def _sentence_start(text: str, start: int, low: int, high: int, line: int) -> int:
    """Where to cut between sentences: at `line` if one begins there, else at the last begin from `low` to `high`.

    It is `start` if there is none.
    """
    begins = [start + first for first, _ in sentences(text[start : high + 2])]
    if line >= low and line in begins:
        return line
    return next((at for at in reversed(begins) if low <= at <= high), start)


def _white_space(text: str, low: int, high: int) -> int:
    """The last offset between `low` and `high` behind a space; 0 if there is none."""
    return max(text.rfind(space, low - 1, high) for space in " \t\u3000\n\r\f") + 1


def _between_characters(text: str, start: int, cut: int) -> int:
    """The cut moved back to where no visible character is divided, as far as that is near."""
    at = cut
    while at > start and cut - at <= _MAX_CLUSTER and _divides(text, at):
        at -= 1
    if at > start and not _divides(text, at):
        return at
    return cut - 1 if _within_crlf(text, cut) and cut - 1 > start else cut


def _within_crlf(text: str, at: int) -> bool:
    return text[at - 1 : at + 1] == "\r\n"


def _divides(text: str, at: int) -> bool:
    """Whether a cut before text[at] would divide CR LF, a base and its marks, an emoji sequence or a flag."""
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        after in _JOINERS
        or before == "\u200d"
        or unicodedata.category(after)[0] == "M"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\u1160" <= after <= "\u11ff"
        or "\udc00" <= after <= "\udfff"
        or ("\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff")
    )
