"""Plain values: the only ones that cross the wall of the sandbox, and within bounds.

A value from the sandbox may be small there and without end here: a list that holds another twice, forty deep, has a
trillion leaves. So a value is walked with a budget before anything on the host prints, logs or sends it. A lone
surrogate, which no UTF-8 file and no database takes, becomes U+FFFD: one character for one, so offsets stay right.
"""

import datetime
import decimal
import re
from dataclasses import dataclass, field
from typing import Any

ITEMS = 100_000
CHARACTERS = 50_000_000
_DEPTH = 100
_DIGITS = 4_000  # of an integer; Python itself refuses to print more than 4,300
_BITS = 13_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SCALARS = (
    *(bool, int, float, complex, bytes, decimal.Decimal),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.timezone),
)


def clean(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text


def cleaned(value: Any) -> Any:
    """`value` with its strings clean, down through lists, tuples and dicts; anything else as it is."""
    if isinstance(value, str):
        return clean(value)
    if type(value) is dict:
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(cleaned(item) for item in value)
    return value


def plain(value: Any) -> Any:
    """A clean copy of `value`. Raises TypeError if it is not plain data, ValueError if it is too large."""
    return _Walk().copy(value, _DEPTH)


@dataclass
class _Walk:
    items: int = ITEMS
    characters: int = CHARACTERS

    def copy(self, value: Any, depth: int) -> Any:
        self.items -= 1
        if self.items < 0 or depth < 0:
            raise ValueError(f"more than {ITEMS:,} items, or nested more than {_DEPTH} deep")
        if isinstance(value, str | bytes):
            self.characters -= len(value)
            if self.characters < 0:
                raise ValueError(f"more than {CHARACTERS:,} characters")
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, int) and value.bit_length() > _BITS:
            raise ValueError(f"an integer of more than {_DIGITS:,} digits")
        if value is None or isinstance(value, _SCALARS):
            return value
        return self._container(value, depth - 1)

    def _container(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict):
            return {self.copy(key, depth): self.copy(item, depth) for key, item in value.items()}
        for kind in (list, tuple, set, frozenset):
            if isinstance(value, kind):
                return kind(self.copy(item, depth) for item in value)
        raise TypeError(f"{type(value).__name__} is not plain data")


def shown(value: Any, cap: int) -> str:
    """What `print(value)` would show, up to about `cap` characters: the walk ends where the room ends."""
    if isinstance(value, (str, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal)):
        return str(value)
    listing = _Listing(cap)
    listing.write(value, _DEPTH)
    return "".join(listing.pieces) + (" [... the rest is left out]" if listing.room <= 0 else "")


_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}"}


@dataclass
class _Listing:
    room: int
    pieces: list[str] = field(default_factory=list)

    def write(self, value: Any, depth: int) -> None:
        if self.room <= 0:
            return
        brackets = _BRACKETS.get(type(value))
        if brackets is None or not (value or brackets != "{}"):
            self._put(self._leaf(value))
        elif depth < 0:
            self._put("...")
        else:
            self._container(value, brackets, depth - 1)

    def _container(self, value: Any, brackets: str, depth: int) -> None:
        self._put(brackets[0])
        for number, item in enumerate(value):
            if self.room <= 0:
                return
            self._put(", " if number else "")
            self.write(item, depth)
            if type(value) is dict:
                self._put(": ")
                self.write(value[item], depth)
        self._put(",)" if type(value) is tuple and len(value) == 1 else brackets[1])

    def _leaf(self, value: Any) -> str:
        if isinstance(value, str | bytes):
            return repr(value[: self.room])
        if isinstance(value, int) and value.bit_length() > _BITS:
            return f"<an integer of more than {_DIGITS:,} digits>"
        if value is None or isinstance(value, (*_SCALARS, dict, set, frozenset)):
            return repr(value)
        return f"<{type(value).__name__}>"

    def _put(self, text: str) -> None:
        self.pieces.append(text)
        self.room -= len(text)
