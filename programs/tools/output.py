"""Output: what a tool shows, as plain data of limited size whose field markers are harmless.

Sizes are characters of JSON. What does not fit is left for the next page, and said.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from data.stretches import Stretches
from programs.evidence import neutralize, neutralized
from runtime.events import Place
from runtime.observations import Observation

LEAST = 1_000
"""Characters that an output may have whatever the limit says: with less no tool can show anything."""
_WORDS = 400
"""Characters kept for the words about what was cut."""
_ERROR = 1_500


@dataclass(frozen=True, slots=True)
class View:
    """What a tool shows of its result. `read` counts characters that code went through, `shown` are stretches."""

    output: dict[str, Any]
    read: int = 0
    shown: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list. `text` names its field that may be shortened, of which `place` says where it stands, if it is
    text of the corpus; `others` are further places that are shown."""

    entry: dict[str, Any]
    text: str = ""
    place: Place | None = None
    others: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """The items that fit. `shortened` when the first one had to be cut."""

    items: tuple[Item, ...]
    shortened: bool = False

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The items as they are shown."""
        return [each.entry for each in self.items]

    @property
    def places(self) -> tuple[Place, ...]:
        """What they show of the corpus."""
        own = (each.place for each in self.items if each.place is not None)
        return (*own, *(place for each in self.items for place in each.others))


@dataclass(frozen=True, slots=True)
class Room:
    """The size of one output: `limit` in all, of which `taken` is used up by what is not a list."""

    limit: int
    taken: int = field(default=_WORDS)

    @classmethod
    def of(cls, limit: int, head: dict[str, Any]) -> "Room":
        """The room that a limit leaves beside what every page shows."""
        return cls(max(limit, LEAST), _WORDS + size(neutralized(head)))

    @property
    def left(self) -> int:
        """What a list may take."""
        return max(1, self.limit - self.taken)

    def page(self, items: Iterable[Item]) -> Page:
        """The first of the items, as many as fit and at least one: a single one that does not fit is shortened."""
        kept: list[Item] = []
        left = self.left
        for item in items:
            length = size(neutralized(item.entry)) + 2
            if length > left:
                if not kept:
                    return Page((_shortened(item, left),), shortened=True)
                break
            kept.append(item)
            left -= length
        return Page(tuple(kept))


def size(value: Any) -> int:
    """Characters of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False))


def _shortened(item: Item, room: int) -> Item:
    """An item with its text cut so that it fits."""
    if not item.text:
        return item
    text: str = item.entry[item.text]
    low, high = min(1, len(text)), len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if size(neutralized({**item.entry, item.text: text[:middle]})) + 2 <= room:
            low = middle
        else:
            high = middle - 1
    place = item.place and item.place.model_copy(update={"end": item.place.start + low})
    return replace(item, entry={**item.entry, item.text: text[:low]}, place=place)


def joined(places: Iterable[Place]) -> tuple[Place, ...]:
    """Stretches in order, each character once."""
    ordered = sorted(Stretches.of((each.source, each.start, each.end) for each in places))
    return tuple(Place(source=source, start=start, end=end) for source, start, end in ordered)


def words(*parts: str) -> str:
    """What was cut, in words; empty parts do not count."""
    return "; ".join(part for part in parts if part)


def clipped(text: str, most: int) -> str:
    """A text of our own for an output, cut to `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def error_output(seen: Observation, limit: int) -> dict[str, Any]:
    """The output of a call that failed."""
    text = f"{seen.error_class}: {seen.error or seen.summary}"
    return {"error": clipped(neutralize(text), min(_ERROR, max(limit, LEAST) - _WORDS))}


def fitting(texts: Iterable[str], most: int) -> tuple[list[str], int]:
    """The first of some texts, as many as `most` characters hold, and how many are left out."""
    given = list(texts)
    kept: list[str] = []
    for text in given:
        most -= size(neutralized(text)) + 2
        if most < 0:
            break
        kept.append(text)
    return kept, len(given) - len(kept)
