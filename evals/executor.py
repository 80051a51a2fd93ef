"""Executor: one sample from its question to its record. The only place where exceptions become records.

An error is a state with its class, its message and where it was raised. What concerns the whole evaluation (an unknown
model, refused credentials, limits within which nothing starts, a damaged store) is raised, and so is cancellation.
"""

import asyncio
import copy
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data.corpus import Corpus
from data.questions import Question
from evals.log import Failure, SampleRecord, Spent
from programs.answer import Answer
from programs.base import Program
from runtime.errors import PatternError, QuestionError, RunCancelled, UserError
from runtime.journal import Journal
from runtime.ledger import Usage

Factory = Callable[[], Program]
"""Makes a program. It is called once a sample, so that a model with a memory begins each sample anew."""

_FRAMES = 6
_LONGEST = 2_000


class MalformedOutput(Exception):
    """Raised when a program returns something that is no Answer."""


class CutOff(Exception):
    """Raised when an attempt takes longer than anybody wants to wait."""


@dataclass(frozen=True)
class Sample:
    """What is to be evaluated. `before` are the attempts that failed in earlier executions."""

    program: str
    question: Question
    epoch: int
    before: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class Executor:
    """Runs samples. `retries`: how often one that fails is tried again. `patience`: seconds after which an attempt is
    cut off, None for never: the limits of a program end in an answer, this is for one that hangs."""

    retries: int = 0
    patience: float | None = None

    async def run(self, sample: Sample, build: Factory, corpus: Corpus) -> SampleRecord:
        """The record of a sample, which is not scored yet. Raises UserError for what concerns the whole evaluation."""
        failures = list(sample.before)
        for left in range(self.retries, -1, -1):
            attempt = await self._attempt(sample, build(), corpus, len(failures) + 1)
            if attempt.state == "done" or not left:
                return attempt.model_copy(update={"retries": tuple(failures)})
            failures.append(failure_of(attempt))
        raise AssertionError("there is always a last attempt")

    async def _attempt(
        self, sample: Sample, program: Program, corpus: Corpus, number: int
    ) -> SampleRecord:
        made: dict[str, Any] = {
            "program": sample.program,
            "question_id": sample.question.id,
            "epoch": sample.epoch,
            "attempt": number,
            "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        with Journal.open(None) as journal:
            begun = time.perf_counter()
            try:
                answer = await self._answer(_journaled(program, journal), sample, corpus)
                made |= {"state": "done", "answer": answer.model_dump(mode="json")}
                made["cached"] = answer.receipt.cached_calls > 0
            except Exception as error:
                if _concerns_all(error):
                    raise
                spent = _spent(journal) if program.journal is None else None
                made |= {"state": "error", **_told(error), "spent": spent}
            return SampleRecord(**made, seconds=time.perf_counter() - begun)

    async def _answer(self, program: Program, sample: Sample, corpus: Corpus) -> Answer:
        patience = asyncio.timeout(self.patience)
        try:
            async with patience:
                prediction = await program.acall(question=sample.question.question, corpus=corpus)
        except TimeoutError as error:
            if not patience.expired():
                raise
            raise CutOff(f"no answer within {self.patience:g} s") from error
        answer = getattr(prediction, "answer", None)
        if not isinstance(answer, Answer):
            raise MalformedOutput(f"the program returned no Answer but {type(answer).__name__}")
        return answer


def failure_of(record: SampleRecord) -> Failure:
    """A failed attempt, as the next one lists it."""
    return Failure(
        attempt=record.attempt,
        error_class=record.error_class,
        error=record.error,
        traceback=record.traceback,
        spent=record.spent,
        seconds=record.seconds,
        started=record.started,
    )


def _journaled(program: Program, journal: Journal) -> Program:
    """The program with a journal of this attempt, which tells what was spent if it fails."""
    if program.journal is not None:
        return program
    own = copy.copy(program)
    own.journal = journal
    return own


def _concerns_all(error: Exception) -> bool:
    """Whether an error is not one of a sample: it would end all others in the same way."""
    if isinstance(error, QuestionError | PatternError):
        return False  # what this one question says
    return isinstance(error, UserError | RunCancelled)


def _told(error: Exception) -> dict[str, Any]:
    """An error as a record has it."""
    return {
        "error_class": type(error).__name__,
        "error": str(error)[:_LONGEST],
        "traceback": _places(error),
    }


def _places(error: Exception) -> tuple[str, ...]:
    """Where an error was raised, innermost last: files without what is above them, so that logs can be compared."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return tuple(
        f"{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno} in {frame.name}"
        for frame in frames
    )


def _spent(journal: Journal) -> Spent:
    """What the calls of an attempt used before it failed."""
    runs = journal.runs(1)
    usage = journal.usage(runs[0].record.run_id) if runs else Usage()
    return Spent(
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=None if usage.unknown_cost_calls else usage.cost_usd,
    )
