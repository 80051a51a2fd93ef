"""Logs of evaluations as the verbs read them, with the question sets that they were made with."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evals.log import EvalLog
    from spantree.cli.question_set import OpenedSet

Logs = Annotated[
    list[Path],
    typer.Argument(metavar="LOG", help="Folders that spantree eval made.", show_default=False),
]
OneLog = Annotated[
    Path,
    typer.Argument(metavar="LOG", help="A folder that spantree eval made.", show_default=False),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--program", metavar="NAME", help="Only this program; may be repeated."),
]
Metric = Annotated[str, typer.Option(metavar="NAME", help="The metric that decides.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the resampling.")]


def read_logs(folders: Sequence[Path]) -> "list[EvalLog]":
    """The logs in some folders. Raises RunError."""
    from evals.log import read_log

    return [read_log(folder.expanduser()) for folder in folders]


def set_of(log: "EvalLog", chosen: str | None, store: Path) -> "OpenedSet":
    """The set that a log was made with, or the one that was chosen. Raises UserError."""
    from data.sets.shipped import find_set
    from data.sets.storage import load_set
    from spantree.cli.question_set import OpenedSet

    noted = log.manifest.notes.set_folder
    known = noted if noted and Path(noted).is_dir() else log.manifest.question_set.name
    folder = find_set(chosen or known, store=store)
    return OpenedSet(load_set(folder), folder, store)
