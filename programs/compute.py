"""Computation: counts, extremes, orders, differences, timelines and conflicts, by code from typed fields.

No model does arithmetic. A computed claim cites the lines or claims that it was computed from, so that it can be
recomputed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from data.timestamp import parse_time
from programs.inputs import Inputs, claims_of
from programs.merge import merged
from programs.observing import counted, listed, success
from programs.tally import OF_STATEMENTS
from programs.verify import MAX_CITATIONS
from programs.workspace import Workspace
from runtime.claims import Claim, Computed, Field
from runtime.errors import MissingInput
from runtime.frames import Frame
from runtime.observations import ComputedResult, Observation, Payload, Scanned
from signatures import PlannedStep

_BOOKKEEPING = frozenset(
    ("template", "occurrences", "severity", "component", "last_seen", "windows")
)
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


def compute(workspace: Workspace, frame: Frame, step: PlannedStep) -> Observation:
    """Apply the operation of a step to the results of its targets."""
    if step.operation == "":
        raise MissingInput(f"step {step.id} names no operation")
    return _OPERATIONS[step.operation](Inputs.of(workspace, frame, step))


def _result(
    operation: str, value: Any, summary: str, computed: Sequence[Computed], claims: Sequence[Claim]
) -> Observation:
    payload = ComputedResult(
        operation=operation, value=value, computed=tuple(computed), claims=tuple(claims)
    )
    return success(summary, payload)


def _count(inputs: Inputs) -> Observation:
    if not inputs.scans:
        return _count_of_claims(inputs)
    several = len(inputs.scans) > 1
    total = len(inputs.every_hit()) if several else inputs.scans[0].total
    what = " or ".join(dict.fromkeys(" and ".join(scan.patterns) for scan in inputs.scans))
    verb = "matches" if total == 1 else "match"
    text = f"{counted(total, 'line')} {verb} {what}."
    claim = Claim(
        id=f"{inputs.prefix}.count",
        text=text,
        status="direct",
        citations=inputs.citations(MAX_CITATIONS),
        computed=True,
    )
    computed = Computed(name="count", lines=(text,), claim_ids=(claim.id,))
    return _result("count", total, text, [computed], [claim])


def _count_of_claims(inputs: Inputs) -> Observation:
    if inputs.ranked:
        raise MissingInput("a count needs an exhaustive search or reading, not a ranking")
    total = len(inputs.claims)
    text = f"{counted(total, 'statement')} reported by readers"
    ids = tuple(claim.id for claim in inputs.claims)
    computed = [Computed(name=OF_STATEMENTS, lines=(text,), claim_ids=ids)] if ids else []
    return _result("count", total, text, computed, [])


def _counts(inputs: Inputs, name: str, found: Iterable[tuple[str, int]]) -> Observation:
    counts = [(label, count) for label, count in found if count]
    lines = tuple(f"{label}: {count}" for label, count in counts)
    claim = Claim(
        id=f"{inputs.prefix}.{name}",
        text="; ".join(lines),
        status="direct",
        citations=inputs.citations(MAX_CITATIONS),
        computed=True,
    )
    computed = Computed(name=name, lines=lines, claim_ids=(claim.id,))
    summary = listed(lines, 8) or "nothing to count"
    value = [{"label": label, "count": count} for label, count in counts]
    return _result(name, value, summary, [computed], [claim] if counts else [])


def _by_source(inputs: Inputs) -> Observation:
    if len(inputs.scans) == 1:
        return _counts(inputs, "count_by_source", inputs.scans[0].by_source)
    found = Counter(hit.source for hit in inputs.every_hit())
    return _counts(inputs, "count_by_source", found.items())


def _by_time(inputs: Inputs) -> Observation:
    if len(inputs.scans) != 1:
        raise MissingInput("a count by time needs one search, since each has periods of its own")
    found = inputs.scans[0]
    if found.total and not found.by_time:
        raise MissingInput("the lines found have no times to count by")
    return _counts(inputs, "count_by_time", found.by_time)


def _timed(inputs: Inputs) -> list[Claim]:
    """Claims of the inputs, one a hit for searches, in the order of time; those without a time keep their place."""
    return in_time_order([*inputs.claims, *map(inputs.line_claim, inputs.hits())])


def in_time_order(claims: Sequence[Claim]) -> list[Claim]:
    """Claims by time; one without a time stays behind the one that it followed."""
    keyed: list[tuple[datetime, int, Claim]] = []
    last = datetime.min
    for at, claim in enumerate(claims):
        time = parse_time(claim.time) if claim.time else None
        last = time.replace(tzinfo=None) if time else last
        keyed.append((last, at, claim))
    return [claim for _, _, claim in sorted(keyed, key=lambda each: each[:2])]


def entry(claim: Claim) -> dict[str, Any]:
    """A claim as an entry of a typed value: time, text, source and line."""
    first = claim.citations[0] if claim.citations else None
    return {
        "time": claim.time,
        "text": claim.text,
        "source": first.source if first else "",
        "line": first.line_start if first else None,
    }


def _extreme(inputs: Inputs, name: str, at: int) -> Observation:
    """The first or last in time; where nothing has a time, in the order of the text."""
    claims = [*inputs.claims, *map(inputs.line_claim, inputs.every_hit())]
    ordered = in_time_order([claim for claim in claims if claim.time] or claims)
    if not ordered:
        return _result(name, None, "nothing to compare", [], [])
    claim = ordered[at]
    computed = Computed(name=name, lines=(claim.text,), claim_ids=(claim.id,))
    return _result(name, entry(claim), claim.text[:200], [computed], [claim])


def _quantity(claim: Claim) -> float | None:
    """The number that a claim states: of a typed field, else of its text."""
    for text in (*(field.value for field in claim.fields), claim.text):
        found = _NUMBER.search(text)
        if found:
            return float(found.group().replace(",", ""))
    return None


def _by_quantity(inputs: Inputs) -> list[Claim]:
    valued = [(value, claim) for claim in inputs.claims if (value := _quantity(claim)) is not None]
    return [claim for _, claim in sorted(valued, key=lambda each: each[0])]


def _magnitude(inputs: Inputs, name: str, at: int) -> Observation:
    ordered = _by_quantity(inputs)
    if not ordered:
        return _result(name, None, "no quantity to compare", [], [])
    claim = ordered[at]
    computed = Computed(name=name, lines=(claim.text,), claim_ids=(claim.id,))
    return _result(name, _quantity(claim), claim.text[:200], [computed], [claim])


def _sort(inputs: Inputs) -> Observation:
    ordered = _by_quantity(inputs) or _timed(inputs)
    lines = tuple(claim.text for claim in ordered)
    ids = tuple(claim.id for claim in ordered)
    summary = f"{counted(len(ordered), 'statement')} sorted"
    return _result(
        "sort", list(lines), summary, [Computed(name="sort", lines=lines, claim_ids=ids)], ordered
    )


def _distinct(inputs: Inputs) -> Observation:
    groups: dict[str, list[Claim]] = {}
    for claim in inputs.claims or _timed(inputs):
        for value in [field.value for field in claim.fields] or [claim.text]:
            groups.setdefault(" ".join(value.split()), []).append(claim)
    ids = tuple(dict.fromkeys(claim.id for each in groups.values() for claim in each))
    lines = tuple(f"{value} ({len(each)})" for value, each in groups.items())
    summary = f"{counted(len(groups), 'distinct value')}: {listed(lines)}"
    computed = Computed(name="distinct", lines=lines, claim_ids=ids)
    return _result("distinct", list(groups), summary, [computed], inputs.claims)


def _difference(inputs: Inputs) -> Observation:
    """What the first target has and the others have not, by the words of claims or the text of lines."""
    sets = [_texts(payload, inputs) for payload in inputs.payloads]
    if len(sets) < 2:
        raise MissingInput("a difference needs two finished steps")
    others = set().union(*(each.keys() for each in sets[1:]))
    kept = [claim for text, claim in sets[0].items() if text not in others]
    lines = tuple(claim.text for claim in kept)
    ids = tuple(claim.id for claim in kept)
    summary = f"{counted(len(kept), 'statement')} only in the first"
    computed = Computed(name="difference", lines=lines, claim_ids=ids)
    return _result("difference", list(lines), summary, [computed], kept)


def _texts(payload: Payload, inputs: Inputs) -> dict[str, Claim]:
    """Claims by their words; for a search, its lines, and all of them: a cut set has false differences."""
    search = next((search for found, search in inputs.searches if found == payload), None)
    if search is not None and isinstance(payload, Scanned):
        claims = [inputs.line_claim(hit) for hit in search.every_hit(payload)]
    else:
        claims = list(claims_of([payload]))
    return {" ".join(claim.text.split()).casefold(): claim for claim in claims}


def _timeline(inputs: Inputs) -> Observation:
    ordered = _timed(_grouped(inputs))
    lines = tuple(
        f"{claim.time or '-'} | {claim.id} | {_spread(claim)}{claim.text}" for claim in ordered
    )
    ids = tuple(claim.id for claim in ordered)
    first, last = (ordered[0].time, ordered[-1].time) if ordered else ("", "")
    summary = f"{counted(len(ordered), 'event')} from {first or '?'} to {last or '?'}"
    computed = Computed(name="timeline", lines=lines, claim_ids=ids)
    return _result("timeline", [entry(claim) for claim in ordered], summary, [computed], ordered)


def _field(claim: Claim, name: str) -> str:
    return next((field.value for field in claim.fields if field.name == name), "")


def _spread(claim: Claim) -> str:
    """How often and until when an event was seen, as a prefix of its line; empty for a single one."""
    times = _field(claim, "occurrences")
    until = _field(claim, "last_seen")
    return f"[{times} times until {until}] " if until and times not in ("", "1") else ""


def _grouped(inputs: Inputs) -> Inputs:
    """Claims of one template in one source become its first occurrence, with the number of all and the last time.

    Readers see one partition each and report each template once a partition; only code sees that it is the same.
    """
    groups: dict[tuple[str, str], list[Claim]] = {}
    single = []
    for claim in in_time_order(inputs.claims):
        template = _field(claim, "template")
        if template and claim.citations:
            groups.setdefault((claim.citations[0].source, template), []).append(claim)
        else:
            single.append(claim)
    claims = [*single, *(_first_of(group) for group in groups.values())]
    return replace(inputs, claims=merged(claims, inputs.workspace.source_rank))


def _first_of(group: Sequence[Claim]) -> Claim:
    """One claim for a group in the order of time: the first, which cites the first and the last occurrence."""
    first, last = group[0], group[-1]
    total = sum(int(_field(claim, "occurrences") or 1) for claim in group)
    kept = tuple(
        field for field in first.fields if field.name not in ("occurrences", "last_seen", "windows")
    )
    until = _field(last, "last_seen") or last.time
    added = {"occurrences": str(total), "last_seen": until, "windows": str(len(group))}
    fields = [
        *kept,
        *(Field(name=name, value=value) for name, value in added.items()),
    ]
    ends = tuple(dict.fromkeys((first.citations[0], last.citations[-1])))
    return first.model_copy(update={"fields": tuple(fields), "citations": ends})


def _conflicts(inputs: Inputs) -> Observation:
    """Claims that give one field different values, side by side. Nothing decides which of them is right."""
    topics: dict[str, dict[str, list[Claim]]] = {}
    for claim in inputs.claims:
        for field in claim.fields:
            if field.name not in _BOOKKEEPING:
                values = topics.setdefault(_key(field.name), {})
                values.setdefault(_key(field.value), []).append(claim)
    found = _together({each: values for each, values in topics.items() if _contradictory(values)})
    computed = [
        Computed(
            name=f"conflict: {topic}",
            lines=tuple(f"{each[0].id} = {value}" for value, each in values.items()),
            claim_ids=tuple(claim.id for each in values.values() for claim in each),
        )
        for topic, values in found.items()
    ]
    involved = {claim_id for each in computed for claim_id in each.claim_ids}
    claims = [claim for claim in inputs.claims if claim.id in involved]
    value = [{"topic": topic, "values": list(values)} for topic, values in found.items()]
    summary = f"{counted(len(found), 'conflict')}: {listed(found)}" if found else "no conflict"
    return _result("conflicts", value, summary, computed, claims)


def _together(found: dict[str, dict[str, list[Claim]]]) -> dict[str, dict[str, list[Claim]]]:
    """Conflicts with each one between the same claims told once: a weekday and an hour may both differ."""
    joined: dict[tuple[tuple[str, ...], ...], list[tuple[str, dict[str, list[Claim]]]]] = {}
    for topic, values in found.items():
        sides = tuple(tuple(claim.id for claim in each) for each in values.values())
        joined.setdefault(sides, []).append((topic, values))
    result = {}
    for group in joined.values():
        names = ", ".join(topic for topic, _ in group)
        stated = zip(*(values for _, values in group), strict=True)
        sides = group[0][1].values()
        result[names] = {
            ", ".join(each): claims for each, claims in zip(stated, sides, strict=True)
        }
    return result


def _contradictory(values: dict[str, list[Claim]]) -> bool:
    """Whether different claims give different values; two numbers within one statement are not at odds."""
    stated = [{claim.id for claim in each} for each in values.values()]
    return len(stated) > 1 and len(set().union(*stated)) > 1


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


_OPERATIONS: dict[str, Callable[[Inputs], Observation]] = {
    "count": _count,
    "count_by_source": _by_source,
    "count_by_time": _by_time,
    "distinct": _distinct,
    "earliest": lambda inputs: _extreme(inputs, "earliest", 0),
    "latest": lambda inputs: _extreme(inputs, "latest", -1),
    "minimum": lambda inputs: _magnitude(inputs, "minimum", 0),
    "maximum": lambda inputs: _magnitude(inputs, "maximum", -1),
    "sort": _sort,
    "difference": _difference,
    "timeline": _timeline,
    "conflicts": _conflicts,
}
