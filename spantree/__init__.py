"""spantree: answers over long text, with every statement traced to the original characters.

The names are imported when they are first used, so that the command line starts without loading DSPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from data.corpus import Corpus, load_corpus, open_corpus, open_corpus_text
    from programs.answer import Answer, Conflict, Coverage, Receipt
    from programs.baselines import (
        ChainOfThought,
        Direct,
        MapReduce,
        PlanExecute,
        ReAct,
        Retrieve,
    )
    from programs.bundles import load, save_bundle
    from programs.progress import Progress
    from programs.recursive import Recursive
    from programs.rlm import RLM
    from programs.route import Auto
    from runtime.claims import Citation, Claim
    from runtime.errors import SpantreeError, UserError
    from runtime.journal import Journal
    from runtime.limits import Limits
    from runtime.models.make import make_lm

__all__ = [
    "RLM",
    "Answer",
    "Auto",
    "ChainOfThought",
    "Citation",
    "Claim",
    "Conflict",
    "Corpus",
    "Coverage",
    "Direct",
    "Journal",
    "Limits",
    "MapReduce",
    "PlanExecute",
    "Progress",
    "ReAct",
    "Receipt",
    "Recursive",
    "Retrieve",
    "SpantreeError",
    "UserError",
    "load",
    "load_corpus",
    "make_lm",
    "open_corpus",
    "open_corpus_text",
    "save_bundle",
]

_ROOMS = {
    "data.corpus": ("Corpus", "load_corpus", "open_corpus", "open_corpus_text"),
    "programs.answer": ("Answer", "Conflict", "Coverage", "Receipt"),
    "programs.baselines": (
        "ChainOfThought",
        "Direct",
        "MapReduce",
        "PlanExecute",
        "ReAct",
        "Retrieve",
    ),
    "programs.bundles": ("load", "save_bundle"),
    "programs.progress": ("Progress",),
    "programs.recursive": ("Recursive",),
    "programs.rlm": ("RLM",),
    "programs.route": ("Auto",),
    "runtime.claims": ("Citation", "Claim"),
    "runtime.errors": ("SpantreeError", "UserError"),
    "runtime.journal": ("Journal",),
    "runtime.limits": ("Limits",),
    "runtime.models.make": ("make_lm",),
}


def __getattr__(name: str) -> Any:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(room), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
