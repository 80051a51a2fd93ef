"""The victim of the tests of resuming: runs of one scripted model that are killed at each commit, and go on.

Started as a program, since a kill takes its process with it; it forks, so that each run costs no start. Every
process leaves what it saw as JSON in a folder: `python killed.py FOLDER`.
"""

import gc
import importlib.util
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.corpus import load_corpus, open_corpus
from programs import Recursive
from runtime.crash import CrashAfter
from runtime.events import EVENTS
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.request import PromptRequest
from runtime.models.scripted import ScriptedEngine

QUESTION = "What happened at the station, in order?"
FILES = {
    "east.log": "07:00 FACT the signal failed\n07:05 all quiet\n",
    "north.log": "07:10 nothing to report\n07:20 FACT the points froze\n",
    "south.log": "07:30 FACT train 5 stood still\n07:31 FACT train 6 stood still\n",
    "west.log": "07:40 FACT the crew arrived\n07:50 all quiet\n",
}


def laboratory() -> Any:
    """The words and the faithful reader of the other tests of programs."""
    place = Path(__file__).with_name("conftest.py")
    spec = importlib.util.spec_from_file_location("laboratory", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["laboratory"] = module
    spec.loader.exec_module(module)
    return module


LAB = laboratory()
SAY = LAB.Words


def plan(request: PromptRequest) -> dict[str, Any]:
    """A search and a ranking at once, a child, a fan-out, a computation; the child reads and concludes."""
    if request.value("goal_chain"):
        return SAY.plan(SAY.step("s1", "analyze"), SAY.step("s2", "conclude"))
    return SAY.plan(
        SAY.step("s1", "scan", patterns=["stood still"]),
        SAY.step("s2", "rank", query="signal points crew"),
        SAY.step("s3", "subtask", query="What happened in the east?", targets=["east.log"]),
        SAY.step("s4", "analyze", query="What happened?", targets=["north.log", "south.log"]),
        SAY.step("s6", "conclude"),
    )


def refine(request: PromptRequest) -> dict[str, Any]:
    """Keep the plan; after the fan-out, add one more reading and a computation."""
    if "step s4" in request.inputs["observation"]:
        return SAY.refine(
            "revise",
            SAY.step("s5", "analyze", query="What happened in the west?", targets=["west.log"]),
            SAY.step("s7", "compute", targets=["s1"], operation="count"),
            SAY.step("s6", "conclude"),
        )
    return SAY.refine()


def engine(log: Path) -> ScriptedEngine:
    """The model: what it says follows from the request alone."""
    answers: dict[str, Callable[[PromptRequest], Any]] = {
        "ClassifyQuestion": lambda _: SAY.classify("summary"),
        "Plan": plan,
        "Refine": refine,
        "AnalyzeLeaf": LAB.facts,
        "Conclude": LAB.restated,
    }
    return ScriptedEngine(respond=lambda request: answers[str(request.signature)](request), log_file=log)


@dataclass(frozen=True)
class Stage:
    """A folder with a journal and an engine log for each run, under its name."""

    folder: Path
    version: str = ""

    def built(self) -> None:
        """Write the files and build their corpus; leaves its version."""
        root = self.folder / "station"
        root.mkdir()
        for name, text in FILES.items():
            (root / name).write_text(text, encoding="utf-8")
        corpus = open_corpus([root], store=self.folder / "store")
        (self.folder / "version").write_text(corpus.version)

    def asked(self, name: str, crash: int = 0) -> None:
        """Run to the end, or to the commit at which it dies."""
        corpus = load_corpus(self.version, store=self.folder / "store")
        with self.journal(name) as journal:
            journal.on_commit = CrashAfter(crash) if crash else None
            self.program(journal, name)(question=QUESTION, corpus=corpus)
            self.left(name, journal)

    def resumed(self, name: str, crash: int = 0) -> None:
        """Go on to the end, or to the commit at which it dies; leaves what it found first."""
        corpus = load_corpus(self.version, store=self.folder / "store")
        with self.journal(name) as journal:
            run = journal.run("last").record.run_id
            self.left(f"{name}.before{'' if not crash else '.first'}", journal)
            journal.on_commit = CrashAfter(crash) if crash else None
            self.program(journal, name).resume(run, corpus)
            self.left(name, journal)

    def journal(self, name: str) -> Journal:
        return Journal.open(self.folder / f"{name}.db")

    def program(self, journal: Journal, name: str) -> Recursive:
        lm = engine(self.folder / f"{name}.calls").lm()
        return Recursive(lm=lm, journal=journal, limits=Limits(in_flight=4))

    def left(self, name: str, journal: Journal) -> None:
        """What the journal says of the run, for the test."""
        summary = journal.run("last")
        run_id = summary.record.run_id
        log = self.folder / f"{name.partition('.')[0]}.calls"
        seen = {
            "commits": journal._database.commits,
            "status": summary.status,
            "events": [EVENTS.dump_python(each, mode="json") for each in journal.events(run_id)],
            "calls": [each.model_dump(mode="json") for each in journal.calls(run_id)],
            "logged": len(log.read_text().splitlines()) if log.exists() else 0,
        }
        (self.folder / f"{name}.json").write_text(json.dumps(seen))


def forked(work: Callable[[], None]) -> int:
    """The signal that ended a child that does some work; 0 if it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"a child failed with {os.WEXITSTATUS(status)}")
    return os.WTERMSIG(status)


def main(folder: Path) -> None:
    """One run without a kill; then for each commit of it, one that is killed there, and a resumed one."""
    stage = Stage(folder)
    stage.built()
    stage = Stage(folder, (folder / "version").read_text())
    stage.asked("whole")  # in this process, so that the children find everything loaded
    gc.freeze()
    commits = json.loads((folder / "whole.json").read_text())["commits"]
    for number in range(1, commits + 1):
        name = f"at{number}"
        assert forked(lambda: stage.asked(name, number)) == signal.SIGKILL
        assert forked(lambda: stage.resumed(name)) == 0
        print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
