"""Diff of bundles: what changed of instructions and demos, and what else is different."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from programs.bundle_changes import PredictorChange, changes
from programs.bundles import Bundle
from programs.program_state import state_of
from spantree.cli.bundle_pages import model, pairs, set_limits
from spantree.cli.page import Page

_DEMO_LINES = 4
_VALUE = 120
_STYLES = {"+": "green", "-": "red"}
_OF = {"added": "later", "removed": "earlier"}
_DEMOS = (("+", "added"), ("-", "removed"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two bundles, or a program as it is (`before` is None) and a bundle of it."""

    before: Bundle | None
    after: Bundle
    facts: tuple[tuple[str, str, str], ...]
    predictors: tuple[PredictorChange, ...]

    @classmethod
    def of(cls, first: Bundle, later: Bundle | None) -> Self:
        """A bundle and a later one; without it, its program and the bundle."""
        if later is None:
            before = state_of(first.unlearned())
            return cls(None, first, (), tuple(changes(before, first.state)))
        facts = tuple(_differing(_told(first), _told(later)))
        return cls(first, later, facts, tuple(changes(first.state, later.state)))


def diff_json(compared: Comparison) -> dict[str, Any]:
    """The JSON of a comparison."""
    return {
        "before": compared.before.id if compared.before else None,
        "after": compared.after.id,
        "facts": [{"what": w, "before": b, "after": a} for w, b, a in compared.facts],
        "predictors": [
            {
                "predictor": each.predictor,
                "what": each.what,
                "instructions": list(each.instructions),
                "demos_added": list(each.added),
                "demos_removed": list(each.removed),
            }
            for each in compared.predictors
        ],
    }


def diff_page(compared: Comparison, width: int) -> Page:
    """A comparison to be read."""
    page = Page(width)
    before, after = compared.before, compared.after
    if before is None:
        page.heading(f"bundle {after.id}", f"what it changed of {after.facts.program}")
    else:
        page.heading(f"bundle {after.id}", f"what is different from {before.id}")
    for what, old, new in compared.facts:
        page.item(f"{old or 'none'} → {new or 'none'}", lead=f"{what}: ")
    if not compared.predictors:
        page.item("instructions and demos are the same", lead="")
    for each in compared.predictors:
        _add(page, each)
    return page


def _add(page: Page, change: PredictorChange) -> None:
    note = "" if change.what == "changed" else f"only in the {_OF[change.what]} one"
    page.heading(change.predictor, note)
    for number, line in enumerate(change.instructions):
        if line.startswith("@@"):
            if number:
                page.item("...", lead="", style="dim")
        else:
            page.item(line[1:], lead=f"{line[0]} ", style=_STYLES.get(line[0], ""))
    for sign, name in _DEMOS:
        for demo in getattr(change, name):
            page.item(
                f"demo: {_short(demo)}", lead=f"{sign} ", lines=_DEMO_LINES, style=_STYLES[sign]
            )


def _short(demo: Mapping[str, Any]) -> str:
    """A demo by the beginnings of its fields."""
    values = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in demo.items()
        if value not in (None, [], "")
    }
    return "; ".join(
        f"{name}: {text if len(text) <= _VALUE else text[: _VALUE - 1] + '…'}"
        for name, text in values.items()
    )


def _told(bundle: Bundle) -> dict[str, str]:
    facts, origin = bundle.facts, bundle.facts.origin
    return {
        "program": f"{facts.program} {facts.program_version}",
        "options": pairs(facts.options),
        "partitioner": facts.partitioner,
        "model": model(facts.lm),
        "leaf model": model(facts.leaf_lm) if facts.leaf_lm else "",
        "limits": pairs(set_limits(facts.limits)),
        "optimizer": origin.optimizer,
        "options of the optimizer": pairs(origin.options),
        "objective": pairs(origin.objective),
        "seed": "" if origin.seed is None else str(origin.seed),
        "set": f"{origin.set_name} {origin.set_version}".strip(),
        "parent": origin.parent or "",
    }


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [(what, before[what], after[what]) for what in after if before[what] != after[what]]
