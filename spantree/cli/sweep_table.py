"""The table of a sweep: its configurations by number, within 80 columns, and what the numbers mean."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spantree.cli.output import page_width, print_json, standard_output
from spantree.cli.tables import Column, print_table
from spantree.cli.terminal import count, plain

if TYPE_CHECKING:
    from evals.log import EvalLog
    from evals.trials import Trial, Trials

_NOTHING = "-"
_LETTERS = {"tokens": "t", "calls": "c", "seconds": "s"}
_SHORT = {"evidence_recall": "recall", "citation_precision": "prec", "verified_correct": "verified"}


def print_trials(found: "Trials", *, log: "EvalLog", page: Path, json: bool) -> None:
    """Print the table, or everything as JSON."""
    from evals.report.sweep_page import cautions, verdicts

    if json:
        print_json(
            {
                **found.model_dump(mode="json"),
                "verdicts": verdicts(found),
                "cautions": cautions(found),
                "log": str(log.folder),
                "report": str(page),
            }
        )
        return
    console = standard_output()
    width = min(page_width(console), 80)
    for line in _names(found):
        console.print(plain(line), soft_wrap=True)
    console.print()
    print_table(_columns(found), [_row(found, each) for each in found.trials], console, width)
    for line in ("", *_notes(found), *verdicts(found), *cautions(found), f"report: {page}"):
        console.print(plain(line), soft_wrap=True)
    sys.stdout.flush()


def _names(found: "Trials") -> Iterator[str]:
    """What each number stands for."""
    wide = len(str(len(found.trials) - 1))
    for each in found.trials:
        told = ", ".join(f"{name}={value}" for name, value in each.choices.items())
        yield f"{each.number:>{wide}}  {told or f'{each.name}, the default'}"


def _columns(found: "Trials") -> tuple[Column, ...]:
    titles = [
        "#",
        *_SHORT.values(),
        "calls",
        "tokens",
        "sec",
        f"{_SHORT[found.quality]} against 0",
        "best",
    ]
    return tuple(Column(title, right=True) for title in titles)


def _row(found: "Trials", trial: "Trial") -> tuple[str, ...]:
    from evals.numerals import compact, share
    from evals.trials import COSTS

    costs = {name: compact(trial.means[name].mean) for name in COSTS}
    return (
        str(trial.number),
        *(share(trial.means[name].mean) for name in _SHORT),
        costs["calls"],
        costs["tokens"],
        costs["seconds"],
        _difference(found, trial),
        "".join(_LETTERS[cost] if trial.fronts[cost] else _NOTHING for cost in COSTS),
    )


def _difference(found: "Trials", trial: "Trial") -> str:
    from evals.numerals import signed

    gain = trial.gains.get(found.quality)
    if gain is None:
        return ""
    if gain.low is None or gain.high is None:
        return signed(gain.delta)
    return f"{signed(gain.delta)} [{signed(gain.low)}, {signed(gain.high)}]"


def _notes(found: "Trials") -> Iterator[str]:
    split = f", split {found.split}" if found.split else ""
    epochs = f", {found.epochs} epochs" if found.epochs > 1 else ""
    yield (
        f"{found.question_set}{split}: {count(found.questions, 'question')}{epochs},"
        f" seed {found.seed}, digest {found.digest}"
    )
    yield "Means a question; recall and prec of evidence by characters and citations;"
    yield "verified: right, the evidence cited, every citation exact. Against 0: paired"
    yield "by question, with the 95 % interval over documents. Best: no other one has"
    yield f"as much {_SHORT[found.quality]} for fewer tokens (t), calls (c), seconds (s)."
    for each in found.trials:
        if each.errors:
            yield f"{each.number}: {count(each.errors, 'sample')} ended in errors"
