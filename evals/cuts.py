"""Cuts: JSON within bounds, with a mark of what was left out."""

from collections.abc import Mapping, Sequence
from typing import Any

ITEMS = 8
"""Items of a list that are kept."""
_NAMES = 24
_MARKED = ("margin_after", "output", "text", "value", "description")
_SHORTEST = 40


def cut(text: str, most: int) -> str:
    """A text of at most `most` characters beside the mark: its beginning and its end."""
    if len(text) <= most:
        return text
    tail = most // 3 if most >= 3 * _SHORTEST else 0
    head = most - tail
    mark = f"[{len(text) - most} characters left out]"
    if not tail:
        return f"{text[:head]} {mark}"
    return f"{text[:head]}\n{mark}\n{text[-tail:]}"


def bounded(value: Any, most: int) -> Any:
    """JSON with at most about `most` characters of text: a list and a dict share them among their items."""
    if isinstance(value, str):
        return cut(value, most)
    if isinstance(value, Mapping):
        return _mapping(value, most)
    if isinstance(value, list | tuple):
        kept = value[:ITEMS]
        made = [bounded(each, _share(most, len(kept))) for each in kept]
        left = len(value) - len(kept)
        return marked(made, f"{left} more left out") if left else made
    return value


def _mapping(value: Mapping[str, Any], most: int) -> dict[str, Any]:
    kept = list(value.items())[:_NAMES]
    heavy = [name for name, each in kept if _size(each) > _SHORTEST]
    share = _share(most, len(heavy))
    made = {name[:_SHORTEST]: bounded(each, share) for name, each in kept}
    left = len(value) - len(kept)
    return {**made, "…": f"[{left} more left out]"} if left else made


def _share(most: int, number: int) -> int:
    return max(_SHORTEST, most // max(1, number))


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def marked(items: Sequence[Any], mark: str, at: int = -1) -> list[Any]:
    """A list that says what was left out: as one more text, or in a field of its item `at`."""
    made = list(items)
    if not made or isinstance(made[at], str):
        return [*made, f"[{mark}]"] if at < 0 else [f"[{mark}]", *made]
    item = made[at]
    name = next((each for each in _MARKED if isinstance(item, dict) and each in item), None)
    if name is not None:
        made[at] = {**item, name: f"{item[name]} [{mark}]".strip()}
    return made
