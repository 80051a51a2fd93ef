"""The question set of a verb: found, read, and its corpora opened when they are needed."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from data.corpus import Corpus
    from data.questions import QuestionSet
    from evals.manifest import Notes
    from spantree.cli.progress import Watcher

_OPEN = 128
"""Corpora that are held open: a set may have one for each question."""


class OpenedSet:
    """A question set with its corpora, each checked against the version that the gold was made for."""

    def __init__(self, made: "QuestionSet", folder: Path, store: Path) -> None:
        self.made = made
        self.folder = folder
        self.store = store
        self._opened = lru_cache(maxsize=_OPEN)(self._open)

    def corpus(self, name: str) -> "Corpus":
        """A corpus of the set. Raises CorpusError if its files changed since the set was made."""
        return self._opened(name)

    def check(self, names: Iterable[str], watching: "Watcher") -> None:
        """Open some corpora, so that what is wrong with one is told before anything is done."""
        chosen = list(dict.fromkeys(names))
        for number, name in enumerate(chosen, start=1):
            self.corpus(name)
            watching.parsed(number, len(chosen), name)

    def notes(self, command: str) -> "Notes":
        """What is noted where the set is worked on: when, by which code, and the command that goes on with it."""
        from evals.manifest import Notes
        from evals.provenance import checkout

        commit, dirty = checkout()
        return Notes(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            commit=commit,
            dirty=dirty,
            command=command,
            set_folder=str(self.folder.absolute()),
            store=str(self.store),
        )

    def _open(self, name: str) -> "Corpus":
        from data.sets.storage import open_set_corpus

        return open_set_corpus(self.made, self.folder, name, store=self.store)


def opened_set(name: str, store: Path) -> OpenedSet:
    """The set of a name or a folder. Raises QuestionSetError."""
    from data.sets.shipped import find_set
    from data.sets.storage import load_set

    folder = find_set(name, store=store)
    return OpenedSet(load_set(folder), folder, store)
