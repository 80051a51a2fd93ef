"""Plans: how a plan is read from a reply, put in order, and replaced when there is none.

A plan may be rescued from a malformed reply, since a wrong plan costs time and is seen; evidence never is. A rescued
plan and a fallback plan are flagged `degraded`, so that they cannot be mistaken for what the model was asked for.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError

from signatures import Action, Operation, PlannedStep, QuestionKind

_ACTIONS = frozenset(get_args(Action))
_OPERATIONS = frozenset(get_args(Operation))
_EVERYTHING = frozenset(("corpus", "the corpus", "whole corpus", "the whole corpus", "all", "*"))


@dataclass(frozen=True, slots=True)
class Ordered:
    """Steps ready to run, and what had to be changed about them, as (code, message)."""

    steps: tuple[PlannedStep, ...]
    warnings: tuple[tuple[str, str], ...]


def step(
    id: str,
    description: str,
    action: Action,
    *,
    patterns: Iterable[str] = (),
    query: str = "",
    targets: Iterable[str] = (),
    operation: Operation = "",
) -> PlannedStep:
    """A step with its unused fields empty; it depends on the targets that are steps."""
    named = list(targets)
    return PlannedStep(
        id=id,
        description=description,
        action=action,
        patterns=list(patterns),
        query=query,
        targets=named,
        operation=operation,
        depends_on=[each for each in named if each.startswith("s") and each[1:].isdigit()],
    )


def conclusion(id: str = "conclude") -> PlannedStep:
    """The closing step."""
    return step(id, "Conclude from what was found", "conclude")


def ordered(
    steps: Sequence[PlannedStep],
    *,
    max_steps: int,
    taken: Collection[str] = (),
    depth_left: int = 0,
) -> Ordered:
    """A plan made runnable: no blanks, ids unique, known dependencies, within `max_steps`, conclude last.

    `taken` are ids of steps that have ended; they may be depended on and not be used again.
    """
    warnings: list[tuple[str, str]] = []
    kept = stated(steps)
    body = [each for each in kept if each.action != "conclude"]
    closing = next((each for each in reversed(kept) if each.action == "conclude"), conclusion())
    if len(body) > max_steps - 1:
        cut = len(body) - (max_steps - 1)
        warnings.append(("plan_cut", f"{cut} of {len(body) + 1} steps were cut; the last was kept"))
        body = body[: max_steps - 1]
    named = _with_unique_ids([*body, closing], taken)
    known = {*taken}
    runnable = []
    for each in named:
        if each.action == "subtask" and depth_left <= 0:
            warnings.append(("depth", f"step {each.id} is analyzed here: no depth is left"))
            each = each.model_copy(update={"action": "analyze"})
        needs = [need for need in each.depends_on if need in known]
        if len(needs) < len(each.depends_on):
            warnings.append(
                ("dependency", f"step {each.id} named steps that do not come before it")
            )
        runnable.append(each.model_copy(update={"depends_on": needs}))
        known.add(each.id)
    return Ordered(tuple(runnable), tuple(warnings))


def stated(steps: Sequence[PlannedStep]) -> list[PlannedStep]:
    """The steps that say something: a blank one asks for nothing."""
    return [
        each
        for each in steps
        if each.description.strip() or each.query.strip() or any(p.strip() for p in each.patterns)
    ]


def placed(steps: Sequence[PlannedStep], known: Callable[[str], bool]) -> list[PlannedStep]:
    """The steps with their targets read as small models write them: as lines of the overview, copied whole.

    "source a.log | log | ..." is a.log, and "corpus: 4 sources, ..." or "all" are what no targets mean. `known` tells
    whether a target names a source or a partition.
    """
    ids = {each.id for each in steps}

    def meant(target: str) -> str:
        if target in ids or known(target):
            return target
        name = target.partition(" | ")[0].strip().removeprefix("source ").strip()
        if known(name):
            return name
        return "" if name.partition(":")[0].casefold() in _EVERYTHING else target

    return [
        each.model_copy(update={"targets": [name for one in each.targets if (name := meant(one))]})
        for each in steps
    ]


def _with_unique_ids(steps: Sequence[PlannedStep], taken: Collection[str]) -> list[PlannedStep]:
    """The steps under ids of their own; a reference follows the nearest step above that had the id."""
    used = set(taken)
    renamed: dict[str, str] = {}
    result = []
    for each in steps:
        references = {
            "depends_on": [renamed.get(ref, ref) for ref in each.depends_on],
            "targets": [renamed.get(ref, ref) for ref in each.targets],
        }
        id = each.id.strip() or "step"
        fresh, visit = id, 2
        while fresh in used:
            fresh, visit = f"{id}.{visit}", visit + 1
        used.add(fresh)
        renamed[each.id] = fresh
        result.append(each.model_copy(update={"id": fresh, **references}))
    return result


def rescued(reply: str) -> tuple[str, list[PlannedStep]] | None:
    """Think and steps from a malformed reply: without fences, parsed directly, or the first object in it."""
    text = reply.strip()
    if text.startswith("```"):
        text = text.split("\n", 1)[-1].rsplit("```", 1)[0]
    for candidate in _objects(text):
        raw = candidate.get("steps")
        if isinstance(raw, list):
            steps = [made for each in raw if (made := _lenient(each)) is not None]
            if steps:
                return str(candidate.get("think", "")), steps
    return None


def _objects(text: str) -> Iterable[dict[str, Any]]:
    """JSON objects in a text and what each wraps, in order, each decoded by itself so that two are never joined."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict):
            yield value
            yield from (each for each in value.values() if isinstance(each, dict))
        at = text.find("{", end)


