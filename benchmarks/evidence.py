"""Benchmark of the cited evidence: character recall and precision on chunking_evaluation.

    python benchmarks/evidence.py [--data DIR] [--path auto|recursive|direct|bm25-1|bm25-3 ...]
        [--limit N] [--spans N] [--span-chars N] [--shuffled]

The data set (Chroma's chunking_evaluation: questions over long texts, gold as character ranges) is not part of the
repository. Recall and precision of a question compare the union of the cited characters with the union of the gold
characters; they are averaged over the questions of a corpus, then over the corpora. A question without citations has
recall 0 and no precision; their number is shown, and so is the precision when it counts as 0. `--shuffled` asks each
question of another corpus, where it has no answer: all that is reported then is how often nothing is cited.
"""

import argparse
import csv
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum
from pathlib import Path

import bm25s
import dspy

from data.corpus import Corpus, open_corpus
from data.rank import Ranker
from programs.evidence import restore, shown
from programs.recursive import Recursive
from programs.route import Auto
from runtime.lexicon import sentences, stems
from runtime.models.extractive.reader import read_leaf
from runtime.models.make import make_lm

DATA = Path(__file__).parents[1].parent / "shared" / "data" / "chunking_evaluation"

Range = tuple[int, int]


@dataclass(frozen=True)
class Question:
    """A question over one corpus, and where its answer stands; no gold where it has none."""

    corpus: str
    text: str
    gold: tuple[Range, ...]


@dataclass(frozen=True)
class Cited:
    """What an answer cites: ranges of its source, and how many of its quotes are not that text."""

    ranges: tuple[Range, ...]
    unverified: int = 0


@dataclass(frozen=True)
class Result:
    """Recall and precision of one question; precision is None when nothing is cited."""

    corpus: str
    recall: float
    precision: float | None
    cited: int
    unverified: int


Ask = Callable[[Question], Cited]
"""A way from a question to its citations."""


def main() -> None:
    """Read the data, ask every question, print the table."""
    options = _options()
    if not (options.data / "questions_df.csv").is_file():
        print(f"skipped: no chunking_evaluation at {options.data} (--data DIR)")
        return
    questions = load_questions(options.data)[: options.limit]
    if options.shuffled:
        questions = shuffled(questions)
    broken = False
    with tempfile.TemporaryDirectory(prefix="spantree-evidence-") as store:
        for path in options.path or sorted(PATHS):
            results, seconds = _asked(questions, PATHS[path](options, Path(store)))
            print(f"path {path}: {1000 * seconds / max(1, len(results)):.1f} ms a question")
            print_table(results)
            print()
            broken = broken or any(result.unverified for result in results)
    if broken:
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Character recall and precision of cited evidence."
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the chunking_evaluation folder")
    parser.add_argument(
        "--path", choices=sorted(PATHS), action="append", help="how to answer (all of them)"
    )
    parser.add_argument("--limit", type=int, default=None, help="only the first N questions")
    parser.add_argument("--spans", type=int, default=12, help="spans shown to the reader (12)")
    parser.add_argument("--span-chars", type=int, default=1200, help="length of a span (1,200)")
    parser.add_argument("--shuffled", action="store_true", help="ask of the wrong corpus")
    return parser.parse_args()


def load_questions(folder: Path) -> list[Question]:
    """The questions in the order of the file; gold offsets are code points of the decoded text."""
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Question(
            corpus=row["corpus_id"],
            text=row["question"],
            gold=tuple(
                (ref["start_index"], ref["end_index"]) for ref in json.loads(row["references"])
            ),
        )
        for row in rows
    ]


def shuffled(questions: Sequence[Question]) -> list[Question]:
    """Each question asked of the next corpus, where it has no answer."""
    names = sorted({question.corpus for question in questions})
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    return [replace(question, corpus=following[question.corpus], gold=()) for question in questions]


def _asked(questions: Sequence[Question], ask: Ask) -> tuple[list[Result], float]:
    if questions:
        ask(questions[0])  # opens the corpus and its index, which is not a question's cost
    start = time.perf_counter()
    results = [measured(question, ask(question)) for question in questions]
    return results, time.perf_counter() - start


# The measure.


def measured(question: Question, cited: Cited) -> Result:
    """Recall and precision over characters; an overlap counts once, touching is not overlapping."""
    found = size(common(cited.ranges, question.gold))
    gold, total = size(question.gold), size(cited.ranges)
    return Result(
        corpus=question.corpus,
        recall=found / gold if gold else 0.0,
        precision=found / total if total else None,
        cited=total,
        unverified=cited.unverified,
    )


def union(ranges: Iterable[Range]) -> list[Range]:
    """The same characters as ranges in order that neither overlap nor touch."""
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if end <= start:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def size(ranges: Iterable[Range]) -> int:
    """The number of different characters in the ranges."""
    return sum(end - start for start, end in union(ranges))


def common(first: Iterable[Range], second: Iterable[Range]) -> list[Range]:
    """The characters that are in both."""
    others = union(second)
    return [
        (max(start, low), min(end, high))
        for start, end in union(first)
        for low, high in others
        if max(start, low) < min(end, high)
    ]


def mean(values: Iterable[float]) -> float | None:
    """The mean; None of nothing."""
    kept = list(values)
    return fsum(kept) / len(kept) if kept else None


