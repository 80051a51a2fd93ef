"""The options that only some programs have, and a program as the command line uses it."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import dspy

    from data.corpus import Corpus

OPTIONS = {
    "refine": "--refine",
    "action_space": "--action-space",
    "sandbox": "--sandbox",
    "max_turns": "--max-turns",
    "window": "--window",
    "top_k": "--top-k",
    "leaf_characters": "--leaf-characters",
}
"""Settings that only some programs have, each with its option."""


class Program(Protocol):
    """A program as the command line uses it."""

    def __call__(self, *, question: str, corpus: "Corpus") -> "dspy.Prediction":
        """Answer a question; the prediction has `answer`."""
        ...

    def resume(self, run_id: str, corpus: "Corpus") -> "dspy.Prediction":
        """Go on with a run of the journal."""
        ...
