"""What the user hands over: the question, and the paths or standard input that become the corpus."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors import CorpusError, QuestionError
from runtime.questions.mentions import expressions

if TYPE_CHECKING:
    from data.corpus import Corpus

STANDARD_INPUT = "-"


def checked_question(question: str) -> str:
    """The question without surrounding white space.

    Raises QuestionError if nothing is left, PatternError for a regular expression in it that is not valid.
    """
    text = question.strip()
    if not any(char.isalnum() for char in text):
        raise QuestionError(
            "the question is empty", hint="put it in quotes: spantree ask 'Why ...?' logs/"
        )
    for expression in expressions(text):
        from data.pattern import Pattern

        Pattern.parse(expression)
    return text


def checked_paths(paths: Sequence[str]) -> None:
    """Raise CorpusError for paths that cannot be read together, before any of them is."""
    if STANDARD_INPUT in paths and len(paths) > 1:
        raise CorpusError(
            "standard input (-) cannot be combined with other paths",
            hint="ask over one or the other",
        )


def read_corpus(
    paths: Sequence[str], store: Path, progress: Callable[[int, int, str], None] | None = None
) -> "Corpus":
    """The corpus of the paths; `-` reads standard input to its end. Raises CorpusError."""
    from data.corpus import open_corpus, open_corpus_text

    checked_paths(paths)
    if list(paths) != [STANDARD_INPUT]:
        return open_corpus(paths, store=store, progress=progress)
    raw = sys.stdin.buffer.read()
    if not raw.strip():
        raise CorpusError(
            "standard input is empty", hint="pipe text into it: cat app.log | spantree ask '...' -"
        )
    return open_corpus_text("stdin", raw, store=store)
