"""What the tests of the page share: answers made by hand, and what a console gets of them."""

import io
from typing import Any

from rich.console import Console

from programs.answer import Answer, Coverage, Receipt
from runtime.claims import Citation, Claim
from spantree.cli.render import render_answer

RECEIPT = Receipt(
    model="extractive",
    leaf_model="extractive",
    calls=12,
    cached_calls=0,
    failed_calls=0,
    input_tokens=12000,
    output_tokens=345,
    cost_usd=0.0,
    wall_seconds=3.21,
    max_depth=0,
    retries=0,
    sandbox_seconds=0.0,
)
WHOLE = Coverage(
    required=("p1", "p2"),
    completed=("p1", "p2"),
    failed=(),
    unread=(),
    unparsed=(),
    searches=(),
    truncations=(),
    partitions=2,
)


def made(**changes: Any) -> Answer:
    """An answer that says nothing, with changes."""
    answer = Answer(
        text="",
        value=None,
        outcome="answered",
        claims=(),
        conflicts=(),
        unknowns=(),
        warnings=(),
        coverage=WHOLE,
        receipt=RECEIPT,
        steps=(),
        degraded=False,
        run_id="r1",
        corpus_version="0" * 16,
        question="?",
        kind="lookup",
        program="recursive",
    )
    claims = changes.get("claims", ())
    changes.setdefault("text", "\n".join(claim.text for claim in claims))
    return answer.model_copy(update=changes)


def cited(source: str, line: int, quote: str, last: int | None = None) -> Citation:
    """A citation of one line, or of several."""
    return Citation(
        source=source,
        start=line * 1000,
        end=line * 1000 + len(quote),
        line_start=line,
        line_end=last or line,
        quote=quote,
        span_id="0" * 12,
        verdict="verbatim",
    )


def said(id: str, text: str, *citations: Citation, **changes: Any) -> Claim:
    """A direct claim, with changes."""
    return Claim(**{"id": id, "text": text, "status": "direct", "citations": citations, **changes})


def printed(answer: Answer, width: int = 80) -> str:
    """What a console of this width gets."""
    stream = io.StringIO()
    render_answer(answer, width).print(Console(file=stream, width=width))
    return stream.getvalue()
