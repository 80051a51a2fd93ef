"""The checks of `spantree doctor`, each of which ends in a finding and never in an exception."""

import importlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import spantree
from runtime.errors import UserError
from spantree.cli.finding import Finding, verdict
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.settings import DEFAULT_MODEL, Settings
from spantree.cli.store import existing_journal, store_folder
from spantree.cli.terminal import count

PACKAGES = ("spantree", "evals", "programs", "data", "runtime", "signatures")
ENOUGH_BYTES = 1_000_000_000
_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "bold red")}


def examine(model: str, api_base: str | None, store: Path | None) -> list[Finding]:
    """All checks, in order. One that breaks is a finding of its own."""
    checks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("python", _python),
        ("import names", _import_names),
        ("store", lambda: _store(store)),
        ("journal", lambda: _journal(store)),
        ("model", lambda: _model(model, api_base)),
        ("sandbox", _sandbox),
        ("rehearsal", _rehearsal),
    )
    return [finding for name, check in checks for finding in _guarded(name, check)]


def _guarded(name: str, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """The findings of a check; what it raises is one more, since the other checks must still be made."""
    try:
        yield from check()
    except UserError as error:
        yield Finding(name, "failed", error.message, error.hint)
    except Exception as error:
        yield Finding(name, "failed", f"{type(error).__name__}: {error}")


def _python() -> Iterator[Finding]:
    found = f"Python {platform.python_version()}, DSPy {version('dspy')}"
    yield verdict("python", sys.version_info >= (3, 11), found, "use Python 3.11 or newer")


def _import_names() -> Iterator[Finding]:
    """The names are general words: another installation may have taken one of them."""
    home = Path(spantree.__file__).resolve().parent.parent
    strangers = []
    for name in PACKAGES:
        file = importlib.import_module(name).__file__
        if file is None or Path(file).resolve().parent != home / name:
            strangers.append(f"{name} is {file}")
    yield verdict(
        "import names",
        not strangers,
        "; ".join(strangers) or f"all {len(PACKAGES)} packages are those of {home}",
        "run from another folder, or use a virtual environment of its own",
    )


def _store(chosen: Path | None) -> Iterator[Finding]:
    folder = store_folder(chosen)
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    with tempfile.TemporaryFile(dir=existing) as file:
        file.write(b"x")
        file.flush()
        os.fsync(file.fileno())
    yield Finding("store", "ok", f"{folder} can be written")
    free = shutil.disk_usage(existing).free
    words = f"{free / 1e9:,.1f} GB free"
    if free >= ENOUGH_BYTES:
        yield Finding("disk", "ok", words)
    else:
        yield Finding("disk", "warning", words, "free some space, or choose another --store")


def _journal(chosen: Path | None) -> Iterator[Finding]:
    journal = existing_journal(store_folder(chosen))
    if journal is None:
        yield Finding("journal", "ok", "none yet: nothing was run with this store")
        return
    with journal:
        runs = journal.runs(1000)
    waiting = sum(run.status == "interrupted" for run in runs)
    note = f", {waiting} can be resumed (spantree runs)" if waiting else ""
    yield Finding("journal", "ok", f"{count(len(runs), 'run')}{note}")


def _model(name: str, api_base: str | None) -> Iterator[Finding]:
    Settings(model=name, leaf_model=name, api_base=api_base).models()
    if name == DEFAULT_MODEL:
        what = "extractive: the embedded lexical reader, not a language model"
    else:
        what = f"{name}: name and credentials are in place (it was not called)"
    yield Finding("model", "ok", what)


def _sandbox() -> Iterator[Finding]:
    from dspy_monty_interpreter import MontyInterpreter

    with MontyInterpreter() as sandbox:
        two = sandbox.execute("1 + 1")
        try:
            sandbox.execute(f"open({__file__!r}).read()")
            closed = False
        except Exception:  # whatever it raises, the file was not read
            closed = True
    yield verdict("sandbox", str(two) == "2", f"1 + 1 is {two}", "reinstall dspy-monty-interpreter")
    yield verdict(
        "sandbox",
        closed,
        "files of this machine are " + ("closed" if closed else "open") + " to it",
    )


def _rehearsal() -> Iterator[Finding]:
    from spantree.cli.rehearsal import (
        rehearse,
    )  # what is broken must be found here, not at the start

    yield from rehearse()


def print_findings(findings: list[Finding], *, json: bool) -> None:
    """Print the findings as a list, or as one JSON object."""
    wrong = sum(each.status == "failed" for each in findings)
    if json:
        print_json({"ok": not wrong, "checks": [asdict(each) for each in findings]})
        return
    console = standard_output()
    page = Page(page_width(console))
    page.heading("Checks")
    for each in findings:
        mark, style = _MARKS[each.status]
        page.item(
            f"{each.name}: {each.detail}",
            lead=f"{mark} ",
            style=style if each.status != "ok" else "",
        )
        if each.hint:
            page.item(f"next: {each.hint}", lead="  ")
    page.heading(f"{wrong} of {len(findings)} checks failed" if wrong else "everything is in order")
    print_page(page, console)
