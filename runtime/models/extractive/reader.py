"""The leaf reader: the units of the spans shown that support an answer, as claims with verbatim quotes."""

from collections.abc import Sequence
from dataclasses import dataclass

from runtime.models.extractive.score import focus_of
from runtime.models.extractive.select import supporting
from runtime.models.extractive.shown import Shown, shown_units
from runtime.models.extractive.times import leading_time, times_in
from signatures import ClaimField, EvidenceRef, EvidenceSpan, LeafClaim, TermStatistic


@dataclass(frozen=True)
class Reading:
    """What a leaf says about a question: the four lists of `AnalyzeLeaf`."""

    claims: list[LeafClaim]
    evidence: list[EvidenceRef]
    fields: list[ClaimField]
    unknowns: list[str]


def read_leaf(
    question: str, kind: str, patterns: list[str], spans: list[EvidenceSpan], terms: list[TermStatistic]
) -> Reading:
    """Read the spans for the question. No claims where nothing shown supports an answer."""
    units = shown_units(spans)
    focus = focus_of(question, terms, units)
    chosen = supporting(kind, patterns, focus, units)
    return _reading([_Finding(units[group[0]], units[group[-1]]) for group in _groups(chosen, units)])


@dataclass(frozen=True)
class _Finding:
    """A stretch of one span, from the start of its first unit to the end of its last."""

    first: Shown
    last: Shown


def _groups(chosen: Sequence[int], units: Sequence[Shown]) -> list[list[int]]:
    """Neighboring sentences of one span and one paragraph become one claim; lines stand for themselves."""
    groups: list[list[int]] = []
    for i in chosen:
        last = groups[-1][-1] if groups else None
        if last is not None and i == last + 1 and _continues(units[last], units[i]):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _continues(before: Shown, unit: Shown) -> bool:
    return unit.span is before.span and unit.form == before.form == "sentence"


def _reading(findings: Sequence[_Finding]) -> Reading:
    claims: list[LeafClaim] = []
    evidence: list[EvidenceRef] = []
    for number, finding in enumerate(findings, 1):
        span = finding.first.span
        quote = span.text[finding.first.start : finding.last.end]
        claim_id = f"c{number}"
        time = leading_time(quote) or next(iter(times_in(quote)), "")
        claims.append(LeafClaim(claim_id=claim_id, text=" ".join(quote.split()), status="direct", time=time))
        evidence.append(EvidenceRef(claim_id=claim_id, span_id=span.span_id, quote=quote))
    return Reading(claims, evidence, [], [])
