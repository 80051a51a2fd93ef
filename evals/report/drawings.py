"""Drawings: the charts of the report, from the numbers of its programs."""

from dataclasses import dataclass

from markupsafe import Markup

from evals.contenders import Contender
from evals.estimates import Estimate
from evals.measures import MEASURES
from evals.report.charts import (
    Curve,
    Measured,
    Point,
    Row,
    by_group,
    cost_against_quality,
    frontier,
    latency,
)
from evals.report.fronts import UNITS
from evals.report.tables import REACH, Field
from evals.report.text import shown


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart with what is said below it."""

    svg: Markup
    caption: str


def kind_drawings(field: Field) -> list[Drawing]:
    """Verified-correct and evidence recall by kind."""
    return [
        Drawing(_grouped(field, f"kinds-{name}", name), f"{MEASURES[name].title}, by kind")
        for name in ("verified_correct", "evidence_recall")
    ]


def cost_drawings(field: Field) -> list[Drawing]:
    """Cost against quality, and the distribution of seconds."""
    return [*_pareto(field), *_latency(field)]


def coverage_drawings(field: Field) -> list[Drawing]:
    """What was examined of what was needed, read by code, shown to a model."""
    rows = [
        Row(shown(each.label), at, tuple(_point(field.estimate(each, name)) for name in REACH))
        for at, each in enumerate(field.entered)
    ]
    groups = [MEASURES[name].title for name in REACH]
    drawn = by_group("coverage-chart", groups, rows, label="share")
    return [Drawing(Markup(drawn), "mean shares over questions, with 95 % intervals")]


def _grouped(field: Field, name: str, measure: str) -> Markup:
    rows = [
        Row(
            shown(each.label),
            at,
            tuple(_point(field.estimate(each, measure, kind)) for kind in field.kinds),
        )
        for at, each in enumerate(field.entered)
    ]
    return Markup(by_group(name, list(field.kinds), rows, label=MEASURES[measure].title))


def _pareto(field: Field) -> list[Drawing]:
    priced = _is_priced(field.entered)
    name = "cost_usd" if priced else "tokens"
    points = []
    for at, each in enumerate(field.entered):
        cost, quality = field.estimate(each, name), _point(field.estimate(each, "verified_correct"))
        if cost.mean is not None and quality is not None:
            points.append(Point(shown(each.label), at, cost.mean, quality))
    if not points:
        return []
    drawn = cost_against_quality(points, cost=UNITS[name], quality="verified correct")
    best = ", ".join(each.label for each in frontier(points))
    told = f"On the line are the programs that no other one beats in both: {best}."
    if not priced:
        told += " Prices are not known or zero, so that tokens stand for cost."
    return [Drawing(Markup(drawn), told)]


def _is_priced(entered: tuple[Contender, ...]) -> bool:
    """Whether every sample has a known price, and somebody paid one."""
    costs = [
        MEASURES["cost_usd"].value(record)
        for each in entered
        for record in each.records
        if record.score
    ]
    return None not in costs and any(costs)


def _latency(field: Field) -> list[Drawing]:
    curves = []
    for at, each in enumerate(field.entered):
        timed = tuple(filter(None, map(MEASURES["seconds"].value, each.records)))
        if timed:
            curves.append(Curve(shown(each.label), at, timed))
    if not curves:
        return []
    told = "Wall time a sample; the marker is at the median. Samples from a cache and errors are left out."
    return [Drawing(Markup(latency(curves)), told)]


def _point(found: Estimate) -> Measured | None:
    if found.mean is None:
        return None
    low, high = found.interval or (None, None)
    return Measured(found.mean, low, high)
