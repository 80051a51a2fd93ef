"""Verification: the one place where a quote becomes a citation, for every program.

A citation is made only when the quoted characters stand in the span that was named, at a place that was shown. Nothing
is matched approximately: a quote that differs in white space alone is re-anchored to the exact slice (and says so),
everything else is rejected with a verdict.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from data.corpus import Corpus
from data.span import Span
from programs.evidence import restore
from programs.sight import Sight
from runtime.claims import Citation, Claim, Field, Rejection, Verdict
from runtime.errors import NotFound
from runtime.support import related, touching
from signatures import ClaimField, ClaimStatus, EvidenceRef, LeafClaim

MAX_CITATIONS = 1_000
"""Citations kept for one claim; a computed claim over more lines says that it was cut."""

_CAUSAL = re.compile(
    r"\b(caus(?:e|ed|es|ing)|because|due to|led to|leads to|result(?:ed|s)? in|resulting from|"
    r"triggered|as a result|owing to|therefore)\b|导致|引起|因为|由于|造成|引发|触发",
    re.IGNORECASE,
)


def places(quote: str, text: str) -> Iterator[tuple[int, int, Verdict]]:
    """Where a quote stands in a text: start, end and how it matched, the closest matches first."""
    for candidate in dict.fromkeys((quote, restore(quote), quote.strip(), restore(quote).strip())):
        start = text.find(candidate) if candidate.strip() else -1
        following = text.find(candidate, start + 1) if start >= 0 else -1
        verdict: Verdict = "repeated" if following >= 0 else "verbatim"
        while start >= 0:
            yield start, start + len(candidate), verdict
            start, following = following, -1
            if start >= 0:
                following = text.find(candidate, start + 1)
    words = restore(quote).split()
    if len(words) > 1:
        for match in re.finditer(r"\s+".join(map(re.escape, words)), text):
            yield match.start(), match.end(), "reflowed"


class Verifier:
    """Turns evidence references into citations, against the spans that were shown to the reader.

    Where these were shown in part, `sight` tells which: a quote of the rest is a guess, however right it is.
    """

    def __init__(self, corpus: Corpus, spans: Sequence[Span], sight: Sight | None = None) -> None:
        self._corpus = corpus
        self._spans: Mapping[str, Span] = {span.id: span for span in spans}
        self._sight = sight

    def anchor(self, ref: EvidenceRef) -> Citation | Rejection:
        """The citation of a reference, or the reason why there is none."""
        if not ref.quote.strip():
            return self._reject(ref, "empty")
        span = self._spans.get(ref.span_id)
        if span is None:
            return self._reject(ref, "unknown_span")
        found = list(self._places(span, ref.quote))
        for start, end, verdict in found:
            if self._is_shown(span.source, start, end):
                return cite(self._corpus, span, start, end, verdict)
        return self._reject(ref, "not_shown" if found else self._elsewhere(ref))

    def _places(self, span: Span, quote: str) -> Iterator[tuple[int, int, Verdict]]:
        """Where a quote stands in a span, in code points of the source."""
        text = self._corpus.slice(span.source, span.start, span.end)
        for start, end, verdict in places(quote, text):
            yield span.start + start, span.start + end, verdict

    def _is_shown(self, source: str, start: int, end: int) -> bool:
        """Whether a stretch was shown. White space need not be: lines are shown one by one without their ends."""
        if self._sight is None:
            return True
        gaps = self._sight.gaps(source, start, end)
        return all(self._corpus.slice(source, *gap).isspace() for gap in gaps)

    def _elsewhere(self, ref: EvidenceRef) -> Verdict:
        """Whether the quote is right but stands in another of the spans shown."""
        for span in self._spans.values():
            if span.id != ref.span_id:
                found = self._places(span, ref.quote)
                if any(self._is_shown(span.source, start, end) for start, end, _ in found):
                    return "wrong_source"
        return "not_in_text"

    def _reject(self, ref: EvidenceRef, verdict: Verdict) -> Rejection:
        return Rejection(
            claim=ref.claim_id, span_id=ref.span_id, quote=ref.quote[:400], verdict=verdict
        )

    def claims(
        self,
        found: Sequence[LeafClaim],
        evidence: Sequence[EvidenceRef],
        fields: Sequence[ClaimField],
        prefix: str,
    ) -> tuple[tuple[Claim, ...], tuple[Rejection, ...]]:
        """Verified claims with ids unique under `prefix`, and the references that were rejected."""
        cited: dict[str, list[Citation]] = {}
        rejected = []
        for ref in evidence:
            result = self.anchor(ref)
            if isinstance(result, Citation):
                cited.setdefault(ref.claim_id, []).append(result)
            else:
                rejected.append(result)
        claims = []
        for number, claim in enumerate(found, 1):
            citations = _distinct(cited.get(claim.claim_id, []))
            claims.append(
                Claim(
                    id=f"{prefix}.{number}",
                    text=restore(claim.text),
                    status=settled_status(claim, citations),
                    time=restore(claim.time),
                    citations=citations,
                    fields=tuple(
                        Field(name=restore(field.name), value=restore(field.value))
                        for field in fields
                        if field.claim_id == claim.claim_id
                    ),
                )
            )
        return tuple(claims), tuple(rejected)


def settled_status(claim: LeafClaim, citations: Sequence[Citation]) -> ClaimStatus:
    """The status that the evidence allows: none without citations, no conflict with a single side.

    A statement that says something else than its quotes is an inference, and so is a conflict that fewer than two of
    them have anything to do with.
    """
    if not citations:
        return "insufficient"
    quotes = [each.quote for each in citations]
    if claim.status == "conflicting" and len(citations) > 1:
        return "conflicting" if touching(claim.text, quotes) > 1 else "inferred"
    if claim.status in ("direct", "conflicting"):
        beside = [*(each.source for each in citations), claim.time]
        said = supports_cause(claim.text, citations) and related(claim.text, quotes, beside)
        return "direct" if said else "inferred"
    return claim.status


def supports_cause(text: str, citations: Sequence[Citation]) -> bool:
    """Whether "A caused B" is said by a quote; without it the statement is an inference."""
    if not _CAUSAL.search(text):
        return True
    return any(_CAUSAL.search(citation.quote) for citation in citations)


def _distinct(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Citations without repetition, in the order of the text."""
    unique = {(each.source, each.start, each.end): each for each in citations}
    return tuple(unique[key] for key in sorted(unique))


def cite(corpus: Corpus, span: Span, start: int, end: int, verdict: Verdict) -> Citation:
    """The citation of a slice of a source that lies inside a span."""
    return Citation(
        source=span.source,
        start=start,
        end=end,
        line_start=corpus.line_of(span.source, start),
        line_end=corpus.line_of(span.source, max(start, end - 1)),
        quote=corpus.slice(span.source, start, end),
        span_id=span.id,
        verdict=verdict,
    )


def holds(corpus: Corpus, citation: Citation) -> bool:
    """Whether a citation is still exact: source known, range inside, slice equal to the quote."""
    try:
        size = corpus.source(citation.source).characters
    except NotFound:
        return False
    if not 0 <= citation.start < citation.end <= size:
        return False
    return corpus.slice(citation.source, citation.start, citation.end) == citation.quote


def checked(corpus: Corpus, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims with every citation checked once more, as the last step before an answer leaves."""
    result = []
    for claim in claims:
        citations = tuple(each for each in claim.citations if holds(corpus, each))
        status = claim.status
        if not citations and not claim.computed:
            status = "insufficient"
        result.append(claim.model_copy(update={"citations": citations, "status": status}))
    return tuple(result)
