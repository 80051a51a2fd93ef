"""Finding: the result of one check of `spantree doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found. `failed` means that runs will not work; `warning` that something is worth knowing."""

    name: str
    status: Literal["ok", "warning", "failed"]
    detail: str
    hint: str = ""


def verdict(name: str, holds: bool, detail: str, hint: str = "") -> Finding:
    """A finding that is `ok` or `failed`."""
    return Finding(name, "ok" if holds else "failed", detail, "" if holds else hint)
