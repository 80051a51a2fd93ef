"""TurnPartitioner: the turns of speakers in a transcript (`Name: ...`, `[00:01:02] Name: ...`, `张三：...`)."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from data.partition.lines import line_starts
from data.partition.partitioner import Segment, segments_from
from data.source import Source

OPENING = "(opening)"
MIN_TURNS = 2

_STAMP = r"(?:[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?[\])]?[ \t]*(?:[-–—][ \t]*)?)?"
_WESTERN = r"[^\W\d_][\w.'’-]*(?:[ \t][(\w][\w.'’()-]*){0,4}"
_CHINESE = r"[\u4e00-\u9fff·]{1,8}(?:[（(][^（()）]{1,12}[)）])?"
_TURN = re.compile(
    rf"[ \t]*{_STAMP}(?:\*\*)?(?P<name>{_CHINESE}|{_WESTERN})(?:\*\*)?[ \t]?(?P<colon>[:：])(?:\*\*)?(?!//|:)"
)
_ROLES = ("user", "assistant", "system", "human", "ai", "bot", "agent", "customer", "q", "a")


@dataclass(frozen=True, slots=True)
class TurnPartitioner:
    """Applies to a text in which at least one speaker speaks twice. A label is the name of the speaker."""

    name: ClassVar[str] = "turn"

    max_chars: int

    def cut(self, text: str, source: Source) -> list[Segment]:
        """One segment a turn, from the line with the name to the next such line."""
        return segments_from(turns(text), len(text), OPENING)


def turns(text: str) -> list[tuple[int, str]]:
    """Offset and speaker of each turn. A name that opens only one line is no speaker, but a word and a colon."""
    edges = [*line_starts(text).tolist(), len(text)]
    found: list[tuple[int, str]] = []
    for start, stop in pairwise(edges):
        match = _TURN.match(text, start, min(stop, start + 120))
        if match and _is_name(match["name"]):
            found.append((start, match["name"]))
    counts = Counter(name for _, name in found)
    if len(found) < MIN_TURNS or max(counts.values()) < 2:
        return []
    return [(start, name) for start, name in found if counts[name] > 1 or name.istitle()]


def looks_like_transcript(text: str) -> bool:
    """Whether turns make up the text: a quarter of its lines, by several speakers who speak again and again."""
    found = turns(text)
    speakers = len({name for _, name in found})
    if len(found) < 4 or not 2 <= speakers <= len(found) / 2:
        return False
    lines = sum(1 for line in text.splitlines() if line.strip())
    return found[0][0] <= len(text) / 5 and len(found) >= lines / 4


def _is_name(name: str) -> bool:
    first = name[0]
    return first.isupper() or not first.isascii() or name.lower() in _ROLES
