"""Progress: what a run tells a listener while it works."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """One moment of a run: the phase, how much of it is done, and what the run has used so far."""

    run_id: str
    phase: str
    done: int
    total: int
    calls: int
    tokens: int
    depth: int
    message: str


Listener = Callable[[Progress], None]
"""Receives progress; it cannot change the run."""