def _lenient(raw: object) -> PlannedStep | None:
    """A step from an object that may lack fields; None when it says nothing runnable."""
    if not isinstance(raw, dict) or raw.get("action") not in _ACTIONS:
        return None
    try:
        return PlannedStep(
            id=str(raw.get("id") or ""),
            description=str(raw.get("description") or raw.get("query") or raw["action"]),
            action=raw["action"],
            patterns=_strings(raw.get("patterns")),
            query=str(raw.get("query") or ""),
            targets=_strings(raw.get("targets")),
            operation=raw["operation"] if raw.get("operation") in _OPERATIONS else "",
            depends_on=_strings(raw.get("depends_on")),
        )
    except ValidationError:
        return None


def _strings(raw: object) -> list[str]:
    return [str(each) for each in raw] if isinstance(raw, list) else []


def fallback(
    kind: QuestionKind, question: str, patterns: Sequence[str], targets: Sequence[str]
) -> list[PlannedStep]:
    """A plan by kind of question, for when the model gave none. `targets` limit it to sources or partitions."""
    scan = step("s1", "Scan the text for the strings of the question", "scan",
                patterns=patterns, targets=targets)  # fmt: skip
    if patterns and kind == "count":
        count = step("s2", "Count the matching lines", "compute", targets=["s1"], operation="count")
        return [scan, count, conclusion("s3")]
    if patterns and kind not in ("timeline", "conflict"):
        read = step("s2", "Analyze the matching lines", "analyze", query=question, targets=["s1"])
        return [scan, read, conclusion("s3")]
    everything = step("s1", "Analyze every partition", "analyze", query=question, targets=targets)
    if kind == "timeline" or kind == "conflict":
        operation: Operation = "timeline" if kind == "timeline" else "conflicts"
        order = step(
            "s2", f"Compute the {operation}", "compute", targets=["s1"], operation=operation
        )
        return [everything, order, conclusion("s3")]
    if kind in ("existence", "list", "count"):
        return [everything, conclusion("s2")]
    rank = step("s1", "Rank the passages by relevance", "rank", query=question, targets=targets)
    read = step("s2", "Analyze the best passages", "analyze", query=question, targets=["s1"])
    return [rank, read, conclusion("s3")]
