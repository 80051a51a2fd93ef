"""Experiment plan: what an experiment would do, found out without doing any of it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spantree.cli.experiment import Experiment
from spantree.cli.experiment_folder import build_set, check_unchanged, is_begun, set_named
from spantree.cli.experiment_request import (
    Asked,
    Call,
    FiledOptimization,
    FiledSweep,
    programs_of,
)
from spantree.cli.flags import FLAGS, QUESTION_LIMITS, parameter
from spantree.cli.page import Page
from spantree.cli.question_set import OpenedSet, opened_set
from spantree.cli.terminal import count

_ARTICLES = {"evaluation": "an evaluation", "sweep": "a sweep", "optimization": "an optimization"}
_LIMITS = tuple(parameter(FLAGS[name]) for name in QUESTION_LIMITS)
"""Keys that are limits of a question."""


def planned(experiment: Experiment, folder: Path, call: Call, store: Path) -> dict[str, Any]:
    """What would be done, as JSON. Raises UserError for what would be refused.

    A set that has to be built is built for that in a temporary folder.
    """
    check_unchanged(experiment, folder)
    asked = experiment.asked(call)
    with _set(experiment, folder, store) as opened:
        return {
            "file": str(experiment.file),
            "kind": experiment.kind,
            "programs": [each.name for each in programs_of(asked)],
            "set": {
                "name": opened.made.name,
                "version": opened.made.version,
                "questions": len(opened.made.questions),
            },
            **_work(asked, opened),
            "model": experiment.values["model"],
            "leaf_model": experiment.values["leaf_model"],
            "limits": {
                name: value
                for name, value in experiment.values.items()
                if name in _LIMITS and value is not None
            },
            "folder": str(folder),
            "begun": is_begun(folder),
        }


def plan_page(plan: dict[str, Any], width: int) -> Page:
    """The same to be read."""
    page = Page(width)
    page.heading(plan["file"], f"{_ARTICLES[plan['kind']]}, and nothing is wrong with it")
    page.item(", ".join(plan["programs"]), lead="program: ")
    page.item(f"{plan['set']['name']}, {count(plan['set']['questions'], 'question')}", lead="set: ")
    model, leaf_model = plan["model"], plan["leaf_model"]
    page.item(model if leaf_model == model else f"{model}; leaves: {leaf_model}", lead="model: ")
    for lead, told in _told(plan):
        page.item(told, lead=f"{lead}: ")
    limits = ", ".join(f"{name} {value:,}" for name, value in plan["limits"].items())
    page.item(limits, lead="limits of a question: ")
    begun = "begun: it would go on" if plan["begun"] else "not begun"
    page.unbroken(f"{plan['folder']} ({begun})", lead="folder: ")
    return page


def _told(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is told of one kind only, in words."""
    if plan["kind"] == "optimization":
        splits = ", ".join(f"{name} {number:,}" for name, number in plan["splits"].items())
        yield "questions", splits
        reflection = plan["reflection_model"]
        yield (
            "optimizer",
            plan["optimizer"] + (f", instructions by {reflection}" if reflection else ""),
        )
        yield "objective", plan["objective"]
        yield "budget", f"{plan['budget']:,} metric calls"
        return
    if plan["kind"] == "sweep":
        for name, values in plan["vary"].items():
            yield f"varied {name}", ", ".join(map(str, values))
    samples = f"{'at most ' if plan['kind'] == 'sweep' else ''}{plan['samples']:,}"
    epochs = f", {plan['epochs']:,} epochs" if plan["epochs"] > 1 else ""
    yield "samples", f"{samples}: {count(plan['questions'], 'question')}{epochs}"


def _work(asked: Asked, opened: OpenedSet) -> dict[str, Any]:
    """How much is to be done, by kind. Raises UserError for a set that does not do for it."""
    if isinstance(asked, FiledOptimization):
        return _optimization(asked, opened)
    if isinstance(asked, FiledSweep):
        from evals.sweep import Space

        size = Space(asked.variant.name, asked.vary).size
        number = 1 + min(size, asked.random or size)
        vary = {name: list(values) for name, values in asked.vary.items()}
        return {
            "vary": vary,
            "configurations": number,
            **_samples(asked.evaluation, number, opened),
        }
    return _samples(asked, len(programs_of(asked)), opened)


def _samples(asked: Any, programs: int, opened: OpenedSet) -> dict[str, Any]:
    from evals.selection import selected

    plan = asked.plan()
    found = selected(opened.made, split=plan.split, limit=plan.limit, seed=plan.seed)
    total = len(found) * programs * plan.epochs
    return {"questions": len(found), "epochs": plan.epochs, "samples": total}


def _optimization(asked: FiledOptimization, opened: OpenedSet) -> dict[str, Any]:
    from evals.optimization.splits import split

    plan = asked.plan()
    _, splits = split(opened.made, opened.corpus, plan)
    sizes = {name: len(ids) for name, ids in splits.model_dump().items()}
    return {
        "optimizer": asked.optimizer,
        "reflection_model": asked.reflection_model,
        "objective": plan.objective.name,
        "splits": sizes,
        "budget": plan.rollouts(sizes["train"], sizes["validation"]),
    }


@contextmanager
def _set(experiment: Experiment, folder: Path, store: Path) -> Iterator[OpenedSet]:
    """The set. One that has to be built, and was not, is built in a folder that goes again."""
    named = set_named(experiment, folder)
    if "name" in experiment.values["set"] or (is_begun(folder) and Path(named).is_dir()):
        yield opened_set(named, store)
        return
    with tempfile.TemporaryDirectory() as temporary:
        own = Path(temporary)
        build_set(experiment, own, own / "store")
        yield opened_set(set_named(experiment, own), own / "store")
