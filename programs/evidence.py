"""Evidence as it is shown to a reader: delimited data, its field markers neutralized (see runtime/untrusted.py)."""

from data.corpus import Corpus
from data.span import Span
from runtime.untrusted import MARKER, NEUTRAL, neutralize, neutralized, restore, restored
from signatures import EvidenceSpan

__all__ = [
    "MARGIN",
    "MARKER",
    "NEUTRAL",
    "neutralize",
    "neutralized",
    "restore",
    "restored",
    "shown",
]

MARGIN = 160
"""Code points of neighboring text shown on each side of a reading's ends."""


def shown(corpus: Corpus, spans: tuple[Span, ...]) -> list[EvidenceSpan]:
    """The spans as a reader sees them. A margin is shown only where the neighbor is not itself shown."""
    edges = {(span.source, span.end) for span in spans}
    starts = {(span.source, span.start) for span in spans}
    views = []
    for span in spans:
        source = corpus.source(span.source)
        before = after = ""
        if span.start > 0 and (span.source, span.start) not in edges:
            before = corpus.slice(span.source, max(0, span.start - MARGIN), span.start)
        if span.end < source.characters and (span.source, span.end) not in starts:
            end = min(source.characters, span.end + MARGIN)
            after = corpus.slice(span.source, span.end, end)
        views.append(
            EvidenceSpan(
                span_id=span.id,
                source=neutralize(span.source),
                first_line=span.first_line,
                margin_before=neutralize(before),
                text=neutralize(corpus.slice(span.source, span.start, span.end)),
                margin_after=neutralize(after),
            )
        )
    return views
