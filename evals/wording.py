"""Wording: when a text states a value. Whole words, compared after a documented normalization.

Normalized are: compatibility forms (NFKC), case, white space (none between Chinese, Japanese or Korean characters and
their neighbours), quotation marks and dashes, digits in groups ("1,000" is "1000"), and punctuation around a value.
Nothing is stemmed, translated or rounded.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from runtime.lexicon import is_cjk

_MARKS = str.maketrans(dict.fromkeys('‘’‚“”„«»`"', "'") | dict.fromkeys("–—−‐‑", "-"))
_GROUPED = re.compile(r"(?<![\w.,:-])\d{1,3}(?:,\d{3})+(?![\w,])")
_DENIAL = re.compile(r"(?:\b(?:not|never|no|cannot|nor)|n't) (?:\w+ )?$|[不没未非无](?:有|被)?$")
_NOT_IT = re.compile(
    r"(?:(?:^|[,;:.!?(-] ?|(?:\b(?:is|are|was|were|be|been|and|but)|'s|'re) )not(?: be(?:en)?)?"
    r"|\b(?:is|are|was|were)n't|\b(?:has|have|had|could|would|can)n't be(?:en)?|\b(?:never|cannot) be(?:en)?"
    r"|\b(?:is|are|was|were) (?:never|no longer)|\bnor)"
    r" (?:(?:a|an|the|in|at|on|by|from|for|of|with|to|called|named|actually|really|yet) )*['(*_<\[]*$"
    r"|(?:不是|并非|绝非|而非)(?:在|由)?['(《「]*$"
)
_BEFORE = " '([{<*_|「《"
_BEHIND = " '.,;:!?)]}>*_|。、」》"
_JOINERS = ".,:-/_@'+\\"
"""Between two letters or digits, these make one word of them: a version, a time, a path, an address."""


@lru_cache(maxsize=1 << 16)
def normalized(text: str) -> str:
    """A value as it is compared."""
    return folded(text).lstrip(_BEFORE).rstrip(_BEHIND)


@lru_cache(maxsize=1 << 12)
def folded(text: str) -> str:
    """A text in which values are looked for: as a value, with the punctuation around it."""
    plain = unicodedata.normalize("NFKC", text).translate(_MARKS).casefold()
    plain = unicodedata.normalize("NFKC", plain)  # casefolding takes some letters apart
    plain = _GROUPED.sub(lambda match: match.group().replace(",", ""), plain)
    pieces = plain.split()
    return "".join(
        f"{' ' if at and _spaced(pieces[at - 1][-1], piece[0]) else ''}{piece}"
        for at, piece in enumerate(pieces)
    )


def _spaced(before: str, after: str) -> bool:
    """Whether a space between two characters means anything."""
    return not (is_cjk(before) or is_cjk(after))


def states(text: str, value: str) -> bool:
    """Whether a text holds a value as whole words: "INCORRECT" does not hold "CORRECT", nor "12:30" a 30.

    False for a value of which normalization leaves nothing.
    """
    return any(True for _ in _found(folded(text), normalized(value)))


def asserts(text: str, value: str) -> bool:
    """Whether a text holds a value somewhere where it is not said that it is not this one.

    Only what says so of the value itself counts ("is not Kafka", "Redis, not Kafka", "不是Kafka"): "could not reach
    Kafka", "do not restart Kafka" and "has no Kafka" may well be the answer.
    """
    within = folded(text)
    return any(not _NOT_IT.search(within[:at]) for at in _found(within, normalized(value)))


def denies(text: str, value: str) -> bool:
    """Whether a text holds a value behind a negation, with at most one word in between."""
    within = folded(text)
    return any(_DENIAL.search(within[:at]) for at in _found(within, normalized(value)))


def _found(within: str, wanted: str) -> Iterator[int]:
    """Where a value stands as whole words."""
    at = within.find(wanted) if wanted else -1
    while at >= 0:
        if _whole(within, at, at + len(wanted)):
            yield at
        at = within.find(wanted, at + 1)


def _whole(text: str, start: int, end: int) -> bool:
    """Whether neither side of a stretch goes on as the same word."""
    return not (
        _goes_on(text[start], text[max(0, start - 2) : start][::-1])
        or _goes_on(text[end - 1], text[end : end + 2])
    )


def _goes_on(edge: str, beyond: str) -> bool:
    """Whether a word that ends with `edge` goes on in the two characters beyond it, nearest first."""
    if not _lettered(edge) or not beyond:
        return False
    if _lettered(beyond[0]):
        return True
    if beyond[0] == "'" and beyond[1:] in ("s", ""):
        return False
    return beyond[0] in _JOINERS and len(beyond) > 1 and _lettered(beyond[1])


def _lettered(char: str) -> bool:
    """Whether a character is a part of words with spaces between them."""
    return char.isalnum() and not is_cjk(char)