def print_table(results: Sequence[Result]) -> None:
    """One line a corpus, then the mean of the corpora."""
    rows = []
    for corpus in sorted({result.corpus for result in results}):
        of = [result for result in results if result.corpus == corpus]
        recall = mean(result.recall for result in of)
        precision = mean(result.precision for result in of if result.precision is not None)
        strict = mean(result.precision or 0.0 for result in of)
        cited = mean(result.cited for result in of)
        rows.append((corpus, len(of), recall, precision, strict, _silent(of), cited))
    print(
        f"{'corpus':24}{'n':>5}{'recall':>9}{'precision':>11}{'(silent 0)':>12}{'silent':>8}{'chars':>7}"
    )
    for row in rows:
        _print_row(*row)
    _print_row(
        "mean of the corpora",
        len(results),
        mean(row[2] for row in rows if row[2] is not None),
        mean(row[3] for row in rows if row[3] is not None),
        mean(row[4] for row in rows if row[4] is not None),
        _silent(results),
        mean(row[6] for row in rows if row[6] is not None),
    )
    unverified = sum(result.unverified for result in results)
    print(f"silent: questions without a citation. Citations that are not the text: {unverified}")


def _silent(results: Sequence[Result]) -> int:
    return sum(not result.cited for result in results)


def _print_row(
    name: str,
    n: int,
    recall: float | None,
    precision: float | None,
    strict: float | None,
    silent: int,
    cited: float | None,
) -> None:
    shares = [f"{each:.3f}" if each is not None else "-" for each in (recall, precision, strict)]
    first, second, third = shares
    print(f"{name:24}{n:>5}{first:>9}{second:>11}{third:>12}{silent:>8}{cited or 0:>7.0f}")


# The ways from a question to its citations.


def direct(options: argparse.Namespace, store: Path) -> Ask:
    """Ranking, then one reading of the best spans: the part of the program that finds evidence, without a model."""
    opened: dict[str, tuple[Corpus, Ranker]] = {}

    def ask(question: Question) -> Cited:
        if question.corpus not in opened:
            path = options.data / "corpora" / f"{question.corpus}.md"
            corpus = open_corpus([path], store=store)
            spans = corpus.partitions("size", span_chars=options.span_chars)
            opened[question.corpus] = (corpus, Ranker(corpus, spans))
        return _read(*opened[question.corpus], question.text, options.spans)

    return ask


def _read(corpus: Corpus, ranker: Ranker, question: str, k: int) -> Cited:
    hits = [hit.span for hit in ranker.rank(question, k)]
    spans = {span.id: span for span in sorted(hits, key=lambda span: (span.source, span.start))}
    views = shown(corpus, tuple(spans.values()))
    reading = read_leaf(question, "lookup", [], views, ranker.term_statistics(question))
    ranges: list[Range] = []
    unverified = 0
    for evidence in reading.evidence:
        span, quote = spans[evidence.span_id], restore(evidence.quote)
        at = corpus.slice(span.source, span.start, span.end).find(quote)
        if at < 0:
            unverified += 1
        else:
            ranges.append((span.start + at, span.start + at + len(quote)))
    return Cited(tuple(ranges), unverified)


def program(made: type[Recursive | Auto]) -> Callable[[argparse.Namespace, Path], Ask]:
    """A program with the embedded reader, as `spantree ask` runs it: `auto` unless told otherwise."""

    def path(options: argparse.Namespace, store: Path) -> Ask:
        answering = made(lm=make_lm("extractive"))
        opened: dict[str, Corpus] = {}

        def ask(question: Question) -> Cited:
            if question.corpus not in opened:
                file = options.data / "corpora" / f"{question.corpus}.md"
                opened[question.corpus] = open_corpus([file], store=store)
            corpus = opened[question.corpus]
            with dspy.context(trace=None):
                answer = answering(question=question.text, corpus=corpus).answer
            cited = [each for claim in answer.claims for each in claim.citations]
            wrong = [e for e in cited if corpus.slice(e.source, e.start, e.end) != e.quote]
            return Cited(tuple((each.start, each.end) for each in cited), len(wrong))

        return ask

    return path


def bm25(best: int) -> Callable[[argparse.Namespace, Path], Ask]:
    """The baseline: BM25 over windows of two sentences, the `best` windows cited whole."""

    def path(options: argparse.Namespace, store: Path) -> Ask:
        opened: dict[str, tuple[list[Range], bm25s.BM25]] = {}

        def ask(question: Question) -> Cited:
            if question.corpus not in opened:
                file = options.data / "corpora" / f"{question.corpus}.md"
                opened[question.corpus] = _windows(open_corpus([file], store=store), file.name)
            windows, index = opened[question.corpus]
            scores = index.get_scores(stems(question.text))
            order = sorted(range(len(windows)), key=lambda at: (-scores[at], at))[:best]
            return Cited(tuple(windows[at] for at in order if scores[at] > 0))

        return ask

    return path


def _windows(corpus: Corpus, source: str) -> tuple[list[Range], bm25s.BM25]:
    """Every two neighboring sentences of a source, and the index over them."""
    text = corpus.text(source)
    units = sentences(text)
    windows = [(first[0], second[1]) for first, second in pairwise(units)]
    index = bm25s.BM25()
    index.index([stems(text[start:end]) for start, end in windows], show_progress=False)
    return windows, index


PATHS: dict[str, Callable[[argparse.Namespace, Path], Ask]] = {
    "auto": program(Auto),
    "recursive": program(Recursive),
    "direct": direct,
    "bm25-1": bm25(1),
    "bm25-3": bm25(3),
}


if __name__ == "__main__":
    main()
