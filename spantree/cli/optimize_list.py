"""The verb `optimize list`: all candidates of an optimization, with what they scored and what they take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spantree.cli import optimize_options as own
from spantree.cli import options
from spantree.cli.candidate_rows import candidate_json, columns, ranked, row
from spantree.cli.optimization_result import verdict
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.tables import print_table

if TYPE_CHECKING:
    from evals.optimization import Candidate, Optimized

_WIDEST = 80
_LETTERS = {"calls": "c", "tokens": "t", "cost_usd": "$", "seconds": "s"}


def list_candidates(folder: own.Folder, json: options.Json = False) -> None:
    """List all candidates of an optimization, the best first.

    Scores are means over the validation questions that a candidate was run on, costs are means a question. On the
    front of a cost is a complete candidate that no other one beats: none is at least as good for less of it, or
    better for as much.

    \b
    Examples:
      spantree optimize list optimizations/mixed-recursive-gepa-1234abcd
      spantree optimize list optimizations/mixed-recursive-gepa-1234abcd --json
    """
    from evals.optimization import read_optimization

    found = read_optimization(folder)
    fronts = _fronts(found.candidates)
    if json:
        print_json(
            {
                "folder": str(found.folder),
                "validation_questions": len(found.manifest.splits.validation),
                "best": found.best.id if found.best else None,
                "as_given": found.seed.id if found.seed else None,
                "candidates": [
                    {
                        **candidate_json(each),
                        "on_front": [name for name, ids in fronts.items() if each.id in ids],
                    }
                    for each in ranked(found.candidates)
                ],
            }
        )
        return
    _print(found, fronts)


def _fronts(found: "Sequence[Candidate]") -> dict[str, frozenset[str]]:
    """By cost that is known of somebody, the ids of the candidates that no other one beats in score and that cost."""
    from evals.picks import cost_of, on_front

    known = [name for name in _LETTERS if any(cost_of(each, name) is not None for each in found)]
    return {name: on_front(found, by=(name,)) for name in known}


def _print(found: "Optimized", fronts: dict[str, frozenset[str]]) -> None:
    console = standard_output()
    width = min(page_width(console), _WIDEST)
    questions = len(found.manifest.splits.validation)
    names, heads = columns(found.candidates)
    priced = any(each.title == "USD" for each in heads)
    shown = {name: letter for name, letter in _LETTERS.items() if name != "cost_usd" or priced}
    rows = []
    for each in ranked(found.candidates):
        mark = "".join(letter for name, letter in shown.items() if each.id in fronts.get(name, ()))
        rows.append(row(each, names, questions, mark, priced=priced))
    if rows:
        print_table(heads, rows, console, width)
        console.print()
    page = Page(width)
    page.item(verdict(found))
    letters = ", ".join(f"{letter} {name}" for name, letter in shown.items())
    page.item(f"first column: on the front of score against {letters.replace('cost_usd', 'cost')}")
    page.item(
        f"n: of {questions} validation questions, all unless it says so; ver: verified correct, corr: correct,"
        " rec and prec: evidence; calls, tokens and seconds are means a question"
    )
    print_page(page, console)
