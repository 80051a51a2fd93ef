"""Overhead of the evaluation harness: an evaluation with its log, against the same program called in a plain loop.

    python benchmarks/harness.py [--questions 28] [--rounds 5] [--program recursive]

Both sides answer the questions that ship and have an answer with the embedded reader, one sample at a time. The plain
loop keeps nothing but the answers; the evaluation scores them, writes each to the disk and reads the log at the end.
Rounds alternate, and the ratios are medians of those of the rounds: of wall time, and of processor time, on which other
processes of the machine have less influence. Beside it: what the harness costs for a program that does nothing.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import dspy

from data.corpus import Corpus, open_corpus
from data.questions import CorpusEntry, GoldSpan, Question, QuestionSet, TypedAnswer
from data.samples import questions, samples_path
from evals.executor import Factory
from evals.run import Conduct, evaluate
from programs.answer import Answer
from programs.base import Program
from programs.catalog import PROGRAMS
from programs.run import Run
from runtime.models.make import make_lm


class Canned(Program):
    """A stand-in that gives one answer at once."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer

    async def work(self, run: Run) -> None:
        raise AssertionError("a canned program answers by itself, and makes no run")

    async def aforward(
        self, question: str, corpus: Corpus, limits: object = None
    ) -> dspy.Prediction:
        return dspy.Prediction(answer=self.answer)


def lookups(number: int, opened: Callable[[str], Corpus]) -> QuestionSet:
    """A set of `number` questions at most: those of the samples that have an answer."""
    chosen = [each for each in questions() if each.answerable][:number]
    rows = tuple(
        Question(
            id=f"{each.id}-{at}",
            question=each.question,
            corpus=each.corpus,
            kind="lookup",
            gold=tuple(
                tuple(tuple(GoldSpan(**span.model_dump()) for span in spans) for spans in fact)
                for fact in each.facts
            ),
            answer=TypedAnswer(type="string", values=(str(each.answer),)),
            answerable=True,
        )
        for at, each in enumerate(chosen)
    )
    entries = tuple(
        CorpusEntry(name=name, paths=(name,), version=opened(name).version)
        for name in dict.fromkeys(each.corpus for each in chosen)
    )
    return QuestionSet(
        name="bench", made_by="benchmarks/harness.py", corpora=entries, questions=rows
    )


@dataclass(frozen=True)
class Took:
    """Seconds of wall time, and of processor time."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Took:
    """How long some work takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def plain(build: Factory, made: QuestionSet, opened: Callable[[str], Corpus]) -> None:
    """Call the program in a loop."""

    async def loop() -> list[Answer]:
        program = build()
        return [
            (await program.acall(question=each.question, corpus=opened(each.corpus))).answer
            for each in made.questions
        ]

    with dspy.context(trace=None):
        asyncio.run(loop())


def evaluated(
    build: Factory, made: QuestionSet, opened: Callable[[str], Corpus], out: Path
) -> None:
    """Evaluate the same."""
    work = evaluate({"bench": build}, made, opened, out, conduct=Conduct(concurrency=1))
    log = asyncio.run(work)
    assert len(log.records) == len(made.questions)
    assert log.errors == ()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=28)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program", default="recursive", choices=PROGRAMS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spantree-harness-") as folder:
        opened = cache(lambda name: open_corpus([samples_path(name)], store=Path(folder, "store")))
        made = lookups(given.questions, opened)
        lm = make_lm("extractive")

        def build() -> Program:
            program = PROGRAMS[given.program].build({}, lm=lm)
            assert isinstance(program, Program)
            return program

        first = build()(
            question=made.questions[0].question, corpus=opened(made.questions[0].corpus)
        )
        pairs = []
        for number in range(given.rounds):
            out = Path(folder, f"log{number}")
            alone = timed(lambda: plain(build, made, opened))
            pairs.append((alone, timed(lambda at=out: evaluated(build, made, opened, at))))
        canned = Path(folder, "canned")
        empty = timed(lambda: evaluated(lambda: Canned(first.answer), made, opened, canned))
    rows = {
        "plain loop": [alone for alone, _ in pairs],
        "evaluation": [whole for _, whole in pairs],
        "harness alone": [empty],
    }
    print(f"{given.program}, {given.questions} samples, medians of {given.rounds} rounds")
    print(f"{'':14}{'wall s':>9}{'ms/sample':>11}{'cpu s':>9}{'ms/sample':>11}")
    for name, rounds in rows.items():
        wall = statistics.median(each.wall for each in rounds)
        cpu = statistics.median(each.cpu for each in rounds)
        wall_each, cpu_each = (1000 * each / given.questions for each in (wall, cpu))
        print(f"{name:14}{wall:9.2f}{wall_each:11.2f}{cpu:9.2f}{cpu_each:11.2f}")
    wall = statistics.median(whole.wall / alone.wall for alone, whole in pairs)
    cpu = statistics.median(whole.cpu / alone.cpu for alone, whole in pairs)
    print(f"{'ratio':14}{wall:9.3f}{'':11}{cpu:9.3f}")


if __name__ == "__main__":
    main()
