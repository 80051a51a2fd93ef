"""The stack of a run as a page, derived from its journal."""

from typing import TYPE_CHECKING

from rich.text import Text

from runtime.frames import RunState, fold
from runtime.view import progress, stack_view
from spantree.cli.page import Page

if TYPE_CHECKING:
    from runtime.journal import Journal


def stack_page(journal: "Journal", run_id: str, width: int) -> Page:
    """The tree of frames and steps of a run."""
    page = Page(width)
    add_stack(page, fold(journal.events(run_id)))
    return page


def add_stack(page: Page, state: RunState) -> None:
    """Add a heading with the progress, and the tree."""
    done = progress(state)
    page.heading("Stack", f"{done.done} of {done.total} steps, {done.percent} %")
    page.lines.extend(Text(line) for line in stack_view(state, width=page.width).splitlines())
