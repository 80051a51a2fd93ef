"""The store on disk as the verbs see it: where it is, and the journal in it."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors import RunError, UserError

if TYPE_CHECKING:
    from runtime.journal import Journal

JOURNAL = "runs.db"


def store_folder(chosen: Path | None) -> Path:
    """The store folder: `chosen`, or SPANTREE_STORE, or the user's cache folder. It need not exist yet."""
    from data.store import default_store

    store = (chosen or default_store()).expanduser().absolute()
    existing = next(each for each in (store, *store.parents) if each.exists())
    if not existing.is_dir():
        raise UserError(f"the store {store} is not a folder", hint="give a folder with --store DIR")
    if not os.access(existing, os.W_OK):
        raise UserError(
            f"the store {store} cannot be written", hint="give a folder with --store DIR"
        )
    return store


def open_journal(store: Path) -> "Journal":
    """The journal of the store, made if there is none."""
    from runtime.journal import Journal

    return Journal.open(store / JOURNAL)


def existing_journal(store: Path) -> "Journal | None":
    """The journal of the store, or None if nothing was ever run: looking must not create anything."""
    return open_journal(store) if (store / JOURNAL).exists() else None


def journal_of_runs(store: Path, run: str) -> "Journal":
    """The journal in which a run is looked up. Raises RunError if nothing was ever run."""
    journal = existing_journal(store)
    if journal is None:
        raise RunError(
            f"there is no run {run}: {store} has no journal", hint="choose another --store"
        )
    return journal


def resume_command(run_id: str, store: Path | None) -> str:
    """The command that goes on with a run; `store` is the one that was chosen, if any."""
    chosen = ["--store", str(store)] if store else []
    return shlex.join(["spantree", "resume", run_id, *chosen])
