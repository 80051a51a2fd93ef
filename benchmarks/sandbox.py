"""The conformance of the sandboxes: what each interpreter keeps of what is promised, and what it costs.

    python benchmarks/sandbox.py [monty deno local]

Without names, every interpreter at hand: Monty, Deno where it is installed, and DSPy's LocalInterpreter, a plain
process without a wall, for contrast. Each runs in a process of its own; a probe that hangs is killed and has failed.
"""

import argparse
import multiprocessing
import os
import signal
import statistics
import tempfile
import threading
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import dspy

from runtime.errors import SandboxError
from runtime.sandbox import InterpreterFactory, sandbox_factory
from runtime.sandbox.conformance import PROBES
from runtime.sandbox.probe import (
    LIMITS,
    Bench,
    Verdict,
    host_peak_bytes,
    starting_seconds,
    worker_peak_bytes,
)

NAMES = ("monty", "deno", "local")
TITLES = {"monty": "monty", "deno": "deno", "local": "local, unsafe"}
HANG_SECONDS = 180
STARTS = 5


class LocalSandbox(dspy.LocalInterpreter):
    """DSPy's LocalInterpreter with the one limit that it has. It is no sandbox."""

    def __init__(self) -> None:
        super().__init__(execution_timeout=LIMITS.sandbox_seconds)

    @property
    def worker_pid(self) -> int | None:
        return self._process.pid if self._process else None


@dataclass
class Column:
    """What is known of one interpreter: a verdict a probe, and figures in the order in which they were taken."""

    name: str
    verdicts: list[Verdict] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)


def factory_of(name: str) -> InterpreterFactory:
    return LocalSandbox if name == "local" else sandbox_factory(name, LIMITS)


def measured(name: str) -> Column:
    """All probes and figures of one interpreter, in child processes that may be killed."""
    column = Column(name)
    while len(column.verdicts) < len(PROBES) or not column.figures:
        _work_on(column)
    return column


def _work_on(column: Column) -> None:
    """Take what a child process reports, until it is done or hangs."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    done = len(column.verdicts)
    child = context.Process(target=_report, args=(column.name, done, sending), daemon=True)
    child.start()
    sending.close()
    try:
        while receiving.poll(HANG_SECONDS):
            _take(column, receiving.recv())
        _take(column, Verdict(False, f"hung for {HANG_SECONDS} s"))
    except EOFError:
        if len(column.verdicts) == done and not column.figures:
            _take(column, Verdict(False, "the host process died"))
    finally:
        if child.pid and child.is_alive():
            os.killpg(child.pid, signal.SIGKILL)
        child.join()


def _take(column: Column, report: Verdict | dict[str, str]) -> None:
    if isinstance(report, dict):
        column.figures = report
    elif len(column.verdicts) < len(PROBES):
        column.verdicts.append(report)
    else:
        column.figures = {"figures": report.detail}


def _report(name: str, done: int, sending: Connection) -> None:
    """In the child: the verdicts from probe number `done` on, then the figures."""
    os.setsid()
    factory = factory_of(name)
    for probe in PROBES[done:]:
        with tempfile.TemporaryDirectory() as folder:
            sending.send(probe.run(factory, Path(folder)))
    sending.send(_figures(factory))
    sending.close()


def _figures(factory: InterpreterFactory) -> dict[str, str]:
    starts = [starting_seconds(factory) for _ in range(STARTS)]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(factory, LIMITS, Path(folder))
        try:
            return {
                "first cell, from nothing": f"{statistics.median(starts) * 1000:,.0f} ms",
                "infinite loop, past its limit": _over_run(bench),
                **_memory(bench),
            }
        finally:
            bench.sandbox.shutdown()


def _over_run(bench: Bench) -> str:
    bench.run("while True: pass")
    return f"{(bench.last.seconds_in_sandbox - bench.limits.sandbox_seconds) * 1000:,.0f} ms"


def _memory(bench: Bench) -> dict[str, str]:
    """What a memory bomb takes, in the worker (its peak, looked at every few milliseconds) and on the host."""
    peaks, over = [0], threading.Event()
    pid = bench.sandbox.worker_pid

    def look() -> None:
        while not over.wait(0.002):
            peaks.append(worker_peak_bytes(pid))

    bench.run("None")
    idle = worker_peak_bytes(pid)
    watcher = threading.Thread(target=look)
    watcher.start()
    before = host_peak_bytes(fresh=True)
    cap = bench.limits.sandbox_memory_mb
    bench.run(f"kept = []\nfor n in range({4 * cap}): kept.append(str(n % 10) * (1 << 20))")
    grown = host_peak_bytes() - before
    over.set()
    watcher.join()
    return {
        "worker, idle": f"{idle >> 20:,} MB",
        f"worker, memory bomb, cap {cap} MB": f"{max(peaks) >> 20:,} MB",
        "host, memory bomb, growth": f"{grown >> 20:,} MB",
    }


def table(columns: list[Column]) -> str:
    """The table, within 80 columns."""
    lines = [_line("property", [TITLES[column.name] for column in columns])]
    lines.append("-" * len(lines[0]))
    for number, probe in enumerate(PROBES):
        marks = ["holds" if column.verdicts[number].holds else "FAILS" for column in columns]
        lines.append(_line(probe.name, marks))
    lines.append("")
    for figure in columns[0].figures:
        lines.append(_line(figure, [column.figures.get(figure, "?") for column in columns]))
    return "\n".join(lines)


def _line(first: str, rest: list[str]) -> str:
    return f"{first:<38}" + "".join(f"{cell:>14.14}" for cell in rest)


def details(column: Column) -> str:
    pairs = zip(PROBES, column.verdicts, strict=True)
    return "\n".join(f"  {probe.name}: {verdict}" for probe, verdict in pairs if verdict.detail)


def at_hand() -> list[str]:
    """The interpreters that can be made here."""
    found = []
    for name in NAMES:
        try:
            factory_of(name)
        except SandboxError as error:
            print(f"{name} is left out: {error.message}; {error.hint}")
        else:
            found.append(name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="interpreter", help=", ".join(NAMES))
    columns = [measured(name) for name in parser.parse_args().names or at_hand()]
    print(table(columns))
    for column in columns:
        print(f"\n{column.name}\n{details(column)}")


if __name__ == "__main__":
    main()
