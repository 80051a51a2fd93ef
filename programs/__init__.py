"""The programs that answer. The names are imported when they are first used: see spantree/__init__.py."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs.answer import Answer, Conflict, Coverage, Outcome, Receipt, Search
    from programs.base import Program
    from programs.baselines import (
        ChainOfThought,
        Direct,
        MapReduce,
        PlanExecute,
        ReAct,
        Retrieve,
    )
    from programs.progress import Listener, Progress
    from programs.recursive import Recursive
    from programs.refinement import RefinePolicy

__all__ = [
    "Answer",
    "ChainOfThought",
    "Conflict",
    "Coverage",
    "Direct",
    "Listener",
    "MapReduce",
    "Outcome",
    "PlanExecute",
    "Program",
    "Progress",
    "ReAct",
    "Receipt",
    "Recursive",
    "RefinePolicy",
    "Retrieve",
    "Search",
]

_ROOMS = {
    "programs.answer": ("Answer", "Conflict", "Coverage", "Outcome", "Receipt", "Search"),
    "programs.base": ("Program",),
    "programs.baselines": (
        "ChainOfThought",
        "Direct",
        "MapReduce",
        "PlanExecute",
        "ReAct",
        "Retrieve",
    ),
    "programs.progress": ("Listener", "Progress"),
    "programs.recursive": ("Recursive",),
    "programs.refinement": ("RefinePolicy",),
}


def __getattr__(name: str) -> Any:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(room), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
