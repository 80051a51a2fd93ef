"""Output: the two streams, and the JSON that goes to one of them."""

import io
import json
import sys
from typing import Any

from rich.console import Console

from spantree.cli.page import Page

WIDEST = 110
"""Cells that a page takes at most: longer lines are hard to read."""


def page_width(console: Console) -> int:
    """Width of a page on this console."""
    return min(console.width, WIDEST)


def standard_output() -> Console:
    """A console on standard output; what its encoding cannot show is replaced, never an error."""
    _reconfigure(errors="replace")
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def standard_error() -> Console:
    """A console on standard error."""
    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def print_page(page: Page, console: Console) -> None:
    """Print a page and push it out, so that a closed pipe is noticed here."""
    page.print(console)
    console.file.flush()


def print_json(value: Any) -> None:
    """Print one JSON value in UTF-8 on standard output. A lone surrogate of a source comes out as its JSON escape."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    _reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _reconfigure(*, errors: str, encoding: str | None = None) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=encoding, errors=errors)
