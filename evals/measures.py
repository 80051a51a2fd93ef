"""Measures: what two programs are compared by, each a number of a sample or nothing where it is undefined."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evals.log import SampleRecord
from evals.metrics import Ratio
from evals.score import SampleScore
from evals.summary import METRICS
from runtime.errors import UserError

Unit = Literal["share", "number", "usd", "seconds"]

PRIMARY = ("verified_correct", "evidence_recall", "citation_precision")
"""The metrics that a comparison is declared to be about: their p-values are adjusted as a family (Holm)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure. `higher`: more is better. `value` gives that of a sample, or None."""

    name: str
    unit: Unit
    higher: bool
    value: Callable[[SampleRecord], float | None]

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_usd", " in USD").replace("_", " ")

    def gain(self, difference: float) -> float:
        """A difference so that more is better."""
        return difference if self.higher else -difference


def measure(name: str) -> Measure:
    """The measure of this name. Raises UserError."""
    if name not in MEASURES:
        raise UserError(f"there is no metric {name!r}", hint=f"one of: {', '.join(MEASURES)}")
    return MEASURES[name]


def _ratio(name: str) -> Callable[[SampleRecord], float | None]:
    def value(record: SampleRecord) -> float | None:
        ratio: Ratio = getattr(record.score, name) if record.score else Ratio(0, 0)
        return ratio.value

    return value


def _of_score(
    pick: Callable[[SampleScore], float | None],
) -> Callable[[SampleRecord], float | None]:
    return lambda record: pick(record.score) if record.score else None


def _seconds(record: SampleRecord) -> float | None:
    """Wall time; what came from a cache says nothing about it, and an error has no time of an answer."""
    return record.seconds if record.state == "done" and not record.cached else None


MEASURES = {
    each.name: each
    for each in (
        *(Measure(name, "share", name != "unsupported", _ratio(name)) for name in METRICS),
        Measure("calls", "number", False, _of_score(lambda score: score.calls)),
        Measure("tokens", "number", False, _of_score(lambda s: s.input_tokens + s.output_tokens)),
        Measure("cost_usd", "usd", False, _of_score(lambda score: score.cost_usd)),
        Measure("seconds", "seconds", False, _seconds),
    )
}
"""All measures by name, the headline first."""
