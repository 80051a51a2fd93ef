"""Tables for 80 columns: left or right aligned cells of untrusted text, cut where they do not fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spantree.cli.terminal import cut_left, plain

_GAP = 2
_NARROWEST = 8


@dataclass(frozen=True, slots=True)
class Column:
    """A column. One with a `share` takes that part of the width that the others leave; its cells are cut to it.

    `path`: they are cut at their beginning, since the end of a path says more.
    """

    title: str
    right: bool = False
    share: int = 0
    path: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Table:
    """A table without lines between rows, in at most `width` cells."""
    made = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    cells = [[plain(cell) for cell in row] for row in rows]
    shares = _widths(columns, cells, width)
    for column, share in zip(columns, shares, strict=True):
        made.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=True,
            overflow="ellipsis",
            width=share,
        )
    for row in cells:
        made.add_row(
            *(
                Text(cut_left(cell, share) if column.path and share else cell)
                for column, cell, share in zip(columns, row, shares, strict=True)
            )
        )
    return made


def _widths(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int
) -> list[int | None]:
    """The width of each column that has a share: no more than it needs, nor than its part of what is left."""
    needed = [
        max(map(cell_len, cells)) for cells in zip([c.title for c in columns], *rows, strict=True)
    ]
    fixed = sum(cells for column, cells in zip(columns, needed, strict=True) if not column.share)
    left = width - fixed - _GAP * (len(columns) - 1)
    whole = sum(column.share for column in columns)
    return [
        min(cells, max(_NARROWEST, left * column.share // whole)) if column.share else None
        for column, cells in zip(columns, needed, strict=True)
    ]


def print_table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], console: Console, width: int
) -> None:
    """Print a table in at most `width` cells."""
    console.print(table(columns, rows, width), width=width)
    console.file.flush()
