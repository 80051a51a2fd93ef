"""Breadth: words of a question that ask for more than one place of the text, whatever its kind is.

A lookup that says "any", compares sources or asks for the latest of something is not answered by the first passage that
fits. These words are hints, weaker than the signals of the classifier: "both" and "the last" stand in any prose.
"""

import re

_UNIVERSAL = re.compile(
    r"\b(?:each|every|everyone|everybody|everything|everywhere|anyone|anybody|entire|entirely|whole|both"
    r"|never|always|none|nobody|no one|throughout|complete|completely|exhaustive(?:ly)?|altogether)\b"
    r"|(?<!\bat )(?<!\bin )\bany\b(?! (?:more|longer|case))"
    r"|(?<!\bat )(?<!\bafter )(?<!\babove )\ball\b(?! (?:right|over))"
    r"|所有|全部|每|都(?!市|城|会)|任何|任意|一切|整个|整篇|全体|全程|始终|从未|从来|从不|无一|各",
    re.IGNORECASE,
)
_COMPARING = re.compile(
    r"\bcompar(?:e|es|ed|ing|ison)\b|\bversus\b|\bvs\b|\bdifferences? (?:between|among|in|of)\b|\bin common\b"
    r"|\b(?:how|where|what) (?:do|does|did)\b.{0,120}\bdiffer\b|\bdiffer(?:s|ed|ent|ently)? from\b"
    r"|\b(?:changed?|change) (?:from|between|since)\b|\bmore\b.{0,60}\bthan\b"
    r"|比较|对比|相比|相较|区别|差异|差别|异同|不同(?:点|之处|于)|有何不同|共同点",
    re.IGNORECASE,
)
_EXTREME = re.compile(
    r"\bwhen\b.{0,80}\b(?:first|last)\b|\bdid\b.{0,80}\bfirst [a-z]+\s*[?.]?$"
    r"|\b(?:earliest|latest|newest|oldest|most recent|for the (?:first|last) time"
    r"|(?:first|last) (?:seen|time|appears?|appeared|occur(?:s|red)?|mention(?:s|ed)?|fail(?:s|ed)?|errors?|warnings?"
    r"|failures?|alerts?|lines?|entr(?:y|ies)|events?|messages?|logins?|decisions?))\b"
    r"|最早|最晚|最先|最后一|最近一|最新|首次|第一次|头一次|末次",
    re.IGNORECASE,
)


def universal(frame: str) -> str:
    """The first word that speaks of all, any or none of something; empty without one.

    `frame` is the question without what it quotes, here and below.
    """
    return _first(_UNIVERSAL, frame)


def comparing(frame: str) -> str:
    """The words that set things side by side; empty without any."""
    return _first(_COMPARING, frame)


def extreme(frame: str) -> str:
    """The words that ask for the first or the last of something in time; empty without any."""
    return _first(_EXTREME, frame)


def _first(words: re.Pattern[str], frame: str) -> str:
    found = words.search(frame)
    return " ".join(found.group().split()) if found else ""
