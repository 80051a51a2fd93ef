"""The programs that answer."""

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
