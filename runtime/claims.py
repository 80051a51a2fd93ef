"""Claims and citations as a run keeps them, after verification."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from signatures import ClaimStatus

Verdict = Literal[
    "verbatim",
    "reflowed",
    "repeated",
    "empty",
    "unknown_span",
    "wrong_source",
    "not_in_text",
    "not_shown",
]
"""How an evidence reference relates to the text. The first three resolve to an exact slice of the source."""


class Record(BaseModel):
    """Base of everything that the journal keeps: frozen, strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Citation(Record):
    """A verbatim quote and where it stands: half-open code points of the decoded text, lines from 1.

    It is only made by verification: the slice [start, end) of `source` equals `quote`.
    """

    source: str
    start: int
    end: int
    line_start: int
    line_end: int
    quote: str
    span_id: str
    verdict: Verdict
    verified: Literal[True] = True


class Field(Record):
    """A typed detail of a claim."""

    name: str
    value: str


class Claim(Record):
    """One statement with its verified citations. `premises` are claim ids that an inferred claim rests on."""

    id: str
    text: str
    status: ClaimStatus
    time: str = ""
    citations: tuple[Citation, ...] = ()
    fields: tuple[Field, ...] = ()
    premises: tuple[str, ...] = ()
    computed: bool = False


class Computed(Record):
    """A value that code computed. `lines` is its text, one entry a line; `claim_ids` what it rests on."""

    name: str
    lines: tuple[str, ...]
    claim_ids: tuple[str, ...]


class Rejection(Record):
    """An evidence reference that did not resolve, and why: kept in the journal, never in an answer."""

    claim: str
    span_id: str
    quote: str
    verdict: Verdict
