"""Rollouts: executions of candidate programs on single questions, each recorded before anybody sees it.

DIR/rollouts.jsonl has one Rollout a line. What is there is never executed again: an optimizer that is run again from
its start, under the same seed, is given the same rollouts, and so comes to where it was without a call.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from evals.call_facts import CallFacts
from evals.lines import LineFile, read_rows
from evals.log import LogRow, SampleRecord, line_of

ROLLOUTS = "rollouts.jsonl"

RolloutKey = tuple[str, str, str]
"""A rollout: candidate, id of the question, variation."""


class Call(LogRow):
    """One call of a predictor within a rollout, as an optimizer is shown it.

    `predictor` is named as the program names it. `inputs` and `outputs` are JSON; the inputs are excerpts
    (evals/excerpts.py): never a document.
    """

    predictor: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    facts: CallFacts = CallFacts()


class Rollout(LogRow):
    """One execution of a candidate program on one question: its scored record, and its calls.

    `variation` tells rollouts of the same candidate on the same question apart: "" for the settings of the program
    itself, else those under which an optimizer sampled once more.
    """

    candidate: str
    question_id: str
    variation: str = ""
    record: SampleRecord
    calls: tuple[Call, ...] = ()

    @property
    def key(self) -> RolloutKey:
        """Which rollout this is."""
        return self.candidate, self.question_id, self.variation

    @property
    def failed(self) -> bool:
        """Whether it ended in an error, which scores 0 and is no answer."""
        return self.record.state == "error"


class RolloutLog:
    """The rollouts of one optimization, on disk and in memory. Safe from several threads."""

    def __init__(self, path: Path, *, errors: bool = True) -> None:
        """Open a log, or begin one; without `errors`, what ended in one is made again. Raises RunError if damaged."""
        self._kept: dict[RolloutKey, Rollout] = {}
        self._file = LineFile(path)
        try:
            made = read_all(path)
            self._kept.update((each.key, each) for each in made)
            if not errors:
                self._kept = {key: each for key, each in self._kept.items() if not each.failed}
        except BaseException:
            self._file.close()
            raise
        self.superseded = [each for each in made if self._kept.get(each.key) is not each]
        """Those that were made again, or are to be: they count for nothing but what they spent."""
        self._lock = threading.Lock()
        self._doors: dict[RolloutKey, threading.Lock] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Rollout]:
        return iter(list(self._kept.values()))

    def once(self, key: RolloutKey, make: Callable[[], Rollout]) -> Rollout:
        """The rollout of this key, which is made if there is none; never twice, however many threads ask for it.

        DSPy gives the last items of a batch to a second thread when they take two minutes (dspy#9574): that thread
        waits here, and pays nothing.
        """
        with self._lock:
            door = self._doors.setdefault(key, threading.Lock())
        with door:
            kept = self._kept.get(key)
            if kept is not None:
                return kept
            made = make()
            self._file.append(line_of(made))
            self._kept[key] = made
            return made

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_rollouts(path: Path) -> list[Rollout]:
    """The rollouts of a file, in the order in which they first ended; of one that was made again, the last."""
    return latest(read_all(path))


def latest(rollouts: Iterable[Rollout]) -> list[Rollout]:
    """Each rollout once, in the order in which they first ended; of one that was made again, the last."""
    return [*{each.key: each for each in rollouts}.values()]


def read_all(path: Path) -> list[Rollout]:
    """All rollouts of a file, also those that were made again later: each of them was paid for.

    A line without an end does not count. Raises RunError if another one is damaged.
    """
    return read_rows(path, Rollout, "rollout", "its rollout made again")


def of_candidate(rollouts: Iterable[Rollout], candidate: str) -> list[Rollout]:
    """The rollouts of a candidate under its own settings."""
    return [each for each in rollouts if each.candidate == candidate and not each.variation]
