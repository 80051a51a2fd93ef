"""A desk from which tests optimize through the command line: a small set of single readings, and words that suffice."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from data.sets.drafts import Order
from data.sets.shipped import build_family
from spantree.cli.app import build

ROOT = Path(__file__).parents[2]
PATIENCE = 90
_FEW = ("--train-limit", "6", "--validation-limit", "4", "--test-limit", "3")


@dataclass(frozen=True)
class Desk:
    """A set in `folder` with its `store`."""

    folder: Path
    store: Path

    def words(self, out: Path, *more: str | Path) -> list[str]:
        """What is typed to optimize on the set; `more` says how, and wins."""
        given: dict[str, str] = {"--program": "retrieve", "--optimizer": "bootstrap"}
        given |= {"--model": "pupil", "--max-metric-calls": "30"}
        chosen = [
            word
            for name, value in given.items()
            if name not in more and not (name == "--max-metric-calls" and "--auto" in more)
            for word in (name, value)
        ]
        words = ["optimize", "--set", self.folder, "--out", out, "--store", self.store]
        return [*map(str, words), *chosen, *_FEW, *map(str, more)]

    def optimize(self, out: Path, *more: str | Path) -> Result:
        """Optimize in this process."""
        return spantree(*self.words(out, *more))

    def started(self, out: Path, *more: str | Path) -> subprocess.Popen[str]:
        """Optimize in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "spantree", *self.words(out, *more)],
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "80"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def desk(folder: Path, questions: int = 24) -> Desk:
    """A desk in a folder."""
    store = folder / "store"
    build_family("leaves", Order(questions=questions, store=store), folder / "leaves")
    return Desk(folder / "leaves", store)


def spantree(*words: str | Path) -> Result:
    """Run the command line; a bug is raised."""
    given = [str(word) for word in words]
    return CliRunner().invoke(build(), given, env={"COLUMNS": "80"}, catch_exceptions=False)


def lines_of(path: Path) -> list[bytes]:
    """The whole lines of a file so far."""
    raw = path.read_bytes() if path.exists() else b""
    return [line for line in raw.splitlines(keepends=True) if line.endswith(b"\n")]


def rollouts_of(out: Path) -> list[tuple[str, str, str]]:
    """The rollouts that are recorded, each by candidate, question and variation."""
    rows = [json.loads(line) for line in lines_of(out / "rollouts.jsonl")]
    return [(each["candidate"], each["question_id"], each["variation"]) for each in rows]


def wait_for_rollouts(out: Path, number: int) -> None:
    """Wait until so many rollouts are recorded."""
    deadline = time.monotonic() + PATIENCE
    while len(lines_of(out / "rollouts.jsonl")) < number:
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.02)


def script(path: Path, *rules: dict[str, Any]) -> tuple[str, Path]:
    """A scripted model from rules: its name at the command line, and the log of its engine."""
    log = path.with_suffix(".log")
    path.write_text(json.dumps({"rules": rules, "log_file": str(log)}), encoding="utf-8")
    return f"scripted:{path}", log
