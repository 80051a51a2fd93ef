"""Benchmark of the search: a large log against grep, Python's re and bare Arrow kernels, in one run.

    python benchmarks/scan.py [--lines N] [--repeat N]

Every figure is the best of the repeats. The ratio compares the whole scan (counts by source and time, a page of
hits) with the bare kernel, which only yields the mask of matching lines. Indexing is measured in a process of its own.
"""

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from log_file import write_log
from pyarrow.compute import MatchSubstringOptions, call_function

from data.corpus import Corpus, load_corpus, open_corpus
from data.lines import split_lines
from data.pattern import Pattern

PATTERNS = {
    "literal, rare": '"Connection pool exhausted"',
    "literal, common": '"GET /orders/"',
    "literal, absent": '"no such line"',
    "bare address": "10.2.33.7",
    "regex": r"/Failed password .* from 10\.2\.\d+\.7 /",
    "regex, common": r"/status=20[01] duration=\d{4}ms/",
    "regex, ignore case": r"/connection POOL (exhausted|drained)/i",
}


@dataclass(frozen=True)
class Row:
    """Seconds of each way to find the lines of one pattern; None: the tool is missing. `hits` are lines."""

    name: str
    hits: int
    grep: float | None
    python: float
    kernel: float
    scan: float


def main() -> None:
    """Generate, index, measure, print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="spantree-scan-") as name:
        folder = Path(name)
        log = folder / "shop.log"
        write_log(log, options.lines)
        print(
            f"{options.lines:,} lines, {log.stat().st_size / 1e6:.1f} MB; best of {options.repeat}"
        )
        _print_opening(log, folder / "store")
        corpus = open_corpus([log], store=folder / "store")
        rows = [
            _row(name, notation, log, corpus, options.repeat) for name, notation in PATTERNS.items()
        ]
        _print_rows(rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benchmark of the search over one large log.")
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of the log (1,000,000)")
    parser.add_argument("--repeat", type=int, default=5, help="repeats; the best counts (5)")
    parser.add_argument("--index", nargs=2, metavar=("LOG", "STORE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.index:
        _index(*options.index)
        sys.exit()
    return options


def _index(log: str, store: str) -> None:
    """Index in this process, and print what it took: seconds, and the growth of the peak memory in MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    open_corpus([log], store=Path(store))
    seconds = time.perf_counter() - started
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, before / 1024)


def _print_opening(log: Path, store: Path) -> None:
    command = [sys.executable, __file__, "--index", str(log), str(store)]
    for title in ("first time", "second time"):
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, peak, imports = map(float, run.stdout.split())
        print(
            f"open, {title}: {seconds:.3f} s, peak memory {peak:.0f} MB (imports alone {imports:.0f} MB)"
        )
    started = time.perf_counter()
    version = open_corpus([log], store=store).version
    print(f"open again, same process: {time.perf_counter() - started:.4f} s")
    started = time.perf_counter()
    load_corpus(version, store=store)
    print(f"load by version: {time.perf_counter() - started:.4f} s")


def _row(name: str, notation: str, log: Path, corpus: Corpus, repeat: int) -> Row:
    pattern = Pattern.parse(notation)
    lines = pa.chunked_array([split_lines(log.read_bytes()).text])
    bare = MatchSubstringOptions(pattern.expression, ignore_case=pattern.ignore_case)
    kernel, scan = _best_of_each(
        lambda: call_function("match_substring_regex", [lines], bare),
        lambda: corpus.scan([pattern]),
        repeat=repeat,
    )
    grep, python = _grep(pattern, log, repeat), _python(pattern, log, min(repeat, 2))
    return Row(name, corpus.scan([pattern]).total, grep, python, kernel, scan)


def _grep(pattern: Pattern, log: Path, repeat: int) -> float | None:
    if shutil.which("grep") is None:
        return None
    expression = pattern.expression.replace(r"\d", "[0-9]").replace("(?:", "(")
    case = "-i" if pattern.ignore_case else "-e"
    command = ["grep", "-cE", *([case, "-e"] if case == "-i" else [case]), expression, str(log)]
    return _best(lambda: subprocess.run(command, check=False, capture_output=True), repeat)


def _python(pattern: Pattern, log: Path, repeat: int) -> float:
    expression = re.compile(pattern.expression, re.IGNORECASE if pattern.ignore_case else 0)
    lines = log.read_text(encoding="utf-8").splitlines()
    return _best(lambda: sum(1 for line in lines if expression.search(line)), repeat)


def _best(measured: Callable[[], object], repeat: int) -> float:
    return _best_of_each(measured, repeat=repeat)[0]


def _best_of_each(*measured: Callable[[], object], repeat: int) -> list[float]:
    """The shortest time of each in seconds; they take turns, so that a busy machine is unfair to none."""
    seconds: list[list[float]] = [[] for _ in measured]
    for _ in range(repeat):
        for times, function in zip(seconds, measured, strict=True):
            started = time.perf_counter()
            function()
            times.append(time.perf_counter() - started)
    return [min(times) for times in seconds]


def _print_rows(rows: list[Row]) -> None:
    print(
        f"\n{'pattern':20} {'hits':>9} {'grep -cE':>9} {'re':>9} {'pyarrow':>9} {'scan':>9} {'ratio':>6}"
    )
    for row in rows:
        grep = f"{row.grep:9.3f}" if row.grep is not None else f"{'-':>9}"
        figures = f"{grep} {row.python:9.3f} {row.kernel:9.3f} {row.scan:9.3f}"
        print(f"{row.name:20} {row.hits:9,} {figures} {row.scan / row.kernel:6.2f}")


if __name__ == "__main__":
    main()
