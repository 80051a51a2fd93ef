"""Fronts: a drawing of points by a cost and a quality, with the line of those that no other one beats.

Filled marks are on the line. A name stands beside its point where there is room, and beside every point of the line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from evals.pareto import unbeaten
from evals.report.labels import RADIUS, SIZE, Box, Named, is_beside, placed
from evals.report.plane import MARKERS, front_line, legend, legend_columns, plane, scale
from evals.report.svg import INK, MUTED, inline, series_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNITS: Mapping[str, str] = {
    "calls": "calls a question",
    "tokens": "tokens a question",
    "seconds": "seconds a question",
    "cost_usd": "US dollars a question",
}
"""What a cost is called on an axis."""
_BEST = "best for its cost"
_HIGH = 3.0
_LINE = 0.2
"""Inches of the drawing without its legend, and of a line of that."""
_RING = 11
_LEAST_SPAN = 0.1
"""Of the axis of quality, so that a hundredth does not look like the world."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with a short `label`. `series` is its group's number; `ringed` points are told from all others."""

    label: str
    series: int
    cost: float
    quality: float
    ringed: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """What is drawn against what, each with its unit, and `ring`, what a ringed point is."""

    cost: str
    quality: str
    ring: str = ""


def best_of(marks: Sequence[Mark]) -> list[Mark]:
    """The marks that no other one beats, by cost."""
    best = unbeaten(marks, lambda each: (each.cost, each.quality))
    return sorted(best, key=lambda each: (each.cost, each.quality, each.label))


def front_chart(name: str, marks: Sequence[Mark], axis: Axis, series: Sequence[str]) -> str:
    """The drawing as an SVG element; `name` is unique on its page.

    `series` are the names of the groups; one without a name is not in the legend.
    """
    best = best_of(marks)
    told = [_BEST, *filter(None, [*series, axis.ring])]
    lines = -(-len(told) // legend_columns(told))
    with plane(_HIGH + _LINE * lines) as (figure, axes):
        front_line(axes, [(each.cost, each.quality) for each in best], _BEST)
        for at, group in enumerate(series):
            _group(axes, at, group, [each for each in marks if each.series == at], best)
        _rings(axes, [each for each in marks if each.ringed], axis.ring)
        scale(axes, [each.cost for each in marks])
        axes.set_ylim(*_range([each.quality for each in marks]))
        axes.set_xlabel(axis.cost)
        axes.set_ylabel(axis.quality)
        legend(figure, axes)
        _names(figure, axes, marks, best)
        return inline(figure, name, f"{axis.quality} against {axis.cost}")


def _group(
    axes: "Axes", series: int, label: str, marks: Sequence[Mark], best: Sequence[Mark]
) -> None:
    """The marks of one group: filled on the front, hollow behind it. In the legend they are filled."""
    color, marker = series_color(series), MARKERS[series % len(MARKERS)]
    if label:
        axes.plot([], [], linestyle="none", marker=marker, color=color, label=label)
    for each in marks:
        axes.plot(
            [each.cost],
            [each.quality],
            linestyle="none",
            marker=marker,
            markersize=5,
            color=color,
            markerfacecolor=color if each in best else "none",
            markeredgewidth=1.1,
            zorder=3,
        )


def _rings(axes: "Axes", marks: Sequence[Mark], label: str) -> None:
    if marks:
        axes.plot(
            [each.cost for each in marks],
            [each.quality for each in marks],
            linestyle="none",
            marker="o",
            markersize=_RING,
            color=INK,
            markerfacecolor="none",
            markeredgewidth=1.1,
            zorder=2,
            label=label,
        )


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the axis of quality: what there is and a margin, within what a share can be."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    middle, half = (low + high) / 2, max(high - low, _LEAST_SPAN) * 0.65
    return max(-0.03, middle - half), min(1.03, middle + half)


def _names(figure: "Figure", axes: "Axes", marks: Sequence[Mark], best: Sequence[Mark]) -> None:
    """Write the names once it is known where the points are."""
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
    figure.set_layout_engine("none")
    inch = 72 / figure.dpi

    def places(of: Sequence[Mark]) -> list[tuple[float, float]]:
        found = axes.transData.transform([(each.cost, each.quality) for each in of]) * inch
        return [(float(x), float(y)) for x, y in found]

    frame = axes.get_window_extent()
    box = Box(frame.x0 * inch, frame.y0 * inch, frame.x1 * inch, frame.y1 * inch)
    named = [
        Named(
            x, y, each.label, each.ringed or each in best, _RING / 2 + 1 if each.ringed else RADIUS
        )
        for (x, y), each in zip(places(marks), marks, strict=True)
    ]
    found = placed(named, box, tuple(_steps(places(best))))
    for mark, point, place in zip(marks, named, found, strict=True):
        if place is not None:
            _write(axes, mark, point, place)


def _steps(corners: Sequence[tuple[float, float]]) -> Iterator[Box]:
    """The line of the front as thin boxes: to the right, then up."""
    for (x, y), (right, top) in pairwise(corners):
        yield Box(x, y - 0.5, right, y + 0.5)
        yield Box(right - 0.5, y, right + 0.5, top)


def _write(axes: "Axes", mark: Mark, point: Named, place: Box) -> None:
    x, y = place.center
    axes.annotate(
        point.text,
        (mark.cost, mark.quality),
        (x - point.x, y - point.y),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=SIZE,
        color=INK,
        arrowprops=None
        if is_beside(point, place)
        else {"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3},
        zorder=4,
    )
