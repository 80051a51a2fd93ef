"""The leaf reader: the units of the spans shown that support an answer, as claims with verbatim quotes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from runtime.lexicon import words
from runtime.models.extractive.events import Event, events
from runtime.models.extractive.fields import Field
from runtime.models.extractive.score import focus_of
from runtime.models.extractive.select import supporting
from runtime.models.extractive.shown import Shown, shown_units
from runtime.models.extractive.statements import statements
from runtime.models.extractive.times import leading_time, times_in
from runtime.questions.clock import clock_range
from runtime.questions.framing import exceptions
from runtime.questions.mentions import about, quoted_patterns, without_quotes
from signatures import ClaimField, EvidenceRef, EvidenceSpan, LeafClaim, TermStatistic


@dataclass(frozen=True)
class Reading:
    """What a leaf says about a question: the four lists of `AnalyzeLeaf`."""

    claims: list[LeafClaim]
    evidence: list[EvidenceRef]
    fields: list[ClaimField]
    unknowns: list[str]


@dataclass(frozen=True)
class _Finding:
    """What becomes one claim: a text, its time, where it is quoted from, and its fields."""

    time: str
    quotes: tuple[tuple[EvidenceSpan, str], ...]
    fields: tuple[Field, ...] = ()


def read_leaf(
    question: str,
    kind: str,
    patterns: list[str],
    spans: list[EvidenceSpan],
    terms: list[TermStatistic],
) -> Reading:
    """Read the spans for the question. No claims where nothing shown supports an answer."""
    if not about(question, patterns):
        # A part of a question is not about the strings of the other parts.
        patterns = quoted_patterns(question, apart=True) or patterns
    units = list(_answering(question, shown_units(spans)))
    if kind == "conflict":
        found = statements(question, patterns, terms, units)
        return _reading(
            [_Finding(_time(s.unit.text), _quote(s.unit, s.unit), s.fields) for s in found], []
        )
    focus = focus_of(question, terms, units)
    if kind == "timeline":
        happened, more = events(patterns, focus, units)
        cut = [f"{more} further kinds of event in these spans are left out"] if more else []
        return _reading([_happening(event) for event in happened], cut)
    chosen = supporting(kind, patterns, focus, units)
    stretches = [_quote(units[group[0]], units[group[-1]]) for group in _groups(chosen, units)]
    return _reading([_Finding(_time(quotes[0][1]), quotes) for quotes in stretches], [])


def _answering(question: str, units: Sequence[Shown]) -> Iterator[Shown]:
    """The units; what cannot be an answer, by its words or its time, is context only."""
    return _without_exceptions(question, _within_the_hours(question, _saying_more(question, units)))


def _without_exceptions(question: str, units: Iterable[Shown]) -> Iterator[Shown]:
    """The units; one that holds what the question names as an exception is context only."""
    named = exceptions(without_quotes(question))
    held = re.compile("|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in named), re.IGNORECASE)
    for unit in units:
        yield replace(unit, quotable=False) if named and held.search(unit.text) else unit


def _saying_more(question: str, units: Sequence[Shown]) -> Iterator[Shown]:
    """The units; one that only repeats the question (a data set of questions has it) is context, no answer."""
    asked = words(question)
    for unit in units:
        repeats = unit.text.endswith(("?", "？")) and words(unit.text) == asked
        yield replace(unit, quotable=False) if repeats else unit


def _within_the_hours(question: str, units: Iterable[Shown]) -> Iterator[Shown]:
    """The units; what lies outside of the time of day that the question names is context only."""
    hours = clock_range(question)
    outside = False
    for unit in units:
        held = hours.holds(leading_time(unit.text)) if hours else None
        outside = outside if held is None else not held
        yield replace(unit, quotable=False) if outside else unit


def _groups(chosen: Sequence[int], units: Sequence[Shown]) -> list[list[int]]:
    """Neighboring sentences of one paragraph become one claim; lines stand for themselves."""
    groups: list[list[int]] = []
    for i in chosen:
        last = groups[-1][-1] if groups else None
        if last is not None and i == last + 1 and _continues(units[last], units[i]):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _continues(before: Shown, unit: Shown) -> bool:
    return unit.span is before.span and unit.form == before.form == "sentence" and not unit.opens


def _quote(first: Shown, last: Shown) -> tuple[tuple[EvidenceSpan, str], ...]:
    return ((first.span, first.span.text[first.start : last.end]),)


def _time(quote: str) -> str:
    return leading_time(quote) or next(iter(times_in(quote)), "")


def _happening(event: Event) -> _Finding:
    """An event as a finding: the first line says it, the last line bears out until when it occurred."""
    quotes = _quote(event.first, event.first)
    if event.occurrences > 1:
        quotes += _quote(event.last, event.last)
    fields = {
        "template": event.template if event.first.form == "record" else "",
        "occurrences": str(event.occurrences) if event.first.form == "record" else "",
        "last_seen": event.last_time if event.occurrences > 1 else "",
        "severity": event.severity,
        "component": event.component,
    }
    return _Finding(
        event.time, quotes, tuple(Field(name, value) for name, value in fields.items() if value)
    )


def _reading(findings: Sequence[_Finding], unknowns: list[str]) -> Reading:
    claims: list[LeafClaim] = []
    evidence: list[EvidenceRef] = []
    fields: list[ClaimField] = []
    for number, finding in enumerate(findings, 1):
        key = f"c{number}"
        text = " ".join(finding.quotes[0][1].split())
        claims.append(LeafClaim(claim_id=key, text=text, status="direct", time=finding.time))
        evidence += [
            EvidenceRef(claim_id=key, span_id=span.span_id, quote=q) for span, q in finding.quotes
        ]
        fields += [
            ClaimField(claim_id=key, name=field.name, value=field.value) for field in finding.fields
        ]
    return Reading(claims, evidence, fields, unknowns)
