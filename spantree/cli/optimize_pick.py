"""The verb `optimize pick`: one candidate of an optimization becomes a bundle."""

from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors import RunError, UserError
from spantree.cli import optimize_options as own
from spantree.cli import options
from spantree.cli.candidate_rows import candidate_json
from spantree.cli.command_words import joined
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page

if TYPE_CHECKING:
    from evals.optimization import Optimized
    from evals.picks import Pick

BUNDLES = "bundles"


def pick_candidate(
    folder: own.Folder,
    max_cost: own.PickCost = None,
    max_calls: own.PickCalls = None,
    max_tokens: own.PickTokens = None,
    max_seconds: own.PickSeconds = None,
    objective: own.PickObjective = None,
    within: own.Within = None,
    by: own.Cheapest = "tokens",
    candidate: own.CandidateId = None,
    out: own.BundleOut = None,
    json: options.Json = False,
) -> None:
    """Pick a candidate, and write it as a bundle.

    It is chosen from the front of quality against cost: without options, the best one. Caps are means of one
    validation question; a cost that is not known is never taken for 0. With --within it is the cheapest that is about
    as good. The bundle is what spantree.load takes.

    \b
    Examples:
      spantree optimize pick runs/mine
      spantree optimize pick runs/mine --max-cost 0.01 --out my-bundle
      spantree optimize pick runs/mine --within 0.02 --by calls
      spantree optimize pick runs/mine --candidate 1f0c
    """
    from evals.optimization import read_optimization
    from evals.optimization.bundling import bundle_of
    from evals.picks import Wish, pick

    caps = {
        "cost_usd": max_cost,
        "calls": max_calls,
        "tokens": max_tokens,
        "seconds": max_seconds,
    }
    wish = Wish(
        objective=objective or "score",
        caps={name: cap for name, cap in caps.items() if cap is not None},
        within=within,
        by="cost_usd" if by == "cost" else by,
    )
    wish.check()
    if candidate is not None and wish != Wish():
        raise UserError(
            "a candidate is named, and others are described",
            hint="leave out --candidate or the rest",
        )
    found = read_optimization(folder)
    picked = pick(found.candidates, wish) if candidate is None else _named(found, candidate)
    place = out or folder / BUNDLES / picked.candidate.id
    if place.exists():
        raise UserError(f"{place} exists already", hint="choose another folder: --out BUNDLE")
    bundle_of(found, picked.candidate, place)
    _print(picked, place, json=json)


def _named(found: "Optimized", id: str) -> "Pick":
    from evals.picks import Pick

    candidate = found.candidate(id)
    if candidate is None:
        number = sum(each.id.startswith(id) for each in found.candidates)
        told = f"{number} candidates begin with" if number else "there is no candidate"
        raise RunError(
            f"{told} {id!r} in {found.folder}",
            hint=f"see them: {joined('optimize list', {}, str(found.folder))}",
        )
    ran = f"{candidate.validated} of {len(found.manifest.splits.validation)} validation questions"
    return Pick(candidate, candidate.score, f"it was named; it was run on {ran}")


def _print(picked: "Pick", place: Path, *, json: bool) -> None:
    from evals.numerals import compact, number, share

    each = picked.candidate
    if json:
        print_json({"candidate": candidate_json(each), "why": picked.why, "bundle": str(place)})
        return
    console = standard_output()
    page = Page(page_width(console))
    page.heading(f"Candidate {each.id}")
    page.item(picked.why)
    cost = "not known" if each.cost_usd is None else f"{number(each.cost_usd)} USD"
    page.item(
        f"score {share(each.score)}; a question takes {number(each.calls)} calls, {compact(each.tokens)} tokens,"
        f" {number(each.seconds)} seconds, cost {cost}"
    )
    page.unbroken(str(place), lead="bundle: ")
    page.unbroken(joined("bundle show", {}, str(place)), lead="next: ")
    print_page(page, console)
