"""Ranking: whether a question asks which value occurs most often. A reader sees a part of the text and cannot tell."""

import re

_GRADED = (
    r"(?!of\b|(?:recent|likely|severe|relevant|urgent|critical|detailed|advanced|interesting"
    r"|\w+(?:ant|ive|ful|ous|able|ible))\b)"
)
_PLURAL = r"[a-z][a-z_-]*(?<![sui])s\b"
_RANKED = re.compile(
    r"\b(?:most|least) (?:common(?:ly)?|frequent(?:ly)?|often|active|repeated)\b"
    rf"|\b(?:which|what|who)\b.{{0,80}}\b(?:most|fewest)\s+{_GRADED}(?:…|(?:[a-z_-]+ ){{0,2}}?{_PLURAL})"
    r"|\b(?:which|what|who)\b.{0,80}\b(?:highest|largest|greatest) (?:number|count) of\b"
    r"|(?:哪|谁|什么).{0,40}最[多频](?!可|不|达|能)|最(?:为)?(?:常见|频繁)|(?:次数|频率)最[多高少低]",
    re.IGNORECASE,
)
# What code counts by: the source of a line, and its time.
_GROUPED = re.compile(
    r"\bwhen\b.{0,80}\bmost\b|\b(?:which|what) (?:file|source|service|host|document|log|minute|hour|day|time|date)\b",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\b(?:most|commonest|leading|highest|largest|fewest|least)\b|最", re.IGNORECASE
)


def ranks_values(frame: str) -> bool:
    """Whether a question, without what it quotes, ranks values by how often they occur: not sources, nor times."""
    return _RANKED.search(frame) is not None and _GROUPED.search(frame) is None


def states_rank(text: str) -> bool:
    """Whether a text itself says what is the most or the least, so that nothing needs to be counted."""
    return _STATED.search(text) is not None
