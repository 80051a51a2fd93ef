"""The table of an evaluation: one row a program, within 80 columns, and what the table leaves out."""

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spantree.cli.output import page_width, print_json, standard_output
from spantree.cli.tables import Column, print_table
from spantree.cli.terminal import count

if TYPE_CHECKING:
    from evals.log import EvalLog
    from evals.results import Estimated, Latency, ProgramResult, Results

_NOTHING = "-"
_COLUMNS = (
    Column("program", share=1),
    Column("n", right=True),
    Column("err", right=True),
    Column("verified-correct", right=True),
    Column("recall", right=True),
    Column("prec", right=True),
    Column("abst", right=True),
    Column("calls", right=True),
    Column("tokens", right=True),
)


def print_results(
    found: "Results", *, json: bool, log: "EvalLog", more: Mapping[str, Any] | None = None
) -> None:
    """Print the table, or everything as JSON, with `more`. Nothing of a table depends on clocks."""
    if json:
        print_json({**found.model_dump(mode="json"), "log": str(log.folder), **(more or {})})
        return
    console = standard_output()
    width = min(page_width(console), 80)
    print_table(_COLUMNS, [_row(each) for each in found.programs], console, width)
    for line in _notes(found):
        console.print(line, soft_wrap=True)
    sys.stdout.flush()


def latency_lines(latency: "Mapping[str, Latency]") -> list[str]:
    """The seconds of the samples, a line a program."""
    return [f"seconds a sample, {name}: {_seconds(each)}" for name, each in latency.items()]


def _row(result: "ProgramResult") -> tuple[str, ...]:
    estimates = result.estimates
    return (
        result.program,
        f"{result.samples:,}",
        f"{result.errors:,}",
        _with_interval(estimates["verified_correct"]),
        _mean(estimates["evidence_recall"]),
        _mean(estimates["citation_precision"]),
        _share(result.summary.abstention.recall.value),
        f"{result.calls:,}",
        _thousands(result.tokens),
    )


def _notes(found: "Results") -> Iterator[str]:
    """What the columns are, and what is in none of them."""
    yield ""
    yield (
        f"{found.question_set}: {count(found.questions, 'question')}"
        + (f", {found.epochs} epochs" if found.epochs > 1 else "")
        + f", seed {found.seed}, digest {found.digest}"
    )
    yield "verified-correct with its 95 % interval over documents; recall and prec of"
    yield "evidence by characters and citations; abst: abstained of the unanswerable."
    verified = [each.estimates["verified_correct"] for each in found.programs]
    if any(each.mean is not None and each.low is None for each in verified):
        yield "There is no interval where all questions rest on the same document."
    for each in found.programs:
        yield from _left_out(each)
    if found.judge:
        from evals.calibration import caveat

        yield from map(_support, found.programs)
        yield caveat(found.judge)


def _left_out(result: "ProgramResult") -> Iterator[str]:
    if result.samples < result.planned:
        yield f"{result.program}: {result.planned - result.samples:,} samples are missing"
    if result.errors:
        classes = ", ".join(f"{name} {number}" for name, number in result.error_classes.items())
        yield f"{result.program}: {count(result.errors, 'error')} ({classes}), in no metric"
    if result.unscored:
        yield f"{result.program}: {count(result.unscored, 'answer')} not scored: spantree rescore"
    if result.failed:
        yield f"{result.program}: {count(result.failed, 'answer')} failed: no success, and no error either"
    undefined = result.estimates["verified_correct"].undefined
    if undefined:
        yield f"{result.program}: verified-correct is undefined for {count(undefined, 'question')}"
    if result.retried:
        yield f"{result.program}: {count(len(result.retried), 'sample')} took several attempts"
    if result.attempts_unaccounted:
        what = count(result.attempts_unaccounted, "failed attempt")
        yield f"{result.program}: what {what} used is unknown, and in no number of calls or tokens"


def _support(result: "ProgramResult") -> str:
    found = result.support
    bounds = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return (
        f"{result.program}: unsupported {_share(found.rate)}{bounds},"
        f" {found.unsupported:,} of {count(found.judged, 'judged statement')}; {found.unjudged:,} unjudged"
    )


def _with_interval(found: "Estimated") -> str:
    if found.low is None or found.high is None:
        return _mean(found)
    return f"{_mean(found)} [{found.low:.2f}, {found.high:.2f}]"


def _mean(found: "Estimated") -> str:
    return _share(found.mean)


def _share(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.2f}"


def _thousands(number: int) -> str:
    return f"{number:,}" if number < 10_000 else f"{number / 1000:,.0f}k"


def _seconds(found: "Latency") -> str:
    if found.median is None or found.p95 is None:
        return f"unknown ({found.cached:,} cached)" if found.cached else "unknown"
    low = "unbounded" if found.p95_low is None else f"{found.p95_low:.2f}"
    high = "unbounded" if found.p95_high is None else f"{found.p95_high:.2f}"
    cached = f", {found.cached:,} cached left out" if found.cached else ""
    return (
        f"median {found.median:.2f}, P95 {found.p95:.2f} [{low}, {high}], n {found.timed:,}{cached}"
    )
