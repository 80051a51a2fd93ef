"""The words of a text: tokens, stems and stopwords, shared by ranking and by the extractive reader.

An identifier counts as a whole and by its parts: `order-service` is found by "service" as well. Chinese,
Japanese and Korean have no spaces, so that a run of their characters counts by its bigrams.
Sentences are in runtime/sentences.py.
"""

import re
import unicodedata
from functools import lru_cache

import Stemmer

from runtime.sentences import sentences

__all__ = [
    "STOPWORDS",
    "expand",
    "is_cjk",
    "raw_tokens",
    "sentences",
    "stem",
    "stems",
    "stems_of",
    "words",
]

_CJK = (
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_CJK_CHARACTER = re.compile(f"[{_CJK}]")


def _token_pattern(word: str, first: str = "") -> re.Pattern[str]:
    return re.compile(
        rf"{first}\d{{4}}-\d\d-\d\d(?=T\d\d:)T?|{word}(?:(?:[-.@$'’]|(?<=\d)[:,/](?=\d)){word})*"
    )


_TOKEN = _token_pattern(rf"[^\W{_CJK}]+", rf"[{_CJK}]+|")
_ASCII_TOKEN = _token_pattern("[A-Za-z0-9_]+")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL = re.compile(r"\d+\.\d+")
_CLOCK = re.compile(r"(\d{1,2}:\d\d)(?::\d\d)?")
_FRACTION = re.compile(r"(?<=\d:\d\d:\d\d)[.,]\d{1,9}(?!\d)")
_ISO_TAIL = re.compile(r"^(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)[TZ]$")
_WIDE_JOINERS = re.compile(r"[:,/@]")
_JOINERS = re.compile(r"[^\w]|_")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_POSSESSIVE = re.compile(r"'s?$")

_STOPWORDS = """
    a about above after again all also am an and any are aren't as at be because been before being between both but
    by can can't cannot could couldn't did didn't do does doesn't doing don't during each few for from further had
    hadn't has hasn't have haven't having he her here hers herself him himself his how i i'd i'll i'm i've if in
    into is isn't it it'll its itself just let me mightn't more most mustn't my myself no nor not now of on once
    only or other our ours ourselves out own same shan't she should shouldn't so some such than that that'll the
    their theirs them themselves then there these they they'd they'll they're they've this those through to too
    until very was wasn't we we'd we'll we're we've were weren't what when where which while who whom whose why will
    with won't would wouldn't you you'd you'll you're you've your yours yourself yourselves shall might must upon
    per via etc
    什么 怎么 怎样 如何 为何 哪些 哪个 哪里 哪一 多少 几个 是否 我们 你们 他们 她们 它们
    以及 这个 那个 这些 那些 一个 的 了 是 在 和 与 及 或 有 吗 呢 吧 啊 把 被 就
    也 都 而 其 之
"""
STOPWORDS: frozenset[str] = frozenset(_STOPWORDS.split())


def is_cjk(ch: str) -> bool:
    """Whether the character is a Han, kana or Hangul letter: one of a script written without spaces."""
    return _CJK_CHARACTER.match(ch) is not None


def words(text: str) -> list[str]:
    """The lower-cased words of the text in order; after an identifier come its parts.

    Compatibility forms are unified (NFKC), a possessive 's is dropped, "1,000" comes as "1000" as well,
    "06:55:46" as "06:55". CJK runs come as bigrams, a single CJK character as itself.
    """
    return [word for token in raw_tokens(text) for word in expand(token)]


def stems(text: str) -> list[str]:
    """The words without stopwords, plain English words reduced to their stem (Snowball); numbers stay."""
    return [stem for token in raw_tokens(text) for stem in stems_of(token)]


def raw_tokens(text: str) -> list[str]:
    """The tokens as they stand in the text: identifiers and CJK runs whole, case kept.

    Fractions of a second are left out: hardly two lines of a log share them, and nobody asks for them.
    """
    if text.isascii():
        return _ASCII_TOKEN.findall(_FRACTION.sub("", text))
    return _TOKEN.findall(_FRACTION.sub("", unicodedata.normalize("NFKC", text)))


def expand(token: str) -> tuple[str, ...]:
    """The words that one raw token stands for: itself, then its parts."""
    if token.isalpha():
        if _CJK_CHARACTER.match(token):
            return tuple(token[i : i + 2] for i in range(max(1, len(token) - 1)))
        if token.islower() or token.istitle():
            return (token.lower(),)
    elif token.isdigit():
        return (token,)
    token = _tidy(token)
    found = (token, *_parts(token))
    return tuple(dict.fromkeys(word.lower() for word in found if word))


def stems_of(token: str) -> tuple[str, ...]:
    """The stems that one raw token stands for; empty for a stopword."""
    return tuple(stem(word) for word in expand(token) if word not in STOPWORDS)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The Snowball stem of a lower-cased English word; anything with a digit or a joiner stays as it is."""
    return _stemmer().stemWord(word) if word.isalpha() and word.isascii() else word


def _tidy(token: str) -> str:
    """Without underscores around it, a possessive, or the T and Z of ISO 8601."""
    token = token.strip("_")
    if "'" in token or "’" in token:
        token = _POSSESSIVE.sub("", token.replace("’", "'"))
    return _ISO_TAIL.sub(r"\1", token) if token[-1:] in ("T", "Z") else token


def _parts(token: str) -> list[str]:
    if "'" in token:
        return []
    if token[:1].isdigit() and (number := _number_parts(token)) is not None:
        return number
    wide = _WIDE_JOINERS.split(token)
    parts = wide if len(wide) > 1 else []
    for part in wide:
        pieces = _JOINERS.split(part)
        parts += pieces if len(pieces) > 1 else []
        for piece in pieces:
            parts += _humps(piece)
    return parts


def _number_parts(token: str) -> list[str] | None:
    """The other ways to write a number or a time of day; None for anything else."""
    if _GROUPED_NUMBER.fullmatch(token):
        return [token.replace(",", "")]
    if clock := _CLOCK.fullmatch(token):
        return [clock[1]]
    return [] if _DECIMAL.fullmatch(token) else None


def _humps(piece: str) -> list[str]:
    """The parts of a camelCase name; none for a plain word."""
    if piece.islower() or piece.isupper() or not piece.isascii():
        return []
    humps = _HUMP.split(piece)
    return humps if len(humps) > 1 else []


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
