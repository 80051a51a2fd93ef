"""What an optimization came to, in a terminal: before and after, the difference, what it used, and what to do next."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors import UserError
from spantree.cli.candidate_rows import candidate_json
from spantree.cli.command_words import joined
from spantree.cli.comparison_table import COLUMNS, row_of
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.tables import Column, print_table
from spantree.cli.terminal import count

if TYPE_CHECKING:
    from evals.gains import Gain, Side
    from evals.optimization import Optimized
    from evals.results import Estimated

_WIDEST = 80
_SIDES = (
    Column("questions"),
    Column("program"),
    Column("n", right=True),
    Column("score", right=True),
    Column("verified-correct", right=True),
    Column("recall", right=True),
    Column("prec", right=True),
    Column("calls", right=True),
    Column("tokens", right=True),
)
_SHOWN = (
    "score",
    "verified_correct",
    "evidence_recall",
    "citation_precision",
    "calls",
    "tokens",
    "seconds",
)
_ENDINGS = {
    "finished": "finished: the optimizer came to its own end",
    "budget": "budget spent: more of it goes on (--max-metric-calls)",
    "interrupted": "interrupted: the same command goes on",
}
"""How an optimization ended, in words."""
_HEADINGS = {
    "validation": ("Paired on validation questions", "the best was chosen by these"),
    "test": ("Paired on test questions", "no optimizer has seen these"),
}


def write_report(found: "Optimized", place: Path) -> Path:
    """Write the HTML report of an optimization. Raises UserError if the file cannot be written."""
    from data.store import write_atomically
    from evals.report.optimization_page import rendered_optimization

    try:
        write_atomically(place, rendered_optimization(found).encode("utf-8", "replace"))
    except OSError as error:
        raise UserError(
            f"{place} cannot be written: {error.strerror or error}",
            hint="give a file in a folder that exists: --out FILE",
        ) from error
    return place


def print_optimized(found: "Optimized", *, json: bool, quiet: bool, report: Path) -> None:
    """Print what was found: tables and notes, or one JSON object; where things are goes to standard error."""
    from evals.gains import gains

    gained = gains(found)
    if json:
        print_json(_json(found, gained, report))
    else:
        _print(found, gained)
    if not quiet:
        lines = [
            f"optimization: {found.folder}",
            f"report: {report}",
            f"next: {joined('optimize list', {}, str(found.folder))}",
            f"next: {joined('optimize pick', {}, str(found.folder))}",
        ]
        if found.bundle is not None:
            lines.append(f"next: {joined('bundle show', {}, str(found.bundle))}")
        print("\n".join(lines), file=sys.stderr)


def _print(found: "Optimized", gained: "tuple[Gain, ...]") -> None:
    console = standard_output()
    width = min(page_width(console), _WIDEST)
    if gained:
        rows = [_row(gain, side) for gain in gained for side in gain.sides]
        print_table(_SIDES, rows, console, width)
    for gain in gained:
        if gain.comparison is not None:
            head = Page(width)
            head.heading(*_HEADINGS[gain.split])
            console.print()
            print_page(head, console)
            told = [gain.comparison.of(name) for name in _SHOWN]
            print_table(COLUMNS, [row_of(each) for each in told if each.pairs], console, width)
    page = Page(width)
    for line in _notes(found, gained):
        page.item(line)
    if gained:
        console.print()
    print_page(page, console)


def _notes(found: "Optimized", gained: "tuple[Gain, ...]") -> Iterator[str]:
    """Everything that no table has, the verdict first."""
    yield verdict(found)
    manifest, spent = found.manifest, found.spent
    complete = sum(each.complete for each in found.candidates)
    yield (
        f"{manifest.optimizer} on {manifest.question_set.name}, program {manifest.program_name}, seed {manifest.seed};"
        f" score: {manifest.objective.name.replace('_', ' ')} minus up to {manifest.objective.cost_weight:g} for cost;"
        " an error scores 0"
    )
    yield (
        f"{count(len(found.candidates), 'candidate')}, {complete:,} run on all"
        f" {count(len(manifest.splits.validation), 'validation question')};"
        f" {found.rollouts:,} of {count(manifest.budget, 'rollout')}"
    )
    yield f"ended: {_ENDINGS[found.stopped]}"
    cost = "not known" if spent.cost_usd is None else f"${spent.cost_usd:,.4g}"
    yield (
        f"used by the search: {count(spent.calls, 'call')} of the program's models,"
        f" {count(spent.tokens, 'token')}; {count(spent.reflection_calls, 'call')} of the model that reflects"
        f" ({manifest.reflection_model or 'none'}), {count(spent.reflection_tokens, 'token')}; cost in all {cost}"
    )
    yield from _tested(gained)
    shared = manifest.shared_corpora
    if shared:
        yield (
            f"{len(shared)} of the corpora are shared by the splits ({', '.join(shared[:3])}"
            f"{', ...' if len(shared) > 3 else ''}): answers to train questions there may rest on documents of test"
            " questions; no demo or instruction of a bundle holds their text"
        )
    if found.unbundled:
        yield f"the best is no bundle: {' '.join(found.unbundled.split())}"


def verdict(found: "Optimized") -> str:
    """What came out, in one sentence."""
    if found.best is None or found.seed is None:
        return "no candidate was run on all validation questions yet"
    if found.best.id == found.seed.id:
        return (
            f"nothing beat the program as it was given ({found.seed.id}) on the validation questions"
            f"{' so far' if found.stopped == 'interrupted' else ''}: it is the best, unchanged"
        )
    return (
        f"best: {found.best.id}, {found.best.score or 0:.3f} on the validation questions; as it was given"
        f" ({found.seed.id}): {found.seed.score or 0:.3f}"
    )


def _tested(gained: "tuple[Gain, ...]") -> Iterator[str]:
    for gain in gained:
        errors = {side.name: side.result.errors for side in gain.sides if side.result.errors}
        for name, number in errors.items():
            yield f"{gain.split}, {name}: {count(number, 'error')}: score 0, in no other metric"
        if gain.missing:
            yield f"{gain.split}: {count(gain.missing, 'sample')} missing"
    test = next((each for each in gained if each.split == "test"), None)
    if test is None:
        yield "before and after are not compared on the test questions yet"
        return
    calls, tokens = (
        sum(getattr(each.result, of) for each in test.sides) for of in ("calls", "tokens")
    )
    yield f"used by the test, beside that: {count(calls, 'call')}, {count(tokens, 'token')}"


def _row(gain: "Gain", side: "Side") -> tuple[str, ...]:
    from evals.numerals import compact, share

    result = side.result
    estimates = result.estimates
    samples = max(1, result.samples)
    return (
        gain.split,
        side.name,
        f"{result.samples:,}",
        share(side.score),
        _with_interval(estimates["verified_correct"]),
        share(estimates["evidence_recall"].mean),
        share(estimates["citation_precision"].mean),
        compact(result.calls / samples),
        compact(result.tokens / samples),
    )


def _with_interval(found: "Estimated") -> str:
    from evals.numerals import share

    if found.low is None or found.high is None:
        return share(found.mean)
    return f"{share(found.mean)} [{found.low:.2f}, {found.high:.2f}]"


def _json(found: "Optimized", gained: "tuple[Gain, ...]", report: Path) -> dict[str, Any]:
    manifest = found.manifest
    return {
        "folder": str(found.folder),
        "report": str(report),
        "optimizer": manifest.optimizer,
        "program": manifest.program_name,
        "question_set": manifest.question_set.name,
        "set_version": manifest.question_set.version,
        "seed": manifest.seed,
        "objective": manifest.objective.model_dump(mode="json"),
        "splits": {name: len(ids) for name, ids in manifest.splits.model_dump().items()},
        "stopped": found.stopped,
        "rollouts": found.rollouts,
        "budget": manifest.budget,
        "candidates": len(found.candidates),
        "spent": asdict(found.spent),
        "seed_candidate": candidate_json(found.seed) if found.seed else None,
        "best": candidate_json(found.best) if found.best else None,
        "bundle": str(found.bundle) if found.bundle else None,
        "unbundled": found.unbundled or None,
        "shared_corpora": list(manifest.shared_corpora),
        "improved": bool(found.best and found.seed and found.best.id != found.seed.id),
        "gains": {each.split: _gain_json(each) for each in gained},
    }


def _gain_json(gain: "Gain") -> dict[str, Any]:
    return {
        "missing": gain.missing,
        "programs": {
            side.name: {"score": side.score, **side.result.model_dump(mode="json")}
            for side in gain.sides
        },
        "paired": asdict(gain.comparison) if gain.comparison else None,
    }
