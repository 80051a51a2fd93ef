"""State texts: every text of a program's state, as it may have stood in a document.

A demo holds text of a corpus with word joiners in what could pose as a part of a prompt (runtime/untrusted.py,
evals/harmless.py), and where a field is JSON in itself (what a tool returned) with escapes, maybe of escapes. Each text
is given in all the forms that it may come from.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evals.harmless import JOINER
from programs.program_state import State

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DEPTH = 3
"""How often escapes may have been escaped."""


@dataclass(frozen=True, slots=True)
class Place:
    """The instructions of a predictor, or one of its demos, which count from 1."""

    predictor: str
    demo: int | None = None

    def __str__(self) -> str:
        if self.demo is None:
            return f"the instructions of {self.predictor}"
        return f"demo {self.demo} of {self.predictor}"


@dataclass(frozen=True, slots=True)
class StateText:
    """One form of a text. `leaf` counts the texts of a place in their order; the forms of one share it."""

    place: Place
    leaf: int
    text: str


def state_texts(state: State) -> list[StateText]:
    """All texts of a state, in order, each in all its forms."""
    return [
        StateText(place, leaf, form)
        for place, value in _places(state)
        for leaf, text in enumerate(_leaves(value))
        for form in forms(text)
    ]


def bare(text: str) -> str:
    """A text without word joiners: in this form, texts and documents are compared."""
    return text.replace(JOINER, "")


def forms(text: str) -> list[str]:
    """The bare text as it stands, and with JSON escapes undone up to three times."""
    found = [text]
    while len(found) <= _DEPTH and (plain := _unescaped(found[-1])) != found[-1]:
        found.append(plain)
    return list(dict.fromkeys(map(bare, found)))


def _places(state: State) -> Iterator[tuple[Place, Any]]:
    for name, each in state.items():
        yield Place(name), each["instructions"]
        for number, demo in enumerate(each["demos"], 1):
            yield Place(name, number), demo


def _leaves(value: Any) -> Iterator[str]:
    """The texts in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _SHORT.get(m[2], m[2]), text)
    # Two escapes that make a pair are one character.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
