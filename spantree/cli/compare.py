"""The verb `compare`: programs of logs held against one of them, on the same questions."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runtime.errors import RunError
from spantree.cli import logs, options
from spantree.cli.comparison_table import COLUMNS, row_of
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.tables import print_table

if TYPE_CHECKING:
    from rich.console import Console

    from evals.compare import Comparison, Difference
    from evals.contenders import Contender
    from evals.log import EvalLog
    from evals.rivals import Regret

SHOWN = (
    "verified_correct",
    "evidence_recall",
    "citation_precision",
    "correct",
    "citation_validity",
    "unsupported",
    "target_coverage",
    "calls",
    "tokens",
    "cost_usd",
    "seconds",
)
"""Metrics that the table has; `--json` has all of them."""
_DIFFERENCES = 6


def compare(
    log: logs.Logs,
    program: logs.Only = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The program to hold the others against.", show_default="the first"
        ),
    ] = None,
    metric: logs.Metric = "verified_correct",
    flips: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many flipped questions to list each way.")
    ] = 20,
    seed: logs.Seed = 0,
    json: options.Json = False,
) -> None:
    """Compare programs on the same questions, with paired tests.

    Every program of every log is held against the baseline. A difference is over questions that have a value in
    both; its interval resamples documents; p is exact McNemar for right and wrong, else of sign flips, which take
    questions as independent also where they share a document; Holm adjusts it among the three primary metrics. The
    questions that flipped in --metric are listed each way. Logs whose scores were not computed alike are refused.

    \b
    Examples:
      spantree compare runs/today
      spantree compare runs/before runs/after --program recursive
      spantree compare runs/today --baseline recursive --json
    """
    from evals.compare import compare as compared
    from evals.contenders import contenders
    from evals.measures import measure

    decisive = measure(metric)
    read = logs.read_logs(log)
    entered = contenders(read, program or ())
    first = _baseline(entered, baseline)
    others = [each for each in entered if each is not first]
    if not others:
        raise RunError(
            f"there is nothing to hold {first.label} against", hint="name another log or program"
        )
    found = [compared(first, each, seed=seed) for each in others]
    regret = _regret(entered, seed)
    if json:
        print_json(_json(found, regret, read))
        return
    console = standard_output()
    for at, each in enumerate(found):
        _print(each, decisive.name, flips, console, blank=at > 0)
    page = Page(page_width(console))
    _add_regret(page, regret)
    _add_logs(page, read)
    if page.lines:
        console.print()
        print_page(page, console)


def _baseline(entered: "list[Contender]", chosen: str | None) -> "Contender":
    if chosen is None:
        return entered[0]
    found = [each for each in entered if chosen in (each.label, each.program)]
    if len(found) != 1:
        names = ", ".join(each.label for each in found or entered)
        told = f"there is no program {chosen}" if not found else f"{chosen} is not the only one"
        raise RunError(told, hint=f"one of: {names}")
    return found[0]


def _print(found: "Comparison", metric: str, most: int, console: "Console", *, blank: bool) -> None:
    width = page_width(console)
    head = Page(width)
    if blank:
        console.print()
    head.heading(found.after, f"against {found.before}")
    print_page(head, console)
    rows = [row_of(found.of(name)) for name in SHOWN if found.of(name).pairs]
    print_table(COLUMNS, rows, console, width)
    page = Page(width)
    told = found.of(metric)
    _add_flips(page, "better", told.gained, most)
    _add_flips(page, "worse", told.lost, most)
    left_out = _left_out(told)
    if left_out:
        page.item(f"no pair in {told.measure}: {left_out}")
    if any(told.errors):
        page.item(_errors(told))
    if told.power:
        page.item(told.power)
    print_page(page, console)


def _add_flips(page: Page, how: str, flipped: tuple[str, ...], most: int) -> None:
    shown = ", ".join(flipped[:most])
    rest = f", and {len(flipped) - most:,} more" if len(flipped) > most else ""
    page.item(f"{how} on {len(flipped):,}" + (f": {shown}{rest}" if flipped and most else ""))


def _left_out(found: "Difference") -> str:
    counts = (
        (len(found.undefined), "undefined"),
        (len(found.failed) - len(found.thinned), "ended in an error"),
        (len(found.unpaired), "in one log only"),
    )
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def _errors(found: "Difference") -> str:
    from evals.numerals import plural

    before, after = found.errors
    told = f"samples that ended in an error: {before:,} before, {after:,} after"
    if not found.thinned:
        return told
    return f"{told}; {plural(len(found.thinned), 'pair')} rest on the epochs that did not"


def _regret(entered: "list[Contender]", seed: int) -> "list[Regret]":
    """The regret of each program that chooses, against the others of its log."""
    from evals.rivals import CHOOSER, regret

    found = []
    for chooser in (each for each in entered if each.family == CHOOSER):
        others = [e for e in entered if e.log is chooser.log and e.family != CHOOSER]
        if others:
            found.append(regret(chooser, others, seed=seed))
    return found


def _add_regret(page: Page, found: "list[Regret]") -> None:
    from evals.numerals import share

    for each in found:
        page.heading(f"Regret of {each.program}")
        bounds = f" [{share(each.interval[0])}, {share(each.interval[1])}]" if each.interval else ""
        page.item(
            f"{share(each.mean)}{bounds} of {each.measure} against the best program for each of"
            f" {each.questions:,} questions"
        )
        if each.gap is not None:
            how = "more" if each.gap > 0 else "less"
            page.item(f"always {each.best}: {abs(each.gap):.2f} {how}")


def _add_logs(page: Page, read: "list[EvalLog]") -> None:
    """What the logs differ in, and what is missing from them."""
    from evals.manifest import differences

    for log in read[1:]:
        found = differences(read[0].manifest, log.manifest)
        if found:
            page.heading(f"{read[0].folder} and {log.folder} differ in")
            for each in found[:_DIFFERENCES]:
                page.item(each)
            if len(found) > _DIFFERENCES:
                page.item(f"and {len(found) - _DIFFERENCES:,} more")
    for log in read:
        if log.missing:
            page.heading(
                f"{log.folder} is not finished", f"{len(log.missing):,} samples are missing"
            )


def _json(
    found: "list[Comparison]", regret: "list[Regret]", read: "list[EvalLog]"
) -> dict[str, Any]:
    return {
        "comparisons": [asdict(each) for each in found],
        "regret": [asdict(each) for each in regret],
        "logs": [
            {
                "folder": str(log.folder),
                "identity": log.manifest.identity,
                "samples": len(log.records),
                "errors": len(log.errors),
                "missing": len(log.missing),
            }
            for log in read
        ],
    }
