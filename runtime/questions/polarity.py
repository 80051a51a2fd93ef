"""Polarity: whether a question asks for a yes or a no, and whether a statement says no.

One place is enough for a yes. A no speaks of all of the text, unless a place says it in so many words.
"""

import re

_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)(?:n['’]t)?"
_ASKING = (
    r"you (?:please |kindly )?"
    r"(?:tell|show|give|list|find|get|explain|say|summari[sz]e|name|describe|count|compare)"
)
_POLAR = re.compile(
    rf"(?:^|[.?!;:,，。？！；：])\s*(?:(?:and|or|but|so|then) )?(?P<aux>{_AUXILIARY})\b(?! {_ASKING}\b)(?=\s+\S)"
    r"|^\s*(?:any(?:thing|one|body)?|some(?:thing|one|body))\b|没有?\s*[？?]\s*$"
    r"|\bwhether\b|吗\s*[？?]?\s*$|吗(?=[？?，,。])|是否|是不是|有没有|有无|能否|会不会|能不能|对不对|可否|与否",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\W*(?:no|not|never|none|nobody|nothing|neither)\b(?![. ]*\d)|\W*(?:没有?|否|不|无|未|从未)",
    re.IGNORECASE,
)


def polar(frame: str) -> str:
    """The word with which a question asks for a yes or a no; empty without one.

    `frame` is the question without what it quotes.
    """
    found = _POLAR.search(frame)
    return (found["aux"] or found.group()).strip(" ？?") if found else ""


def denies(text: str) -> bool:
    """Whether a statement begins as a no does."""
    return _DENIES.match(text) is not None
