"""The verb `runs`: what was asked, and what became of it."""

from contextlib import nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

from spantree.cli import options
from spantree.cli.output import page_width, print_json, standard_output
from spantree.cli.store import existing_journal, store_folder
from spantree.cli.tables import Column, print_table

if TYPE_CHECKING:
    from runtime.journal import RunSummary


def runs(
    limit: options.Limit = 50, store: options.Store = None, json: options.Json = False
) -> None:
    """List the runs, newest first.

    \b
    Examples:
      spantree runs
      spantree runs --limit 5 --json
    """
    folder = store_folder(store)
    with existing_journal(folder) or nullcontext() as journal:
        found = journal.runs(limit) if journal else []
    if json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    console = standard_output()
    if not found:
        console.print(f"no runs in {folder}", soft_wrap=True)
        return
    print_table(_COLUMNS, [_row(each) for each in found], console, page_width(console))


_COLUMNS = (
    Column("run"),
    Column("state"),
    Column("calls", right=True),
    Column("question", share=1),
)


def _row(summary: "RunSummary") -> tuple[str, ...]:
    record = summary.record
    return (
        record.run_id,
        state_words(summary),
        f"{summary.calls:,}",
        record.question,
    )


def state_words(summary: "RunSummary") -> str:
    """The outcome of a finished run, or how far the other ones are."""
    return (summary.outcome or summary.status).replace("_", " ")


def local_time(stamp: str) -> str:
    """An ISO 8601 time to the minute, in the time zone of this machine."""
    return f"{datetime.fromisoformat(stamp).astimezone():%Y-%m-%d %H:%M}"
