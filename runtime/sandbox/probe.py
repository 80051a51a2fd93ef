"""A probe: one promise of a sandbox, and the bench on which it is tried, a fresh sandbox guarded as in a run."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dspy.primitives.code_interpreter import CodeExecutionError, FinalOutput

from runtime.limits import Limits
from runtime.sandbox.guarded import Cell, Guarded, InterpreterFactory, guarded
from runtime.sandbox.watch import resident_bytes

LIMITS = Limits(sandbox_seconds=1.0, sandbox_output_chars=5_000, sandbox_suspensions=50)
TOLERANCE_SECONDS = 1.0
TOLERANCE_MB = 64


class Broken(Exception):
    """Raised by a probe whose promise does not hold."""


@dataclass(frozen=True)
class Verdict:
    """`holds`, and the numbers or the reason."""

    holds: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'fails'}{': ' if self.detail else ''}{self.detail}"


class Bench:
    """One fresh guarded sandbox, its cells, and an empty folder on the host for what a probe needs there."""

    def __init__(self, factory: InterpreterFactory, limits: Limits, folder: Path) -> None:
        self.factory = factory
        self.limits = limits
        self.folder = folder
        self.cells: list[Cell] = []
        self.sandbox: Guarded = guarded(factory, limits, self.cells.append)()
        self.sandbox.output_fields = [{"name": "answer", "type": "str"}]

    def run(self, code: str, **variables: Any) -> Any:
        """The result of a cell, or its error as text that starts with `[Error] `."""
        try:
            return self.sandbox.execute(code, variables or None)
        except (CodeExecutionError, SyntaxError) as error:
            return f"[Error] {error}"

    def tool(self, **tools: Callable[..., Any]) -> None:
        self.sandbox.tools.update(tools)

    @property
    def last(self) -> Cell:
        return self.cells[-1]

    def check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise Broken(otherwise)

    def check_next_cell(self) -> None:
        """The cell after a bad one works, and a loss was told."""
        if self.last.reset:
            self.check("variables" in self.last.error, f"loss not told: {self.last.error[:80]}")
        result = self.run("print(6 * 7)")
        self.check(str(result).strip() == "42", f"the next cell gave {result!r:.80}")

    def check_failed_in_time(self, code: str) -> str:
        """A cell without end ends at its limit; the next one works."""
        result = self.run(code)
        over = self.last.seconds_in_sandbox - self.limits.sandbox_seconds
        self.check(over <= TOLERANCE_SECONDS, f"{over:.2f} s over the limit")
        self.check(self.last.error != "", f"it ended well: {result!r:.60}")
        self.check_next_cell()
        return f"{max(over, 0):.2f} s over"

    @contextmanager
    def host_memory_within(self, megabytes: int) -> Iterator[None]:
        before = host_peak_bytes(fresh=True)
        yield
        grown = (host_peak_bytes() - before) >> 20
        self.check(grown <= megabytes, f"the host grew by {grown} MB, {megabytes} allowed")


@dataclass(frozen=True)
class Probe:
    """One promise: `name` in a table, `promise` in a sentence, `check` raises Broken or gives the numbers."""

    name: str
    promise: str
    check: Callable[[Bench], str | None]

    def run(self, factory: InterpreterFactory, folder: Path, limits: Limits = LIMITS) -> Verdict:
        """The verdict on a fresh sandbox. `folder` is an empty one."""
        bench = Bench(factory, limits, folder)
        try:
            bench.run("None")
            return Verdict(True, self.check(bench) or "")
        except Broken as broken:
            return Verdict(False, str(broken))
        finally:
            bench.sandbox.shutdown()


def starting_seconds(factory: InterpreterFactory, limits: Limits = LIMITS) -> float:
    """Seconds from nothing to the result of a first cell."""
    sandbox = guarded(factory, limits)()
    began = time.monotonic()
    try:
        sandbox.execute("print(1)")
        return time.monotonic() - began
    finally:
        sandbox.shutdown()


def submitted(result: Any) -> bool:
    return isinstance(result, FinalOutput)


def host_peak_bytes(fresh: bool = False) -> int:
    """The peak of this process's resident memory; with `fresh`, counted anew from now. 0 where it cannot be known."""
    try:
        if fresh:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) << 10


def worker_peak_bytes(pid: int | None) -> int:
    """The peak resident memory of a worker that is alive."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return resident_bytes(pid)
    peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM 0")
    return int(peak.split()[1]) << 10
