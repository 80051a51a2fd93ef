"""Evaluation: from what was asked at the command line to a log and its table."""

import asyncio
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from runtime.errors import LimitsError, RunCancelled, RunError, UserError
from spantree.cli.display import BANNER
from spantree.cli.evaluation_table import latency_lines, print_results
from spantree.cli.exits import NO_ANSWER, OK, Interrupted
from spantree.cli.flags import FLAGS
from spantree.cli.progress import watcher
from spantree.cli.question_set import OpenedSet, opened_set
from spantree.cli.settings import DEFAULT_LIMITS, DEFAULT_MODEL, Settings
from spantree.cli.store import store_folder
from spantree.cli.variants import variants

if TYPE_CHECKING:
    from evals.executor import Factory
    from evals.log import EvalLog
    from evals.manifest import Manifest
    from evals.progress import Listener
    from evals.results import Results
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
        common, limits = self.common, self.common.limits
        given = {
            "--program": self.programs,
            "--set": self.question_set,
            "--model": common.model,
            "--leaf-model": None if common.leaf_model == common.model else common.leaf_model,
            "--api-base": common.api_base,
            "--partition": None if common.partitioner == "auto" else common.partitioner,
            "--leaf-characters": common.leaf_characters,
            "--out": out,
            "--epochs": None if self.epochs == 1 else self.epochs,
            "--limit": self.limit,
            "--split": self.split,
            "--seed": self.seed or None,
            "--concurrency": None if self.concurrency == 4 else self.concurrency,
            "--max-errors": None if self.max_errors == "10%" else self.max_errors,
            "--retries": self.retries or None,
            "--store": self.store,
            **{
                FLAGS[name]: getattr(limits, name)
                for name in ("calls", "tokens", "cost_usd", "wall_seconds", "depth")
                if getattr(limits, name) != getattr(DEFAULT_LIMITS, name)
            },
        }
        words = [
            word
            for name, value in given.items()
            if value is not None
            for word in (name, str(value))
        ]
        return shlex.join(["spantree", "eval", *words])

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
    from evals.run import manifest_of
    from evals.selection import selected
    from evals.tolerance import TooManyErrors

    plan, conduct = asked.plan(), asked.conduct()
    chosen = variants(asked.programs, asked.common)
    models = asked.common.models()
    store = store_folder(asked.store)
    _say_banner(asked)
    factories = {each.name: each.factory(models) for each in chosen}
    opened = opened_set(asked.question_set, store)
    questions = selected(opened.made, split=plan.split, limit=plan.limit, seed=plan.seed)
    out = asked.out or _default_out(asked, manifest_of(factories, opened.made, questions, plan))
    log, stopped = None, ""
    with watcher(sys.stderr, quiet=asked.quiet) as watching:
        opened.check((each.corpus for each in questions), watching)
        command = asked.command(out)
        try:
            with _resumable(command):
                log = _evaluated(asked, factories, opened, out, plan, conduct, watching.evaluated)
        except TooManyErrors as error:
            stopped = f"{error}\nlog: {out}\nnext: {command} --retry-errors"
    if log is None:
        print(stopped, file=sys.stderr)
        return NO_ANSWER
    found = results(log)
    if not asked.quiet:
        _say_about(log, found)
    print_results(found, json=asked.json, log=log)
    return OK


def _evaluated(
    asked: Evaluation,
    factories: "dict[str, Factory]",
    opened: OpenedSet,
    out: Path,
    plan: "Plan",
    conduct: "Conduct",
    listener: "Listener",
) -> "EvalLog":
    from evals.manifest import Notes
    from evals.provenance import checkout
    from evals.run import evaluate

    commit, dirty = checkout()
    notes = Notes(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=commit,
        dirty=dirty,
        command=asked.command(out),
        set_folder=str(opened.folder.absolute()),
        store=str(opened.store),
    )
    work = evaluate(
        factories,
        opened.made,
        opened.corpus,
        out,
        plan=plan,
        conduct=conduct,
        notes=notes,
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
        error.hint = f"{error.hint}; then: {command}" if error.hint else command
        raise


def _say_banner(asked: Evaluation) -> None:
    if DEFAULT_MODEL in (asked.common.model, asked.common.leaf_model) and not asked.quiet:
        print(BANNER, file=sys.stderr)


def _say_about(log: "EvalLog", found: "Results") -> None:
    """Where the log is, what is odd about it, and what depends on clocks, on standard error."""
    if log.cut:
        print(
            "a half-written line of the log was dropped and its sample evaluated again",
            file=sys.stderr,
        )
    print("\n".join([f"log: {log.folder}", *latency_lines(found)]), file=sys.stderr)
