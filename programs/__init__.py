"""The programs that answer."""

from programs.answer import Answer, Conflict, Coverage, Outcome, Receipt, Search
from programs.base import Program
from programs.progress import Listener, Progress
from programs.recursive import Recursive
from programs.refinement import RefinePolicy

__all__ = [
    "Answer",
    "Conflict",
    "Coverage",
    "Listener",
    "Outcome",
    "Program",
    "Progress",
    "Receipt",
    "Recursive",
    "RefinePolicy",
    "Search",
]
