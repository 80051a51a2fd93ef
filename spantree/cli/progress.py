"""Progress on standard error while a run works: bars on a terminal, a short line now and then elsewhere.

The journal is the record of a run; this only shows that it moves. Nothing here can change a run.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from spantree.cli.terminal import count, cut_left, plain

if TYPE_CHECKING:
    from evals.optimization import Moment as OptimizationMoment
    from evals.progress import Moment
    from programs.progress import Progress as RunProgress

QUIET_START = 2.0
"""Seconds without a line where there is no terminal: a short run says nothing."""

EVERY = 5.0
"""Seconds between two lines where there is no terminal."""


class Watcher:
    """Sees progress (sources parsed, a run, an evaluation) and shows nothing: the base of those that do."""

    def parsed(self, done: int, total: int, source_id: str) -> None:
        """`done` of `total` sources are parsed."""

    def ran(self, progress: "RunProgress") -> None:
        """The run moved."""

    def evaluated(self, moment: "Moment") -> None:
        """The evaluation moved."""

    def optimized(self, moment: "OptimizationMoment") -> None:
        """The optimization moved."""

    def rescored(self, done: int, total: int) -> None:
        """`done` of `total` answers are scored again."""

    def judged(self, done: int, total: int) -> None:
        """`done` of `total` statements are judged."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@dataclass
class Lines(Watcher):
    """A watcher that prints a short line every few seconds, after a silent start."""

    stream: TextIO
    clock: Callable[[], float] = time.monotonic
    due: float = field(init=False)

    def __post_init__(self) -> None:
        self.due = self.clock() + QUIET_START

    def parsed(self, done: int, total: int, source_id: str) -> None:
        """Say how many sources are parsed."""
        self._say(f"parsing: {done} of {total} sources")

    def ran(self, progress: "RunProgress") -> None:
        """Say what the run does."""
        self._say(run_words(progress))

    def evaluated(self, moment: "Moment") -> None:
        """Say how far the evaluation is, and how good."""
        self._say(f"evaluating: {moment.done:,}/{moment.total:,}, {metric_words(moment)}")

    def optimized(self, moment: "OptimizationMoment") -> None:
        """Say how far the optimization is, what it found and what it used."""
        done, total = rollouts_of(moment)
        spent = "" if moment.phase == "test" else f", {spent_words(moment)}"
        self._say(f"{moment.phase}: {done:,}/{total:,}, {best_words(moment)}{spent}")

    def rescored(self, done: int, total: int) -> None:
        """Say how many answers are scored again."""
        self._say(f"scoring: {done:,} of {total:,} answers")

    def judged(self, done: int, total: int) -> None:
        """Say how many statements are judged."""
        self._say(f"judging: {done:,} of {total:,} statements")

    def _say(self, line: str) -> None:
        now = self.clock()
        if now >= self.due:
            self.due = now + EVERY
            print(line, file=self.stream, flush=True)


