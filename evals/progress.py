"""Progress of an evaluation: how far it is, and its metrics so far."""

from collections.abc import Callable
from dataclasses import dataclass, field

from evals.log import SampleRecord


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment of an evaluation. `kept` samples were in the log already. Metrics are None while undefined.

    `verified` is the share of verified-correct answers, `recall` the mean evidence recall; errors are in neither.
    """

    done: int
    total: int
    kept: int
    errors: int
    verified: float | None
    recall: float | None
    calls: int
    tokens: int


Listener = Callable[[Moment], None]
"""Receives progress; it cannot change the evaluation."""


@dataclass
class Mean:
    """A mean that grows: what is undefined does not count."""

    total: float = 0.0
    number: int = 0

    def add(self, value: float | None) -> None:
        """Count a value in, unless it is undefined."""
        if value is not None:
            self.total += value
            self.number += 1

    @property
    def value(self) -> float | None:
        """The mean, or None before there is a value."""
        return self.total / self.number if self.number else None


@dataclass
class RunningMetrics:
    """Sums over the records so far."""

    total: int
    kept: int = 0
    done: int = 0
    errors: int = 0
    calls: int = 0
    tokens: int = 0
    verified: Mean = field(default_factory=Mean)
    recall: Mean = field(default_factory=Mean)

    def add(self, record: SampleRecord) -> None:
        """Count a record in."""
        self.done += 1
        self.errors += record.state == "error"
        spent = [each.spent for each in record.failures]
        for used in filter(None, (record.score, *spent)):
            self.calls += used.calls
            self.tokens += used.input_tokens + used.output_tokens
        if record.score is not None:
            self.verified.add(record.score.verified_correct.value)
            self.recall.add(record.score.evidence_recall.value)

    @property
    def moment(self) -> Moment:
        """Where the evaluation stands."""
        return Moment(
            done=self.done,
            total=self.total,
            kept=self.kept,
            errors=self.errors,
            verified=self.verified.value,
            recall=self.recall.value,
            calls=self.calls,
            tokens=self.tokens,
        )
