"""The catalog: the programs by name, with what each is for and the options that it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs.base import Program


@dataclass(frozen=True, slots=True)
class Entry:
    """One program. `room` and `type` say where its class is; `keywords` has the options that it takes.

    A class is imported when it is built, so that the other verbs start without it.
    """

    room: str
    type: str
    does: str
    use_for: str
    keywords: Mapping[str, str] = field(default_factory=dict)

    def build(self, chosen: Mapping[str, Any], **common: Any) -> "Program":
        """The program with what was chosen of its options, and what every program takes."""
        given = {
            keyword: chosen[name]
            for name, keyword in self.keywords.items()
            if chosen.get(name) is not None
        }
        return getattr(import_module(self.room), self.type)(**common, **given)


_READERS = {"leaf_characters": "leaf_characters"}
"""What is taken by programs whose readers are shown parts of the text."""

PROGRAMS = {
    "auto": Entry(
        "programs.route",
        "Auto",
        "lets the question, the text and the budget choose a program",
        "any question: picks recursive, map_reduce, direct or retrieve",
        {"refine": "refine", "window": "window", "top_k": "k", **_READERS},
    ),
    "recursive": Entry(
        "programs.recursive",
        "Recursive",
        "plans, refines and recurses over a corpus with an explicit stack",
        "counts, lists, timelines, contradictions and causes in much text",
        {"refine": "refine", **_READERS},
    ),
    "rlm": Entry(
        "programs.rlm",
        "RLM",
        "lets the model choose each tool call, or write code in a sandbox",
        "open-ended search by a strong model that chooses each look",
        {
            "action_space": "action_space",
            "sandbox": "sandbox",
            "max_turns": "max_turns",
            **_READERS,
        },
    ),
    "direct": Entry(
        "programs.baselines",
        "Direct",
        "shows the model all of the text in one call, or its two ends",
        "short text: all of it is read at once, nothing is planned",
        {"window": "window"},
    ),
    "cot": Entry(
        "programs.baselines",
        "ChainOfThought",
        "the same, and the model thinks before it quotes",
        "short text that has to be thought about before it is quoted",
        {"window": "window"},
    ),
    "retrieve": Entry(
        "programs.baselines",
        "Retrieve",
        "ranks passages and reads the best of them",
        "one fact in much text, where a missed passage does no harm",
        {"top_k": "k", **_READERS},
    ),
    "map_reduce": Entry(
        "programs.baselines",
        "MapReduce",
        "reads every partition, merges by code and concludes",
        "one reading of every part, with little budget for plans",
        _READERS,
    ),
    "plan_execute": Entry(
        "programs.baselines",
        "PlanExecute",
        "plans once and executes, without refinement or recursion",
        "comparison: recursive without its refinement",
        _READERS,
    ),
    "react": Entry(
        "programs.baselines",
        "ReAct",
        "calls the tools in the loop that DSPy ships (ReActV2)",
        "comparison: rlm in DSPy's own tool loop",
        {"max_turns": "max_turns", **_READERS},
    ),
}
"""The programs by name. Another one is added here."""


def takers(option: str) -> list[str]:
    """The programs that take an option."""
    return [name for name, entry in PROGRAMS.items() if option in entry.keywords]
