"""The leaf reader: the units of the spans shown that support an answer, as claims with verbatim quotes."""

from dataclasses import dataclass

from runtime.models.extractive.lexicon_draft import stems
from runtime.models.extractive.score import term_weights, unit_scores
from runtime.models.extractive.times import leading_time, times_in
from runtime.models.extractive.units import units_of
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
    """Read the spans for the question. DRAFT: patterns, timeline and conflict come with the next version."""
    units = [(s, u, stems(s.text[u.start : u.end])) for s in spans for u in units_of(s.text)]
    weights = term_weights(question, terms, [u[2] for u in units])
    raw = unit_scores(weights, [u[2] for u in units])
    best = max(raw, default=0.0)
    limit = {"lookup": 3, "existence": 3}.get(kind, 8)
    order = sorted(range(len(units)), key=lambda i: (-raw[i], i))[:limit]
    claims, evidence = [], []
    for n, i in enumerate(sorted(i for i in order if raw[i] > 0 and raw[i] >= 0.6 * best), 1):
        span, unit, _ = units[i]
        quote = span.text[unit.start : unit.end]
        stamp = leading_time(quote) or next(iter(times_in(quote)), "")
        claims.append(LeafClaim(claim_id=f"c{n}", text=" ".join(quote.split()), status="direct", time=stamp))
        evidence.append(EvidenceRef(claim_id=f"c{n}", span_id=span.span_id, quote=quote))
    return Reading(claims, evidence, [], [] if claims else ["nothing in these spans answers the question"])
