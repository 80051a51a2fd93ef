"""Plane: what all charts are drawn on. One pair of axes, its scale of costs, its legend, its markers, and the line of a
front."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evals.report.svg import INK, MUTED, SETTINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "os^DvPX*<>"
"""A marker for each color of a series."""
_WIDTH = 4.6
_WIDE = 20
"""Times the smallest value from which on an axis is logarithmic."""


@contextmanager
def plane(height: float) -> "Iterator[tuple[Figure, Axes]]":
    """A figure with one pair of axes. It belongs to no window and to nobody's list of figures."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        yield figure, figure.subplots()


def scale(axes: "Axes", values: Sequence[float]) -> None:
    """A logarithmic x axis for values that are far apart; else one that starts at 0. Numbers as people write them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if values and min(values) > 0 and max(values) > _WIDE * min(values):
        axes.set_xscale("log")
        few = max(values) < 1000 * min(values)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, max(values, default=1) * 1.08 or 1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def front_line(
    axes: "Axes", corners: Sequence[tuple[float, float]], label: str | None = None
) -> None:
    """The line of what no other point beats, by cost: its corners have a cost and a quality."""
    axes.step(
        [cost for cost, _ in corners],
        [quality for _, quality in corners],
        where="post",
        color=MUTED,
        linewidth=1.2,
        zorder=1,
        label=label,
    )


def legend(figure: "Figure", axes: "Axes") -> None:
    """The labels of what is drawn, below the axes, in as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        columns = legend_columns(labels)
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, labelcolor=INK)


def legend_columns(labels: Sequence[str]) -> int:
    """In how many columns such labels fit."""
    longest = max(map(len, labels), default=0)
    return max(1, min(4, 50 // (longest + 5)))
