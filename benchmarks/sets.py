"""Benchmark of question sets: a large aggregation set is generated, kept, loaded and checked.

    python benchmarks/sets.py [--characters N]

The corpus, its questions with all their gold, and the check of every span against the text; seconds of each part, the
sum, and the memory of the process at its highest.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from data.sets.assembly import assemble
from data.sets.drafts import Order
from data.sets.generators import FAMILIES
from data.sets.lint import lint_folder
from data.sets.storage import load_set, save_set

T = TypeVar("T")


def main() -> None:
    """Generate, keep, load, check, print."""
    parser = argparse.ArgumentParser(description="Benchmark of a large aggregation set.")
    parser.add_argument("--characters", type=int, default=50_000_000, help="of the corpus")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spantree-sets-") as name:
        _measure(Path(name), options.characters)


def _measure(folder: Path, characters: int) -> None:
    order = Order(characters=characters, store=folder / "store")
    place = folder / "set"
    clock = _Clock()
    drafts = clock("draft text and gold", lambda: list(FAMILIES["aggregation"].drafts(order)))
    made = clock(
        "write, parse and partition",
        lambda: assemble(drafts, place, name="large", made_by="benchmark", store=order.store),
    )
    clock("save the questions", lambda: save_set(made, place))
    loaded = clock("load the set", lambda: load_set(place))
    problems = clock("lint", lambda: lint_folder(loaded, place, store=order.store))
    size = sum(len(each.content) for draft in drafts for each in draft.documents)
    spans = sum(len(each) for q in made.questions for fact in q.gold for each in fact)
    print(f"{'all':28s} {clock.total:6.1f} s")
    print(f"{size:,} characters, {len(made.questions)} questions, {spans:,} gold spans")
    print(
        f"{len(problems)} faults; {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,} MiB"
    )


class _Clock:
    """Prints the seconds of each part and keeps their sum."""

    def __init__(self) -> None:
        self.total = 0.0

    def __call__(self, name: str, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        self.total += seconds
        print(f"{name:28s} {seconds:6.1f} s")
        return result


if __name__ == "__main__":
    main()
