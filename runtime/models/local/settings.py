"""The settings of a local model: how much it is shown at once, and on how many threads it runs."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from runtime.errors import ModelError

CONTEXT = "SPANTREE_LOCAL_CONTEXT"
THREADS = "SPANTREE_LOCAL_THREADS"
SMALLEST_CONTEXT = 2_048
"""Tokens. The instructions of a reader alone take more than a thousand."""


@dataclass(frozen=True)
class Settings:
    """`context`: tokens of a prompt and its reply together. `threads`: 0 is one for each core that we may use."""

    context: int = 8_192
    threads: int = 0

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Settings":
        """What the environment says. Raises ModelError for values that make no sense."""
        chosen = cls()
        context = _number(environment, CONTEXT, chosen.context, SMALLEST_CONTEXT)
        threads = _number(environment, THREADS, chosen.threads, 1)
        return cls(context=context, threads=threads)

    @property
    def cores(self) -> int:
        return self.threads or usable_cores()


def usable_cores() -> int:
    """Cores that this process may run on; a container may have fewer than the machine."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _number(environment: Mapping[str, str], name: str, default: int, least: int) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or int(text) < least:
        raise ModelError(f"{name} is {text!r}", hint=f"a whole number, {least} or more")
    return int(text)