class Bars(Watcher):
    """A watcher that draws bars on a terminal and takes them away at the end."""

    def __init__(self, console: Console) -> None:
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[note]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._parsing: TaskID | None = None
        self._running: TaskID | None = None
        self._width = console.width

    def parsed(self, done: int, total: int, source_id: str) -> None:
        """Move the bar of the sources."""
        if self._parsing is None:
            self._parsing = self._bars.add_task("reading", total=total, note="")
        note = f"{done}/{total} {cut_left(plain(source_id), max(10, self._width - 55))}"
        self._bars.update(self._parsing, completed=done, total=total, note=note)

    def ran(self, progress: "RunProgress") -> None:
        """Move the bar of the run."""
        total = progress.total if progress.total > 1 else None
        self._move(progress.phase, progress.done, total, _counts(progress))

    def evaluated(self, moment: "Moment") -> None:
        """Move the bar of the samples."""
        note = f"{moment.done:,}/{moment.total:,} {metric_words(moment)}"
        self._move("evaluating", moment.done, moment.total, note)

    def optimized(self, moment: "OptimizationMoment") -> None:
        """Move the bar of the rollouts, or of the samples that are tested."""
        done, total = rollouts_of(moment)
        spent = "" if moment.phase == "test" else f"\n{spent_words(moment)}"
        note = f"{done:,}/{total:,} {best_words(moment)}{spent}"
        self._move(moment.phase, done, total, note)

    def rescored(self, done: int, total: int) -> None:
        """Move the bar of the answers."""
        self._move("scoring", done, total, f"{done:,}/{total:,}")

    def judged(self, done: int, total: int) -> None:
        """Move the bar of the statements."""
        self._move("judging", done, total, f"{done:,}/{total:,}")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def _move(self, what: str, done: int, total: int | None, note: str) -> None:
        """Move the bar of what follows the reading, which is over."""
        if self._parsing is not None:
            self._bars.remove_task(self._parsing)
            self._parsing = None
        if self._running is None:
            self._running = self._bars.add_task(what, total=None, note="")
        self._bars.update(self._running, description=what, completed=done, total=total, note=note)


@dataclass
class Admission(Watcher):
    """Remembers the id of the run that was admitted, and passes everything on to a watcher."""

    inner: Watcher
    run_id: str = ""

    def parsed(self, done: int, total: int, source_id: str) -> None:
        """Pass it on."""
        self.inner.parsed(done, total, source_id)

    def ran(self, progress: "RunProgress") -> None:
        """Note the run and pass it on."""
        self.run_id = progress.run_id or self.run_id
        self.inner.ran(progress)


def run_words(progress: "RunProgress") -> str:
    """One line about where a run stands."""
    return f"{progress.phase}: {_counts(progress)}"


def metric_words(moment: "Moment") -> str:
    """The metrics of an evaluation so far; what is undefined yet is left out."""
    shown = (("verified-correct", moment.verified), ("recall", moment.recall))
    parts = [f"{name} {value:.2f}" for name, value in shown if value is not None]
    parts += [count(moment.errors, "error")] if moment.errors else []
    parts += [count(moment.calls, "call")]
    parts += [f"{moment.kept:,} from before"] if moment.kept else []
    return ", ".join(parts)


def rollouts_of(moment: "OptimizationMoment") -> tuple[int, int]:
    """How many rollouts there are of how many; while before and after are compared, how many samples."""
    if moment.phase == "test":
        return moment.tested, moment.to_test
    return moment.rollouts, moment.budget


def best_words(moment: "OptimizationMoment") -> str:
    """What an optimization found so far: the score of the program as it was given, and the best one."""
    parts = [count(moment.candidates, "candidate")]
    if moment.seed_score is not None and moment.best is not None:
        parts.append(f"score {moment.seed_score:.3f} → {moment.best:.3f}")
    return ", ".join(parts)


def spent_words(moment: "OptimizationMoment") -> str:
    """What an optimization used so far: its calls and those that reflect, the tokens and the cost of both."""
    from evals.numerals import compact

    spent = moment.spent
    calls = count(spent.calls, "call") + (
        f" + {spent.reflection_calls:,} reflecting" if spent.reflection_calls else ""
    )
    cost = "cost not known" if spent.cost_usd is None else f"${spent.cost_usd:,.4g}"
    return f"{calls}, {compact(spent.tokens + spent.reflection_tokens)} tokens, {cost}"


def _counts(progress: "RunProgress") -> str:
    parts = [f"{progress.done:,}/{progress.total:,}"] if progress.total > 1 else []
    parts += [count(progress.calls, "call"), count(progress.tokens, "token")]
    return ", ".join(parts)


def watcher(stream: TextIO, *, quiet: bool) -> Watcher:
    """Bars for a terminal, lines for anything else, nothing when quiet."""
    if quiet:
        return Watcher()
    console = Console(file=stream)
    return Bars(console) if console.is_terminal else Lines(stream)
