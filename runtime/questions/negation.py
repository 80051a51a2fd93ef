"""Negation: whether the words before a string in a question ask for what does not contain it."""

import re

_HOLDS = r"(?:mention|contain|include|match|show|have|has|hold|carr(?:y|ies)|report|say|with)(?:s|es|ed|ing)?"
_LEADS = r"(?:\s+(?:the|an?|any|either|exact|words?|phrase|string|text|term))*\s*"
_NEGATED = re.compile(
    rf"(?:\b(?:not|never)|n['’]t)(?:\s+\w+)?\s+{_HOLDS}{_LEADS}$"
    rf"|\b(?:but|and|is|are|,)\s+not{_LEADS}$"
    rf"|\b(?:without|excluding|lack(?:s|ing)?|except(?:\s+for)?|other than|neither)"
    rf"(?:\s+(?:those|the|lines|that|which|{_HOLDS}|an?|any|words?|phrase|string|text|term))*\s*$"
    r"|(?:(?<!有)没有?|不|未|无|除了?|排除)(?:提到|提及|包含|包括|含有?|出现|匹配)?(?:过|字样)?$",
    re.IGNORECASE,
)
_CONTINUES = re.compile(r"\s*(?:,|、|,?\s*(?:or|nor|and|或者?|和|及|以及))\s*", re.IGNORECASE)


def negates(before: str) -> bool:
    """Whether the text before a string says that the string must be absent."""
    return _NEGATED.search(before[-160:]) is not None


def continues(between: str) -> bool:
    """Whether the text between two strings only joins them, so that what holds for the first holds for both."""
    return _CONTINUES.fullmatch(between) is not None
