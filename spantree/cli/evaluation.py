"""Evaluation: from what was asked at the command line to a log and its table."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from runtime.errors import LimitsError, RunCancelled, RunError, UserError
from spantree.cli.command_words import joined, limit_options, model_options
from spantree.cli.display import say_banner
from spantree.cli.evaluation_table import latency_lines, print_results
from spantree.cli.exits import NO_ANSWER, OK, Interrupted, then
from spantree.cli.progress import watcher
from spantree.cli.question_set import OpenedSet, opened_set
from spantree.cli.settings import Settings
from spantree.cli.store import store_folder
from spantree.cli.variants import variants

if TYPE_CHECKING:
    from evals.executor import Factory
    from evals.log import EvalLog
    from evals.manifest import Manifest
    from evals.progress import Listener
    from evals.results import Latency
    from evals.run import Conduct, Plan

LOGS = "logs"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was asked for."""

    programs: str
    common: Settings
    question_set: str
    out: Path | None
    epochs: int
    limit: int | None
    split: str | None
    seed: int
    concurrency: int
    max_errors: str
    retries: int
    retry_errors: bool
    store: Path | None
    json: bool
    quiet: bool

    def command(self, out: Path) -> str:
        """The command that goes on with this evaluation."""
        return joined("eval", self.options(out))

    def options(self, out: Path) -> dict[str, Any]:
        """The options of that command, None for those that are the default."""
        return {
            "--program": self.programs,
            "--set": self.question_set,
            **model_options(self.common),
            "--out": out,
            "--epochs": None if self.epochs == 1 else self.epochs,
            "--limit": self.limit,
            "--split": self.split,
            "--seed": self.seed or None,
            "--concurrency": None if self.concurrency == 4 else self.concurrency,
            "--max-errors": None if self.max_errors == "10%" else self.max_errors,
            "--retries": self.retries or None,
            "--store": self.store,
            **limit_options(self.common),
        }

    def check(self) -> None:
        """Raise UserError for what can be seen to be wrong before anything is read."""
        self.plan()
        self.conduct()

    def plan(self) -> "Plan":
        """What of the set is evaluated."""
        from data.questions import Split
        from evals.run import Plan

        if self.split not in (None, *get_args(Split)):
            raise UserError(
                f"there is no split {self.split!r}", hint=f"one of: {', '.join(get_args(Split))}"
            )
        return Plan(self.epochs, self.limit, self.seed, self.split)

    def conduct(self) -> "Conduct":
        """How it is carried out. A program that ignores its wall clock is cut off some time later."""
        from evals.executor import Executor
        from evals.run import Conduct
        from evals.tolerance import Tolerance

        seconds = self.common.limits.wall_seconds
        patience = None if seconds is None else 2 * seconds + 30
        tolerance = Tolerance.parse(self.max_errors)
        executor = Executor(retries=self.retries, patience=patience)
        return Conduct(self.concurrency, tolerance, executor, again=self.retry_errors)


def carry_out(asked: Evaluation) -> int:
    """Check everything that can be checked, then evaluate and print the table. Returns the exit status."""
    from evals.results import results

    asked.check()
    chosen = variants(asked.programs, asked.common)
    models = asked.common.models()
    factories = {each.name: each.factory(models) for each in chosen}
    log = evaluated(asked, factories, command=asked.command)
    if log is None:
        return NO_ANSWER
    found = results(log)
    if not asked.quiet:
        say_about(log, found.latency)
    print_results(found, json=asked.json, log=log)
    return OK


def evaluated(
    asked: Evaluation, factories: "Mapping[str, Factory]", *, command: Callable[[Path], str]
) -> "EvalLog | None":
    """Evaluate programs as was asked for. `command` gives what goes on with it, for the folder of the log.

    None where more samples ended in errors than are tolerated, which is told on standard error.
    """
    from evals.run import manifest_of
    from evals.selection import selected
    from evals.tolerance import TooManyErrors

    plan = asked.plan()
    store = store_folder(asked.store)
    say_banner(asked.common, quiet=asked.quiet)
    opened = opened_set(asked.question_set, store)
    questions = selected(opened.made, split=plan.split, limit=plan.limit, seed=plan.seed)
    out = asked.out or _default_out(asked, manifest_of(factories, opened.made, questions, plan))
    going_on, stopped = command(out), ""
    with watcher(sys.stderr, quiet=asked.quiet) as watching:
        opened.check((each.corpus for each in questions), watching)
        try:
            with _resumable(going_on):
                return _logged(asked, factories, opened, out, going_on, watching.evaluated)
        except TooManyErrors as error:
            stopped = f"{error}\nlog: {out}\nnext: {going_on} --retry-errors"
    print(stopped, file=sys.stderr)
    return None


def _logged(
    asked: Evaluation,
    factories: "Mapping[str, Factory]",
    opened: OpenedSet,
    out: Path,
    command: str,
    listener: "Listener",
) -> "EvalLog":
    from evals.run import evaluate

    work = evaluate(
        factories,
        opened.made,
        opened.corpus,
        out,
        plan=asked.plan(),
        conduct=asked.conduct(),
        notes=opened.notes(command),
        listener=listener,
    )
    return asyncio.run(work)


def _default_out(asked: Evaluation, manifest: "Manifest") -> Path:
    """A folder that the same command finds again."""
    model = "".join(char if char.isalnum() or char in "._" else "-" for char in asked.common.model)
    short = model[:40].rstrip("._-")
    name = f"{manifest.question_set.name}-{short}-{manifest.identity[:8]}"
    return Path(LOGS) / name


@contextmanager
def _resumable(command: str) -> Iterator[None]:
    """Name the command that goes on when the block is interrupted, or stopped by a mistake that can be mended."""
    try:
        yield
    except (KeyboardInterrupt, RunCancelled) as interrupt:
        raise Interrupted(command) from interrupt
    except (LimitsError, RunError):
        raise  # the same command would end in the same way
    except UserError as error:
        then(error, command)
        raise


def say_about(log: "EvalLog", latency: "Mapping[str, Latency]") -> None:
    """Where the log is, what is odd about it, and what depends on clocks, on standard error."""
    if log.cut:
        print(
            "a half-written line of the log was dropped and its sample evaluated again",
            file=sys.stderr,
        )
    print("\n".join([f"log: {log.folder}", *latency_lines(latency)]), file=sys.stderr)
