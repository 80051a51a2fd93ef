"""Wording: whether a text says nothing that verified claims do not say, by its numbers, its words and its negations.

This is a comparison of words, not of meaning: it lets no new fact, name or number through, and refuses many a
harmless paraphrase.
"""

import re
from collections.abc import Iterable, Sequence

from runtime.claims import Claim, Computed
from runtime.lexicon import STOPWORDS, expand, raw_tokens, stem

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|nothing|nobody)\b|n['’]t\b|[不没無无未非]",
    re.IGNORECASE,
)


def is_said(text: str, claims: Sequence[Claim]) -> bool:
    """Whether the claims say a text word for word."""
    wanted = _flat(text)
    before = r"(?<![a-z0-9])" if wanted[:1].isascii() else ""
    after = r"(?![a-z0-9])" if wanted[-1:].isascii() else ""
    said = [*(_flat(each.text) for each in claims), _flat(" ".join(each.text for each in claims))]
    return any(re.search(f"{before}{re.escape(wanted)}{after}", each) for each in said)


def adds_nothing(
    text: str, claims: Sequence[Claim], computed: Iterable[Computed], asked: Iterable[str]
) -> bool:
    """Whether all that a text says stands in the claims, their quotes, the computed lines or the question."""
    stated = list(_stated(claims)) + [line for each in computed for line in each.lines]
    known = "\n".join([*stated, *asked])
    if _NEGATION.search(text) and not _NEGATION.search("\n".join(stated)):
        return False
    return _numbers(text) <= _numbers(known) and _words_known(text, known)


def _stated(claims: Iterable[Claim]) -> Iterable[str]:
    for claim in claims:
        yield from (claim.text, claim.time, *(field.value for field in claim.fields))
        for each in claim.citations:
            yield from (each.quote, each.source)


def _numbers(text: str) -> set[str]:
    """The numbers of a text, without the commas that group their digits."""
    return {re.sub(r",(?=\d{3}(?!\d))", "", each) for each in _NUMBER.findall(text)}


def _words_known(text: str, known: str) -> bool:
    """Whether each content word is there: as it is, or by all the parts of a compound one."""
    pool = {stem(word) for token in raw_tokens(known) for word in expand(token)}
    for token in raw_tokens(text):
        whole, *parts = [stem(word) for word in expand(token)] or [""]
        content = [each for each in (whole, *parts) if each and each not in STOPWORDS]
        if not content or whole in pool or whole in STOPWORDS:
            continue
        if not parts or any(each not in pool and each not in STOPWORDS for each in parts):
            return False
    return True


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".。!")
