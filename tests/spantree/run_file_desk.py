"""A desk from which tests run experiment files: files are written, and what verbs are asked for is caught."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from spantree.cli import evaluation, optimization, sweeping
from spantree.cli.app import build

RETRIEVE = """
kind = "evaluation"
program = "retrieve"
set = "set"
"""


def spantree(*words: str | Path) -> Result:
    """Run the command line; a bug is raised."""
    return CliRunner().invoke(build(), [str(word) for word in words], catch_exceptions=False)


def written(folder: Path, text: str, name: str = "trial.toml") -> Path:
    """An experiment file in a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refused(result: Result) -> str:
    """The message and the hint of a mistake, on one line: exit status 2, no traceback, nothing on standard output."""
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its bytes."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@contextmanager
def caught(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """Verbs do nothing: the function that is given returns what the last one was asked for."""
    asked: list[Any] = []

    def note(what: Any) -> int:
        asked.append(what)
        return 0

    with monkeypatch.context() as patch:
        for module in (evaluation, sweeping, optimization):
            patch.setattr(module, "carry_out", note)
        yield lambda: plain(asked.pop())


def plain(asked: Any) -> dict[str, Any]:
    """What was asked for, but for where it is written and the command that goes on."""
    told = dataclasses.asdict(asked)
    for each in (told, told.get("evaluation", {})):
        each.pop("out", None)
        each.pop("again", None)
    return told
