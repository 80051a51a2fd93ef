"""Benchmark of all programs on the questions that ship with the project.

    python benchmarks/comparison.py [--only NAME ...] [--model NAME] [--questions FILE] [--misses] [--markdown]

A fact counts as found when the citations of the answer touch every span of one of its alternatives. An unanswerable
question is right when the outcome is `not_found` or `not_found_in_covered`. Calls and tokens are sums over all of them.
The default model is the embedded reader, which is no language model: the table compares control flow.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import dspy

import spantree
from programs.catalog import PROGRAMS

QUESTIONS = Path(__file__).parents[1] / "data" / "samples" / "questions.jsonl"
ABSENT = ("not_found", "not_found_in_covered")


@dataclass(frozen=True)
class Result:
    """One answer. `found` is the share of the facts that it cites, None for an unanswerable question."""

    id: str
    found: float | None
    outcome: str
    calls: int
    tokens: int
    text: str

    @property
    def right(self) -> bool:
        """Whether every fact is cited; of an unanswerable question, whether its absence is told."""
        return self.outcome in ABSENT if self.found is None else self.found == 1.0


def variants(only: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The programs to run by their names in the table, with what makes each."""
    every: dict[str, dict[str, Any]] = {}
    for name in PROGRAMS:
        every[name] = {"program": name}
        if name == "rlm":
            every["rlm repl"] = {"program": name, "action_space": "repl"}
    return {name: made for name, made in every.items() if not only or name in only}


def answered(
    row: dict[str, Any], variant: dict[str, Any], lm: dspy.LM, corpus: spantree.Corpus
) -> Result:
    """The answer of one program to one question."""
    entry = PROGRAMS[variant["program"]]
    program = entry.build(variant, lm=lm)
    answer = program(question=row["question"], corpus=corpus).answer
    receipt = answer.receipt
    return Result(
        id=row["id"],
        found=found(row["facts"], answer) if row["answerable"] else None,
        outcome=answer.outcome,
        calls=receipt.calls,
        tokens=receipt.input_tokens + receipt.output_tokens,
        text=answer.text,
    )


def found(facts: Sequence[Sequence[Sequence[dict[str, Any]]]], answer: spantree.Answer) -> float:
    """The share of the facts of which one alternative is cited whole, or rather touched everywhere."""
    cited = [
        (each.source, each.start, each.end)
        for claim in answer.claims
        if claim.status != "insufficient"
        for each in claim.citations
    ]

    def touched(span: dict[str, Any]) -> bool:
        source, start, end = span["source"], span["start"], span["end"]
        return any(s == source and b < end and start < e for s, b, e in cited)

    hits = [any(all(map(touched, spans)) for spans in alternatives) for alternatives in facts]
    return sum(hits) / len(hits)


def rows_of(name: str, results: Sequence[Result]) -> list[str]:
    """One row of the table."""
    facts = [each.found for each in results if each.found is not None]
    absent = [each for each in results if each.found is None]
    outcomes = [each.outcome for each in results]
    return [
        name,
        f"{sum(facts) / len(facts):.2f}",
        f"{sum(each == 1.0 for each in facts)}/{len(facts)}",
        f"{sum(each.right for each in absent)}/{len(absent)}",
        f"{sum(each.calls for each in results):,}",
        f"{sum(each.tokens for each in results) / 1000:,.0f}k",
        str(outcomes.count("partial")),
    ]


HEAD = ["program", "facts", "all facts", "absent", "calls", "tokens", "partial"]


def table(rows: Iterable[Sequence[str]], *, markdown: bool) -> str:
    """The rows under their heads, within 80 columns."""
    lines = [HEAD, *rows]
    if markdown:
        made = [f"| {' | '.join(each)} |" for each in lines]
        return "\n".join([made[0], "|" + " --- |" * len(HEAD), *made[1:]])
    widths = [max(len(each[at]) for each in lines) for at in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if at == 0 else text.rjust(width)
            for at, (text, width) in enumerate(zip(each, widths, strict=True))
        )
        for each in lines
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--misses", action="store_true", help="list what was not found")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    questions = [json.loads(line) for line in given.questions.read_text().splitlines()]
    lm = spantree.make_lm(given.model)
    rows, misses = [], []
    with tempfile.TemporaryDirectory() as store:
        opened: Callable[[str], spantree.Corpus] = cache(
            lambda name: spantree.open_corpus([given.questions.parent / name], store=Path(store))
        )
        for name, variant in variants(given.only).items():
            results = [answered(row, variant, lm, opened(row["corpus"])) for row in questions]
            rows.append(rows_of(name, results))
            misses += [(name, each) for each in results if not each.right]
    print(table(rows, markdown=given.markdown))
    for name, each in misses if given.misses else ():
        print(f"{name} {each.id}: {each.outcome}: {' '.join(each.text.split())[:60]}")


if __name__ == "__main__":
    with dspy.context(trace=None):
        main()
