"""Tables for 80 columns: left or right aligned cells of untrusted text, cut where they do not fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spantree.cli.terminal import plain


@dataclass(frozen=True, slots=True)
class Column:
    """A column. One with a `share` takes that part of the width that the others leave; its cells are cut to it."""

    title: str
    right: bool = False
    share: int = 0


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Table:
    """A table without lines between rows."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        made.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=column.share or None,
        )
    made.expand = any(column.share for column in columns)
    for row in rows:
        made.add_row(*(Text(plain(cell)) for cell in row))
    return made


def print_table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], console: Console, width: int
) -> None:
    """Print a table in at most `width` cells."""
    console.print(table(columns, rows), width=width)
    console.file.flush()
