"""Changes: what differs between the instructions and demos of two candidates, predictor by predictor."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from evals.report.text import cut, shown

_WORD = re.compile(r"\s+|[^\s]+")
_LONGEST = 4_000
"""Words up to which two texts are compared word by word; beyond it, one replaces the other."""
_DEMO = 6_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text: in both, only in the old one, or only in the new one."""

    kind: Literal["same", "gone", "new"]
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One predictor: how its instructions changed, and its demos as JSON, those of the old one in number alone."""

    predictor: str
    pieces: tuple[Piece, ...]
    rewritten: bool
    demos: tuple[str, ...]
    demos_before: int

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return self.rewritten or bool(self.demos) or self.demos_before > 0


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """What differs between two states of a program, by the names of its predictors."""
    return tuple(
        Change(
            predictor=shown(name),
            pieces=tuple(pieces(before[name]["instructions"], state["instructions"])),
            rewritten=before[name]["instructions"] != state["instructions"],
            demos=tuple(_demo(each) for each in state["demos"]),
            demos_before=len(before[name]["demos"]),
        )
        for name, state in after.items()
        if name in before and state != before[name]
    )


def pieces(old: str, new: str) -> Iterator[Piece]:
    """Two texts as one, word by word."""
    first, second = _WORD.findall(shown(old)), _WORD.findall(shown(new))
    if max(len(first), len(second)) > _LONGEST:
        yield from _replaced(first, second)
        return
    matcher = SequenceMatcher(a=first, b=second, autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            yield Piece("same", "".join(first[a:b]))
        else:
            yield from _replaced(first[a:b], second[c:d])


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    if old:
        yield Piece("gone", "".join(old))
    if new:
        yield Piece("new", "".join(new))


def _demo(demo: Mapping[str, Any]) -> str:
    return cut(json.dumps(demo, ensure_ascii=False, indent=2), _DEMO)
