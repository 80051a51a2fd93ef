"""Pages about a bundle: what it is, where it comes from, and what was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from programs.bundle_facts import Facts, ModelFacts
from programs.bundles import Bundle
from runtime.errors import BundleError
from runtime.limits import Limits
from spantree.cli.page import Page
from spantree.cli.tables import Column, print_table
from spantree.cli.terminal import count


def bundle_json(bundle: Bundle) -> dict[str, Any]:
    """The JSON of a bundle: everything that it says about itself, its state, and whether it fits."""
    return {
        "folder": str(bundle.folder),
        "misfits": misfits(bundle),
        **bundle.facts.model_dump(mode="json"),
        "state": dict(bundle.state),
    }


def misfits(bundle: Bundle) -> list[str]:
    """Why a bundle cannot be loaded here."""
    try:
        return bundle.misfits()
    except BundleError as error:
        return [error.message]


def bundle_page(bundle: Bundle, width: int) -> Page:
    """What a bundle is."""
    facts, origin = bundle.facts, bundle.facts.origin
    page = Page(width)
    page.heading(f"bundle {bundle.id}", f"{facts.program} {facts.program_version}")
    for lead, text in (
        ("options", pairs(facts.options)),
        ("partitioner", facts.partitioner),
        ("model", model(facts.lm)),
        ("leaf model", model(facts.leaf_lm) if facts.leaf_lm else ""),
        ("limits", pairs(set_limits(facts.limits))),
        ("optimizer", _joined(origin.optimizer, pairs(origin.options))),
        ("objective", pairs(origin.objective)),
        ("seed", "" if origin.seed is None else str(origin.seed)),
        ("set", _set(facts)),
        ("splits", ", ".join(f"{name} {len(ids):,}" for name, ids in origin.splits.items())),
        ("parent", origin.parent or ""),
        ("created", origin.created),
        ("made with", ", ".join(f"{name} {each}" for name, each in facts.versions.items())),
    ):
        if text:
            page.item(text, lead=f"{lead}: ")
    page.unbroken(str(bundle.folder), lead="folder: ")
    found = misfits(bundle)
    page.heading("Fits" if not found else "Does not fit")
    for each in found or ("what is installed here can load it",):
        page.item(each, lead="- " if found else "")
    _add_predictors(page, bundle)
    return page


def print_reports(bundle: Bundle, console: Console, width: int) -> None:
    """Print what was measured, a table for each split."""
    for split, report in bundle.facts.origin.reports.items():
        console.print()
        if not report:
            console.print(f"{split}: not measured")
            continue
        columns, rows = _report(report)
        titles = [Column(split, share=1), *(Column(each, right=True) for each in columns)]
        print_table(titles, rows, console, width)


def model(facts: ModelFacts | None) -> str:
    """A model in a few words."""
    if facts is None:
        return "that of DSPy's settings"
    server = "on a server of its own" if facts.own_server else ""
    return _joined(
        facts.name, ", ".join(each for each in (pairs(facts.parameters), server) if each)
    )


def set_limits(limits: Limits) -> dict[str, Any]:
    """The limits that are not the usual ones."""
    return limits.model_dump(mode="json", exclude_defaults=True)


def pairs(values: Mapping[str, Any]) -> str:
    """Settings on one line."""
    return ", ".join(f"{name} {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    """A value of a report or a setting."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 1_000 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return f"({pairs(value)})" if value else "none"
    if isinstance(value, list | tuple):
        return " to ".join(map(_shown, value)) if len(value) == 2 else " ".join(map(_shown, value))
    return str(value)


def _set(facts: Facts) -> str:
    origin = facts.origin
    if not origin.set_name:
        return ""
    corpora = f"{len(origin.corpora):,} {'corpus' if len(origin.corpora) == 1 else 'corpora'}"
    return f"{origin.set_name}, version {origin.set_version}, {corpora}"


def _joined(first: str, rest: str) -> str:
    return f"{first} ({rest})" if first and rest else first


def _add_predictors(page: Page, bundle: Bundle) -> None:
    page.heading("Predictors")
    for name, each in bundle.state.items():
        lines = len(each["instructions"].splitlines())
        demos = count(len(each["demos"]), "demo")
        page.item(f"{name}: {count(lines, 'line')} of instructions, {demos}")


def _report(report: Mapping[str, Any]) -> tuple[list[str], Sequence[Sequence[str]]]:
    """Columns and rows: one column, or one for each program where there are several."""
    several = {name: each for name, each in report.items() if isinstance(each, Mapping)}
    if len(several) < len(report):
        return ["value"], [(name, _shown(value)) for name, value in report.items()]
    names = dict.fromkeys(name for each in several.values() for name in each)
    rows = [
        (n, *(_shown(each[n]) if n in each else "" for each in several.values())) for n in names
    ]
    return list(several), rows
