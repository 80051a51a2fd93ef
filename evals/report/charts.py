"""Charts: what the report draws, as inline SVG. What is not known is left out, never drawn as 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evals.pareto import unbeaten
from evals.report.plane import MARKERS, front_line, legend, plane, scale
from evals.report.svg import FAINT, inline, series_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True, slots=True)
class Measured:
    """A share with its interval; without bounds where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A program by what it costs and how good it is. `series` decides its color and its marker."""

    label: str
    series: int
    cost: float
    quality: Measured


@dataclass(frozen=True, slots=True)
class Curve:
    """The seconds of a program's samples."""

    label: str
    series: int
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The values of a program in some groups; None where there is no value."""

    label: str
    series: int
    values: tuple[Measured | None, ...]


def frontier(points: Sequence[Point]) -> list[Point]:
    """The points that no other one beats: none is at least as good for less, or better for as much. By cost."""
    best = unbeaten(points, lambda each: (each.cost, each.quality.value))
    return sorted(best, key=lambda each: (each.cost, each.label))


def cost_against_quality(points: Sequence[Point], *, cost: str, quality: str) -> str:
    """Programs by cost and quality, with the line of those that no other one beats."""
    with plane(3.6) as (figure, axes):
        front_line(axes, [(each.cost, each.quality.value) for each in frontier(points)])
        for each in points:
            _dot(axes, each.cost, each.quality, each.series, each.label, vertical=True)
        scale(axes, [each.cost for each in points])
        axes.set_xlabel(cost)
        axes.set_ylabel(quality)
        axes.set_ylim(-0.03, 1.03)
        legend(figure, axes)
        return inline(figure, "pareto", f"{quality} against {cost}, by program")


def latency(curves: Sequence[Curve]) -> str:
    """By program the share of samples that were done after some seconds; the marker is at the median."""
    with plane(3.6) as (figure, axes):
        for each in curves:
            ordered = sorted(each.seconds)
            shares = [(at + 1) / len(ordered) for at in range(len(ordered))]
            middle = (len(ordered) - 1) // 2
            axes.step(
                ordered,
                shares,
                where="post",
                color=series_color(each.series),
                linestyle=_DASHES[each.series % len(_DASHES)],
                marker=MARKERS[each.series % len(MARKERS)],
                markevery=[middle],
                markersize=5,
                label=each.label,
            )
        scale(axes, [second for each in curves for second in each.seconds])
        axes.set_xlabel("seconds")
        axes.set_ylabel("share of samples done")
        axes.set_ylim(0, 1.03)
        legend(figure, axes)
        return inline(figure, "latency", "distribution of seconds a sample, by program")


def by_group(name: str, groups: Sequence[str], rows: Sequence[Row], *, label: str) -> str:
    """Shares with their intervals, by group and within it by program."""
    with plane(1.2 + len(groups) * (0.25 + 0.12 * len(rows))) as (figure, axes):
        step = 0.8 / max(1, len(rows))
        for at, row in enumerate(rows):
            named = False
            for group, measured in enumerate(row.values):
                if measured is not None:
                    place = group - 0.4 + (at + 0.5) * step
                    told = "" if named else row.label
                    _dot(axes, place, measured, row.series, told, vertical=False)
                    named = True
        axes.set_yticks(range(len(groups)), groups)
        axes.set_ylim(len(groups) - 0.5, -0.5)
        for edge in range(1, len(groups)):
            axes.axhline(edge - 0.5, color=FAINT, linewidth=0.5)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel(label)
        legend(figure, axes)
        return inline(figure, name, f"{label}, by group and program")


def _dot(
    axes: "Axes", place: float, measured: Measured, series: int, label: str, *, vertical: bool
) -> None:
    """A marker with its interval; `vertical`: the value is on the y axis."""
    low = measured.value - (measured.value if measured.low is None else measured.low)
    high = (measured.value if measured.high is None else measured.high) - measured.value
    bars = [[max(0.0, low)], [max(0.0, high)]]
    drawn: dict[str, Any] = {
        "fmt": MARKERS[series % len(MARKERS)],
        "color": series_color(series),
        "markersize": 5,
        "elinewidth": 1.1,
        "label": label or "_",
    }
    if vertical:
        axes.errorbar([place], [measured.value], yerr=bars, **drawn)
    else:
        axes.errorbar([measured.value], [place], xerr=bars, **drawn)
