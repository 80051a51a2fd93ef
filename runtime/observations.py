"""Observations: the typed outcome of a step, and the payloads that later steps use.

A payload holds span ids and offsets, never text that they can name; a claim's short quotes are the exception.
"""

from typing import Annotated, Any, Literal

from pydantic import Field as PydanticField

from runtime.claims import Claim, Computed, Record, Rejection


class HitRef(Record):
    """A matching line: offsets of the line without its line end."""

    source: str
    line: int
    start: int
    end: int


class Scanned(Record):
    """Result of an exhaustive search. `hits` is the first page of `total`."""

    kind: Literal["scan"] = "scan"
    patterns: tuple[str, ...]
    total: int
    by_source: tuple[tuple[str, int], ...]
    by_time: tuple[tuple[str, int], ...]
    hits: tuple[HitRef, ...]
    sources: tuple[str, ...]


class Ranked(Record):
    """Result of a relevance ranking: span ids, best first."""

    kind: Literal["rank"] = "rank"
    query: str
    span_ids: tuple[str, ...]


class ReadSpans(Record):
    """Spans fetched for a later analysis."""

    kind: Literal["read"] = "read"
    span_ids: tuple[str, ...]


class PartitionFailure(Record):
    """A partition that could not be analyzed."""

    partition_id: str
    error_class: str
    error: str


class Analyzed(Record):
    """Result of leaf analysis over readings: verified claims, and what became of each partition."""

    kind: Literal["analyze"] = "analyze"
    scope: Literal["partitions", "selection"]
    claims: tuple[Claim, ...]
    rejected: tuple[Rejection, ...]
    done: tuple[str, ...]
    failed: tuple[PartitionFailure, ...]
    unread: tuple[str, ...]
    unknowns: tuple[str, ...]


class ComputedResult(Record):
    """Result of a computation by code. `value` is typed JSON; `claims` are derived ones."""

    kind: Literal["compute"] = "compute"
    operation: str
    value: Any
    computed: tuple[Computed, ...]
    claims: tuple[Claim, ...]


class Concluded(Record):
    """Result of the closing step: the statements of the answer, as claims with citations.

    `rejected` are the references of a submitted answer that did not resolve.
    """

    kind: Literal["conclude"] = "conclude"
    statements: tuple[Claim, ...]
    unknowns: tuple[str, ...]
    mechanical: bool
    rejected: tuple[Rejection, ...] = ()


class Returned(Record):
    """What a child frame hands up: conclusions and error classes, never raw payloads."""

    kind: Literal["subtask"] = "subtask"
    frame_id: str
    claims: tuple[Claim, ...]
    computed: tuple[Computed, ...]
    value: Any
    unknowns: tuple[str, ...]
    error_classes: tuple[str, ...]
    steps_done: int
    steps_failed: int


class SourcesListed(Record):
    """Result of a look at what the corpus consists of: source ids, or the partitions of one source."""

    kind: Literal["sources"] = "sources"
    sources: tuple[str, ...]
    partitions: tuple[str, ...]
    next_cursor: int | None


class BudgetTold(Record):
    """What was left when it was asked for, in words. It is kept, so that a replay tells the same."""

    kind: Literal["budget"] = "budget"
    text: str


class CellRan(Record):
    """Result of a cell of code. Its output is not kept: a replay makes it again. `error` is what the model was told."""

    kind: Literal["cell"] = "cell"
    code_hash: str
    output_characters: int
    tool_calls: int
    seconds: float
    reset: bool
    error: str


Payload = Annotated[
    SourcesListed
    | BudgetTold
    | CellRan
    | Scanned
    | Ranked
    | ReadSpans
    | Analyzed
    | ComputedResult
    | Concluded
    | Returned,
    PydanticField(discriminator="kind"),
]


class Observation(Record):
    """The typed outcome of a step. `summary` is short and factual: it is what prompts see."""

    success: bool
    error_class: str
    error: str
    summary: str
    payload: Payload | None
    result_hash: str
