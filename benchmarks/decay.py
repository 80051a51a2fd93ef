"""Benchmark of decay: what becomes of accuracy when a reader's recall falls with length and in the middle.

    python benchmarks/decay.py [--data DIR] [--program NAME ...] [--tasks N | --full] [--model NAME]
        [--workers 2] [--seed 1] [--markdown | --json]

Two kinds of task, each with one answer at a known place: the value of a key among 75 to 4,800 keys (Lost in the
Middle, Liu et al., 2023) and a made-up fact planted at 11 depths of three texts (chunking_evaluation). An answer
counts when a verified citation holds the value where it stands in the file.

The model is a SIMULATION of decay, not a measurement of any model: the embedded reader, whose claims are dropped by
chance. A claim is kept with probability 0.5 ** (prompt / half_length), less, the longer the prompt, for evidence in its
middle. That is the shape of the curves of Liu et al.; the figures are chosen so that the lengths of the tasks lie on
both sides of the half length. Only readers (AnalyzeLeaf, and what a driving model submits) decay: questions are
classified, plans made, and conclusions written as if by a model that has no trouble with those short prompts. What is
shown is what follows for each way of reading, if a model is like that. `--model extractive` shows the same without any
decay; any other model name is asked in earnest.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dspy
from decay_table import BETTER, Result, Table
from decay_tasks import Sketch, Task, made, sketches

from data.corpus import Corpus, open_corpus
from programs.answer import Answer
from programs.base import Program
from programs.baselines import ChainOfThought, Direct, MapReduce, PlanExecute, ReAct, Retrieve
from programs.recursive import Recursive
from programs.rlm import RLM
from runtime.models.make import make_lm

DATA = Path(__file__).parents[1].parent / "shared" / "data"
HALF_LENGTH = 200_000
MIDDLE = 0.8
WINDOW = 1_000_000
"""Characters that Direct may show: everything fits, so that nothing but decay is measured."""

PROGRAMS: dict[str, Callable[[dspy.LM], Program]] = {
    "direct": lambda lm: Direct(window=WINDOW, lm=lm),
    "cot": lambda lm: ChainOfThought(window=WINDOW, lm=lm),
    "retrieve": lambda lm: Retrieve(lm=lm),
    "map_reduce": lambda lm: MapReduce(lm=lm),
    "plan_execute": lambda lm: PlanExecute(lm=lm),
    "recursive": lambda lm: Recursive(lm=lm),
    "react": lambda lm: ReAct(lm=lm),
    "rlm": lambda lm: RLM(lm=lm),
    "rlm_repl": lambda lm: RLM(action_space="repl", lm=lm),
}


@dataclass(frozen=True)
class Setup:
    """What all tasks have in common."""

    data: Path
    model: str
    seed: int
    programs: tuple[str, ...]


def main() -> None:
    """Make the tasks, ask every program, print the table."""
    options = _options()
    if not (options.data / "lost_in_the_middle").is_dir():
        print(f"skipped: no lost_in_the_middle and chunking_evaluation in {options.data} (--data)")
        return
    model = options.model or (
        f"simulated:half_length={HALF_LENGTH},middle={MIDDLE},seed={options.seed}"
    )
    setup = Setup(options.data, model, options.seed, tuple(options.program or PROGRAMS))
    todo = sketches(None if options.full else options.tasks, options.seed)
    began = time.perf_counter()
    table = Table(list(results(todo, setup, options.workers)))
    _print(table, options, setup, time.perf_counter() - began)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Accuracy where recall decays (simulated).")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the data sets")
    parser.add_argument("--program", choices=list(PROGRAMS), action="append", help="(all)")
    parser.add_argument("--tasks", type=int, default=60, help="key tasks of each size (60)")
    parser.add_argument("--full", action="store_true", help="all 250 key tasks of each size")
    parser.add_argument("--model", default="", help="a model other than the simulation")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--seed", type=int, default=1, help="of the tasks and the simulation (1)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="the table as Markdown")
    form.add_argument("--json", action="store_true", help="the cells as JSON")
    return parser.parse_args()


def results(todo: list[Sketch], setup: Setup, workers: int) -> Iterator[Result]:
    """The results of all programs over all tasks, in the order of the tasks."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        for found in pool.map(partial(asked, setup=setup), todo, chunksize=4):
            yield from found


def asked(sketch: Sketch, setup: Setup) -> list[Result]:
    """One task, put to every program over one corpus."""
    task = made(sketch, setup.data, setup.seed)
    with tempfile.TemporaryDirectory(prefix="spantree-decay-") as folder:
        path = Path(folder) / "text" / task.file
        path.parent.mkdir()
        path.write_bytes(task.text.encode())
        corpus = open_corpus([path], store=Path(folder) / "store")
        return [_result(name, task, corpus, setup.model) for name in setup.programs]


def _result(name: str, task: Task, corpus: Corpus, model: str) -> Result:
    program = PROGRAMS[name](make_lm(model))
    began = time.perf_counter()
    with dspy.context(trace=None, disable_history=True):
        answer: Answer = program(question=task.question, corpus=corpus).answer
    seconds = time.perf_counter() - began
    cited = [citation for claim in answer.claims for citation in claim.citations]
    return Result(
        program=name,
        setting=task.setting,
        third=task.third,
        right=task.value in answer.text or any(task.value in each.quote for each in cited),
        verified=any(
            each.verified and each.start <= task.start and task.end <= each.end for each in cited
        ),
        outcome=answer.outcome,
        calls=answer.receipt.calls,
        tokens=answer.receipt.input_tokens + answer.receipt.output_tokens,
        quoted=sum(each.end - each.start for each in cited),
        characters=len(task.text),
        seconds=seconds,
    )


def _print(table: Table, options: argparse.Namespace, setup: Setup, seconds: float) -> None:
    if options.json:
        print(json.dumps({"model": setup.model, "cells": table.plain()}, indent=2))
        return
    if setup.model.startswith("simulated"):
        print("A SIMULATION of decay, not a measurement of any model.")
    print(f"model: {setup.model}; {seconds:.0f} s\n")
    print("\n".join(table.markdown() if options.markdown else table.lines()))
    print(f"\n{BETTER} Direct is at least as good there, with fewer tokens.")
    print("\n".join(table.notes()))


if __name__ == "__main__":
    main()
