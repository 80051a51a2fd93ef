"""Answer: what every program returns, and the JSON that `spantree ask --json` prints."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from runtime.claims import Claim

Outcome = Literal["answered", "partial", "not_found", "not_found_in_covered", "escalated", "failed"]


class Part(BaseModel):
    """Base of the parts of an answer: frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Conflict(Part):
    """Claims that contradict each other about one thing, side by side."""

    topic: str
    claim_ids: tuple[str, ...]
    values: tuple[str, ...]


class Search(Part):
    """An exhaustive search that was made, or a ranking, which is not exhaustive."""

    method: Literal["scan", "rank"]
    query: str
    total: int
    sources: int
    exhaustive: bool


class Characters(Part):
    """Distinct characters of the sources that a question is about: all of them, and how many of them code went
    through (`read`), a model was shown (`shown`) and the answer cites (`cited`)."""

    total: int
    read: int
    shown: int
    cited: int


class Coverage(Part):
    """Which partitions the answer needed, and what became of them. Ids are partition ids; `unparsed` are source ids.

    `truncations` says in words what was cut. `ratio` is completed / required, or None when nothing is required.
    `characters` is None while the run goes on.
    """

    required: tuple[str, ...]
    completed: tuple[str, ...]
    failed: tuple[str, ...]
    unread: tuple[str, ...]
    unparsed: tuple[str, ...]
    searches: tuple[Search, ...]
    truncations: tuple[str, ...]
    partitions: int
    characters: Characters | None = None

    @property
    def ratio(self) -> float | None:
        """Completed share of the required partitions, or None when none is required."""
        return len(self.completed) / len(self.required) if self.required else None


class Receipt(Part):
    """What a run used. `cost_usd` is None when a price is unknown. Times are in seconds."""

    model: str
    leaf_model: str
    calls: int
    cached_calls: int
    failed_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    wall_seconds: float
    max_depth: int
    retries: int
    sandbox_seconds: float


class StepLine(Part):
    """One step as the answer lists it."""

    frame_id: str
    id: str
    description: str
    status: str


class Answer(Part):
    """The answer of a run. `claims` are its statements with verified citations; `value` is typed where the
    question has one.

    `degraded_by` says in words what a fallback stands for. `program` is the one that answered, and `route` says why
    where it was chosen for the question; else it is empty.
    """

    text: str
    value: Any
    outcome: Outcome
    claims: tuple[Claim, ...]
    conflicts: tuple[Conflict, ...]
    unknowns: tuple[str, ...]
    warnings: tuple[str, ...]
    coverage: Coverage
    receipt: Receipt
    steps: tuple[StepLine, ...]
    degraded: bool
    run_id: str
    corpus_version: str
    question: str
    kind: str
    program: str
    route: str = ""
    degraded_by: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form: plain data, documented in the README."""
        coverage = self.coverage
        return {
            "answer": self.text,
            "value": self.value,
            "outcome": self.outcome,
            "claims": [_claim(claim) for claim in self.claims],
            "conflicts": [conflict.model_dump(mode="json") for conflict in self.conflicts],
            "unknowns": list(self.unknowns),
            "warnings": list(self.warnings),
            "coverage": {
                "ratio": coverage.ratio,
                "required": len(coverage.required),
                "completed": len(coverage.completed),
                "failed": len(coverage.failed),
                "unread": len(coverage.unread),
                "unparsed": len(coverage.unparsed),
                "searches": [search.model_dump(mode="json") for search in coverage.searches],
                "truncations": list(coverage.truncations),
                "partitions": coverage.partitions,
                "characters": coverage.characters.model_dump(mode="json")
                if coverage.characters
                else None,
                "details": {
                    "failed": list(coverage.failed),
                    "unread": list(coverage.unread),
                    "unparsed": list(coverage.unparsed),
                },
            },
            "receipt": self.receipt.model_dump(mode="json"),
            "steps": [step.model_dump(mode="json") for step in self.steps],
            "degraded": self.degraded,
            "degraded_by": list(self.degraded_by),
            "run_id": self.run_id,
            "corpus_version": self.corpus_version,
            "question": self.question,
            "kind": self.kind,
            "program": self.program,
            "route": self.route,
        }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "id": claim.id,
        "text": claim.text,
        "status": claim.status,
        "time": claim.time,
        "premises": list(claim.premises),
        "citations": [
            {
                "source": citation.source,
                "start": citation.start,
                "end": citation.end,
                "line_start": citation.line_start,
                "line_end": citation.line_end,
                "quote": citation.quote,
                "span_id": citation.span_id,
                "verified": citation.verified,
                "verdict": citation.verdict,
            }
            for citation in claim.citations
        ],
    }
