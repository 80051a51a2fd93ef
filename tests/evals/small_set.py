"""A small question set over a log of trains, a program that does what a test tells it to, and its evaluation."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from data.corpus import Corpus, open_corpus
from data.questions import CorpusEntry, GoldSpan, Question, QuestionSet, TypedAnswer
from data.sets.storage import save_set
from evals.log import EvalLog
from evals.run import Conduct, evaluate
from evals.tolerance import Tolerance
from programs.answer import Answer, Coverage, Receipt
from programs.base import Program
from programs.run import Run
from runtime.claims import Citation, Claim

TOLERANT = Tolerance(share=1.0)
LINE = "07:{:02d} train {} is late by {} minutes\n"


@dataclass(frozen=True)
class SmallSet:
    """A set on the disk, with its one corpus opened."""

    made: QuestionSet
    folder: Path
    store: Path
    corpus: Corpus

    def corpora(self, name: str) -> Corpus:
        """The corpus of the set."""
        assert name == "trains"
        return self.corpus


def small_set(folder: Path, number: int = 6) -> SmallSet:
    """A set of `number` lookups, each with one line of a log as its evidence."""
    root, store = folder / "set", folder / "store"
    files = root / "corpora" / "trains"
    files.mkdir(parents=True)
    lines = [LINE.format(n % 60, n, n % 9 + 1) for n in range(number)]
    (files / "monday.log").write_text("".join(lines), encoding="utf-8")
    corpus = open_corpus([files], store=store)
    starts = corpus.line_starts("monday.log")
    questions = tuple(
        _question(n, line.rstrip("\n"), int(starts[n])) for n, line in enumerate(lines)
    )
    entry = CorpusEntry(name="trains", paths=("corpora/trains",), version=corpus.version)
    made = QuestionSet(name="trains", made_by="a test", corpora=(entry,), questions=questions)
    save_set(made, root)
    return SmallSet(made, root, store, corpus)


def _question(number: int, line: str, start: int) -> Question:
    span = GoldSpan(source="monday.log", start=start, end=start + len(line), quote=line)
    return Question(
        id=f"q{number}",
        question=f'By how many minutes is "train {number} is" late?',
        corpus="trains",
        kind="lookup",
        gold=(((span,),),),
        answer=TypedAnswer(type="integer", values=(str(number % 9 + 1),)),
        answerable=True,
        documents=("monday.log",),
        split="train" if number % 2 else "test",
    )


def answer(question: str, corpus: Corpus, *, value: int | None = None, **receipt: Any) -> Answer:
    """The right answer to a question of the set, or another value, with its line cited."""
    number = int(question.split('"train ')[1].split()[0])
    start = int(corpus.line_starts("monday.log")[number])
    line = corpus.lines("monday.log", number + 1, number + 1).text.rstrip("\n")
    cited = Citation(
        source="monday.log",
        start=start,
        end=start + len(line),
        line_start=number + 1,
        line_end=number + 1,
        quote=line,
        span_id="000000000000",
        verdict="verbatim",
    )
    late = number % 9 + 1 if value is None else value
    used: dict[str, Any] = {
        "model": "told",
        "leaf_model": "told",
        "calls": 3,
        "cached_calls": 0,
        "failed_calls": 0,
        "input_tokens": 100,
        "output_tokens": 10,
        "cost_usd": 0.0,
        "wall_seconds": 0.01,
        "max_depth": 1,
        "retries": 0,
        "sandbox_seconds": 0.0,
    }
    return Answer(
        text=f"{late} minutes",
        value=late,
        outcome="answered",
        claims=(
            Claim(id="c1", text=f"It is {late} minutes.", status="direct", citations=(cited,)),
        ),
        conflicts=(),
        unknowns=(),
        warnings=(),
        coverage=Coverage(
            required=("p",),
            completed=("p",),
            failed=(),
            unread=(),
            unparsed=(),
            searches=(),
            truncations=(),
            partitions=1,
        ),
        receipt=Receipt(**{**used, **receipt}),
        steps=(),
        degraded=False,
        run_id=f"run-{id(question)}",
        corpus_version=corpus.version,
        question=question,
        kind="lookup",
        program="told",
    )


Does = Callable[[str, Corpus], Any]
"""What a told program does with a question: an answer, anything else to return, or an exception to raise."""


class Told(Program):
    """A stand-in for a program: it answers at once, or does what it is told. Its calls are counted."""

    name = "told"

    def __init__(
        self, does: Does = answer, calls: list[str] | None = None, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.does = does
        self.calls = calls if calls is not None else []

    async def work(self, run: Run) -> None:
        raise AssertionError("a told program answers by itself, and makes no run")

    async def aforward(self, question: str, corpus: Corpus, limits: Any = None) -> Any:
        self.calls.append(question)
        await asyncio.sleep(0)
        said = self.does(question, corpus)
        if isinstance(said, BaseException):
            raise said
        if asyncio.iscoroutine(said):
            said = await said
        return dspy.Prediction(answer=said) if isinstance(said, Answer) else said


def evaluated(
    trains: SmallSet,
    out: Path,
    does: Does = answer,
    *,
    calls: list[str] | None = None,
    conduct: Conduct | None = None,
    **given: Any,
) -> EvalLog:
    """The log of an evaluation of one told program."""
    programs = {"told": lambda: Told(does, calls)}
    work = evaluate(
        programs,
        trains.made,
        trains.corpora,
        out,
        conduct=conduct or Conduct(tolerance=TOLERANT),
        **given,
    )
    return asyncio.run(work)


def number_of(question: str) -> int:
    """Which train a question asks about."""
    found = re.search(r"train (\d+)", question)
    assert found is not None
    return int(found[1])


def failing(**numbers: Any) -> Does:
    """A program that does something else for some trains, given as `n3=...`."""

    def does(question: str, corpus: Corpus) -> Any:
        return numbers.get(f"n{number_of(question)}") or answer(question, corpus)

    return does
