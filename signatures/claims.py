"""The types in which evidence is shown to a model and claims come back.

Lists are flat and refer to each other by id: nested and recursive schemas are refused by providers,
and a dict output disables structured output. Every field is required: a default would hide an omission.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

ClaimStatus = Literal["direct", "inferred", "conflicting", "insufficient"]


class Wire(BaseModel):
    """Base of everything that crosses a prompt: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceSpan(Wire):
    """One span as it is shown to a reader. The margins are context and cannot be cited."""

    span_id: str
    source: str
    first_line: int
    margin_before: str
    text: str
    margin_after: str


class TermStatistic(Wire):
    """How rare a word of the question is: `spans` of the corpus hold it, of `of` in all."""

    term: str
    spans: int
    of: int


class LeafClaim(Wire):
    """One statement of a reader. `claim_id`: c1, c2, ... `time`: the date or hour that the text gives for it, or empty."""

    claim_id: str
    text: str
    status: ClaimStatus
    time: str


class EvidenceRef(Wire):
    """A verbatim quote from one of the spans shown, in support of one claim."""

    claim_id: str
    span_id: str
    quote: str


class ClaimField(Wire):
    """A typed detail of a claim (who, how much, until when), for computation by code."""

    claim_id: str
    name: str
    value: str


class ClaimDigest(Wire):
    """A verified claim as the concluding step sees it."""

    claim_id: str
    text: str
    status: ClaimStatus
    time: str
    sources: list[str]
    quotes: list[str]


class ComputedValue(Wire):
    """A value that code computed (a count, an extreme, an order), with the claims behind it."""

    name: str
    value: str
    claim_ids: list[str]


class Statement(Wire):
    """One sentence of the answer and the claims that it rests on."""

    text: str
    status: ClaimStatus
    claim_ids: list[str]
