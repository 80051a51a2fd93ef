"""Benchmark of decay: what becomes of accuracy when a reader's recall falls with length and in the middle.

    python benchmarks/decay.py [--data DIR] [--program NAME ...] [--tasks 60] [--needles 3 | --full]
        [--model NAME] [--workers 2] [--seed 1] [--markdown | --json]

Two kinds of task, each with one answer at a known place: the value of a key among 75 (all 250 tasks of Lost in the
Middle, Liu et al., 2023), 300, 1,200 or 4,800 keys, in the first, the middle or the last tenth of them, and a made-up
fact planted at 11 depths of three texts (chunking_evaluation). An answer counts when a verified citation holds the
value where it stands in the file. Everything fits Direct's window, so that nothing but decay is measured.

The model is a SIMULATION of decay, not a measurement of any model: the embedded reader, whose claims are dropped by
chance. A claim is kept with probability

    0.5 ** length * (1 - 0.8 * min(1, length) * 4 * place * (1 - place)),    length = prompt / 200,000 characters,

where place runs from 0 to 1 over what is shown: the shape of the curves of Liu et al. The two figures are a choice, so
that the texts lie on both sides of the half length; they are fitted to no model. Only readers decay (AnalyzeLeaf, and
what a driving model quotes by itself): questions are classified, plans and tool calls made, and conclusions written as
if by a model that has no trouble with those short prompts. A key is an exact identifier and a fact shares words with
its question, so programs that search find the passage by construction. What is shown is what follows for each
way of reading, if a reader is like that. `--model extractive` shows the same without decay; any other model is
asked in earnest. ChainOfThought (`--program cot`) reads as Direct does and is left out by default.
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
from decay_tasks import NEEDLES, TASKS, Sketch, Task, made, sketches

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
DEFAULT = tuple(name for name in PROGRAMS if name != "cot")


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
    setup = Setup(options.data, model, options.seed, tuple(options.program or DEFAULT))
    tasks, needles = (TASKS, NEEDLES) if options.full else (options.tasks, options.needles)
    todo = sketches(tasks, needles, options.seed)
    began = time.perf_counter()
    table = Table(list(results(todo, setup, options.workers)))
    _print(table, options, setup, time.perf_counter() - began)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Accuracy where recall decays (simulated).")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the data sets")
    parser.add_argument("--program", choices=list(PROGRAMS), action="append", help="(all but cot)")
    parser.add_argument("--tasks", type=int, default=60, help="key tasks of each larger size (60)")
    parser.add_argument("--needles", type=int, default=3, help="facts planted at each depth (3)")
    parser.add_argument("--full", action="store_true", help=f"{TASKS} tasks, {NEEDLES} facts")
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
        place=task.place,
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
    print(
        f"\n{BETTER} Direct takes fewer tokens there and is not measurably worse (sign test, 5 %)."
    )
    print("\n".join(table.notes()))


if __name__ == "__main__":
    main()
