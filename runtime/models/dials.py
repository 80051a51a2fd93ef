"""The dials of stand-ins: settings in a model name (`recall=0.8,seed=3`), and dice that always fall the same way."""

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from runtime.errors import ModelError

_D = TypeVar("_D")
_SECONDS = "latency"


def dialled(dials: type[_D], text: str, model: str) -> _D:
    """The dials (a dataclass of numbers with defaults) as `name=value,...` sets them.

    A whole number by default stays one, `latency` is in seconds, all others are probabilities. Raises ModelError for an
    unknown name or a value out of range.
    """
    known: Mapping[str, Any] = {each.name: each.default for each in fields(dials)}  # pyright: ignore[reportArgumentType]
    values: dict[str, Any] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = entry.partition("=")
        if name not in known:
            raise ModelError(
                f"the {model} model has no weakness {name!r}", hint=f"known: {', '.join(known)}"
            )
        values[name] = _number(name, value, model, whole=isinstance(known[name], int))
    return dials(**values)


def _number(name: str, text: str, model: str, *, whole: bool) -> float:
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf") or (not whole and name != _SECONDS and value > 1):
        wanted = (
            "a whole number" if whole else "seconds" if name == _SECONDS else "a number from 0 to 1"
        )
        raise ModelError(
            f"the weakness {name} of the {model} model is {text!r}", hint=f"{name}: {wanted}"
        )
    return value


def digest(*parts: Any) -> str:
    """Hexadecimal digits that depend on the parts alone."""
    joined = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


def chance(*parts: Any) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return int(digest(*parts)[:13], 16) / 16**13
