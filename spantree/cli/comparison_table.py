"""The table of a comparison: one row a measure, both means, their paired difference, its interval and its tests."""

from typing import TYPE_CHECKING

from spantree.cli.tables import Column

if TYPE_CHECKING:
    from evals.compare import Difference

COLUMNS = (
    Column("metric"),
    Column("before", right=True),
    Column("after", right=True),
    Column("diff", right=True),
    Column("95 % interval", right=True),
    Column("p", right=True),
    Column("Holm", right=True),
    Column("n", right=True),
)


def row_of(found: "Difference") -> tuple[str, ...]:
    """The cells of one difference."""
    from evals.measures import MEASURES
    from evals.numerals import NONE, probability, share, signed

    measure = MEASURES.get(found.measure)
    title = measure.title if measure else found.measure
    shares = measure is None or measure.unit == "share"
    plain, change = (share, signed) if shares else (_amount, _change)
    interval = NONE
    if found.interval is not None:
        interval = f"[{change(found.interval.low)}, {change(found.interval.high)}]"
    return (
        title,
        plain(found.before),
        plain(found.after),
        change(found.delta),
        interval,
        probability(found.p),
        probability(found.p_holm) if found.p_holm is not None else "",
        f"{found.pairs:,}",
    )


def _amount(value: float | None) -> str:
    from evals.numerals import compact

    return compact(_short(value))


def _change(value: float | None) -> str:
    from evals.numerals import changed

    return changed(_short(value))


def _short(value: float | None) -> float | None:
    """A number with three decimals at most, unless it is smaller: the row has to fit into 80 columns."""
    return value and (round(value, 3) or value)
