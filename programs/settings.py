"""Settings that every program takes, as keyword arguments that are passed on."""

from pathlib import Path
from typing import TypedDict

import dspy

from programs.progress import Listener
from runtime.journal import Journal
from runtime.limits import Limits


class ProgramSettings(TypedDict, total=False):
    """The keyword arguments of `Program`."""

    limits: Limits | None
    partitioner: str
    leaf_characters: int
    lm: dspy.BaseLM | None
    leaf_lm: dspy.BaseLM | None
    journal: Journal | Path | None
    progress: Listener | None
