"""The verb `gate`: a check for a CI that a program did not become worse than a baseline by more than a margin."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.errors import RunError, UserError
from spantree.cli import logs, options
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page

if TYPE_CHECKING:
    from evals.contenders import Contender
    from evals.gate import Gate

STATUSES = {"pass": 0, "fail": 1, "inconclusive": 3}
"""Exit status by verdict. With several programs the gravest counts: fail, then inconclusive."""


def gate(
    log: logs.OneLog,
    baseline: Annotated[
        Path,
        typer.Option(metavar="LOG", help="The log to hold it against.", show_default=False),
    ],
    margin: Annotated[
        float,
        typer.Option(
            metavar="X", min=0.0, help="How much worse is still good enough.", show_default=False
        ),
    ],
    metric: logs.Metric = "verified_correct",
    program: logs.Only = None,
    baseline_program: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The program of the baseline, if it has another name.",
            show_default="the same program",
        ),
    ] = None,
    seed: logs.Seed = 0,
    json: options.Json = False,
) -> None:
    """Check that programs are not worse than in a baseline by more than a margin.

    The 95 % interval of the paired gain decides: pass if all of it is at or above -margin, fail if all of it is
    below, else inconclusive, as always with fewer than 8 clusters of documents unless all answers are the same.
    Samples that became errors cannot make a pass.

    \b
    Examples:
      spantree gate runs/branch --baseline runs/main --margin 0.02
      spantree gate runs/branch --baseline runs/main --metric tokens --margin 500

    \b
    Exit status:
      0  pass
      1  fail: worse by more than the margin
      2  a mistake in what was asked for: one message says which
      3  inconclusive: the samples do not say
    """
    from evals.gate import gate as gated
    from evals.measures import measure

    decisive = measure(metric)
    if margin != margin or margin == float("inf"):
        raise UserError("the margin is not a number", hint="give one like 0.02")
    pairs = _pairs(log, baseline, program or [], baseline_program)
    found = [gated(before, after, decisive, margin, seed=seed) for before, after in pairs]
    verdict = max((each.verdict for each in found), key=("pass", "inconclusive", "fail").index)
    if json:
        print_json({"verdict": verdict, "gates": [asdict(each) for each in found]})
    else:
        console = standard_output()
        page = Page(page_width(console))
        for each in found:
            _add(page, each)
        print_page(page, console)
    raise typer.Exit(STATUSES[verdict])


def _pairs(
    log: Path, baseline: Path, programs: list[str], baseline_program: str | None
) -> "list[tuple[Contender, Contender]]":
    """Baselines with what is held against them. Raises RunError for a program that has none: nothing passes unseen."""
    from evals.contenders import contenders

    read = logs.read_logs([log, baseline])
    entered = contenders(read)
    after = [e for e in entered if e.log is read[0] and (not programs or e.program in programs)]
    before = {each.program: each for each in entered if each.log is read[1]}
    unknown = set(programs) - {each.program for each in after}
    if unknown:
        raise RunError(
            f"{log} has no {', '.join(sorted(unknown))}",
            hint=f"it has: {', '.join(read[0].programs)}",
        )
    if baseline_program is None and len(after) == len(before) == 1:
        baseline_program = next(iter(before))
    wanted = [(baseline_program or each.program, each) for each in after]
    lacking = [name for name, _ in wanted if name not in before]
    if lacking:
        raise RunError(
            f"{baseline} has no {', '.join(lacking)}",
            hint=f"it has: {', '.join(before)}; choose with --program and --baseline-program",
        )
    return [(before[name], each) for name, each in wanted]


def _add(page: Page, found: "Gate") -> None:
    from evals.measures import MEASURES
    from evals.numerals import compact, plural, share

    told, measure = found.difference, MEASURES[found.difference.measure]
    write = share if measure.unit == "share" else compact
    page.heading(found.verdict, f"{found.program} against {found.baseline}")
    page.item(
        f"{measure.title}: {write(told.before)} before, {write(told.after)} after,"
        f" over {plural(told.pairs, 'pair')}"
    )
    if found.gain is not None:
        low, high = found.gain
        page.item(f"gain: 95 % interval [{low:+.4g}, {high:+.4g}], margin {found.margin:g}")
    if told.gained or told.lost:
        page.item(f"better on {len(told.gained):,}, worse on {len(told.lost):,}")
    if told.lost:
        shown = ", ".join(told.lost[:10])
        page.item(f"worse: {shown}" + (", ..." if len(told.lost) > 10 else ""))
    for each in found.reasons:
        page.item(each)
