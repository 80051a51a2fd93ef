"""Log entries that know their place: rendering gives the text and where marked lines stand."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

DAY = "2026-03-10"

ORDER = "order-service.log"
INVENTORY = "inventory-service.log"
PAYMENT = "payment-gateway.log"
AFTERSALES = "aftersales-worker.log"

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Style:
    """How a service writes: what stands after the date, before milliseconds, at line ends."""

    date_time: str
    fraction: str
    newline: str


STYLES = {
    ORDER: Style(" ", ",", "\n"),
    INVENTORY: Style(" ", ",", "\n"),
    PAYMENT: Style("T", ".", "\r\n"),
    AFTERSALES: Style("T", ".", "\n"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One event: `at` in milliseconds since midnight; only the first line of `text` gets a time."""

    log: str
    at: int
    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """The first line of a marked entry in the rendered log. Half-open code point offsets."""

    mark: str
    at: int
    source: str
    start: int
    end: int
    quote: str


class Dice:
    """A seeded source of choices that only uses `random()`, the one stream Python keeps stable."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        return int(self._random.random() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def percent(self, chance: int) -> bool:
        """True in `chance` of 100 cases."""
        return self.below(100) < chance

    def digits16(self, length: int) -> str:
        """Hexadecimal digits, as identifiers have them."""
        return "".join("0123456789abcdef"[self.below(16)] for _ in range(length))


def clock(text: str) -> int:
    """Milliseconds since midnight of `HH:MM`, `HH:MM:SS` or `HH:MM:SS.mmm`."""
    whole, _, fraction = text.partition(".")
    parts = [int(part) for part in whole.split(":")] + [0]
    return parts[0] * HOUR + parts[1] * MINUTE + parts[2] * SECOND + int(fraction or 0)


def stamp(at: int, style: Style) -> str:
    """The timestamp of a line."""
    seconds, millis = divmod(at, SECOND)
    hour, minute, second = seconds // 3600, seconds // 60 % 60, seconds % 60
    time = f"{hour:02}:{minute:02}:{second:02}"
    return f"{DAY}{style.date_time}{time}{style.fraction}{millis:03}"


def render(log: str, entries: Iterable[Entry]) -> tuple[str, list[Placed]]:
    """The text of one log, and where its marked lines stand in it, in time order."""
    style = STYLES[log]
    pieces: list[str] = []
    placed: list[Placed] = []
    offset = 0
    own = (entry for entry in entries if entry.log == log)
    for entry in sorted(own, key=lambda entry: entry.at):
        first, *rest = f"{stamp(entry.at, style)} {entry.text}".split("\n")
        if entry.mark:
            end = offset + len(first)
            placed.append(Placed(entry.mark, entry.at, log, offset, end, first))
        piece = "".join(line + style.newline for line in (first, *rest))
        pieces.append(piece)
        offset += len(piece)
    return "".join(pieces), placed
