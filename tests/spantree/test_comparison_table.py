"""The table of a comparison: whole in 80 columns, whatever the numbers are."""

from io import StringIO

import pytest
from rich.console import Console

from evals.compare import Difference
from evals.stats import Interval
from spantree.cli.comparison_table import COLUMNS, row_of
from spantree.cli.tables import print_table

WIDE = (
    ("citation_precision", 0.8123, 0.7677, Interval(-0.2812, 0.2212), 0.0412),
    ("calls", 141.3, 293.25, Interval(117.0, 1_467.25), 0.00012),
    ("tokens", 1_022_306.0, 2_122_779.0, Interval(305_213.0, 1_632_119.0), 0.00012),
    ("seconds", 0.015812, 0.021117, Interval(-0.0033512, 0.0071812), 0.3312),
    ("seconds", 0.0000012, 0.0000031, Interval(-0.0000002, 0.0000044), 0.3312),
)


def difference(
    name: str, before: float, after: float, interval: Interval | None, p: float
) -> Difference:
    return Difference(
        measure=name, pairs=319, clusters=60, before=before, after=after, delta=after - before,
        interval=interval, test="sign-flip", p=p, p_holm=p, gained=(), lost=(), undefined=(),
        failed=(), thinned=(), errors=(0, 0), unpaired=(), power="",
    )  # fmt: skip


@pytest.mark.parametrize("wide", WIDE, ids=lambda wide: wide[0])
def test_no_number_is_cut(wide: tuple[str, float, float, Interval, float]) -> None:
    """Seconds of a fast program had five digits, and the p-values beside them were cut to nothing."""
    file = StringIO()
    row = row_of(difference(*wide))
    print_table(COLUMNS, [row], Console(file=file, width=80), 80)
    lines = file.getvalue().splitlines()
    assert "…" not in file.getvalue()
    assert all(len(line.rstrip()) <= 80 for line in lines)
    assert lines[1].split()[-1] == "319"


def test_what_is_small_is_not_nothing() -> None:
    row = row_of(difference(*WIDE[3]))
    assert row[1:5] == ("0.016", "0.021", "+0.005", "[-0.003, +0.007]")
    assert row_of(difference(*WIDE[4]))[1] != "0"
