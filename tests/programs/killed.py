"""The victim of the tests of resuming: runs of one scripted model that are killed at each commit, and go on.

Started as a program, since a kill takes its process with it. It forks, so that no run has to load anything, and
leaves what the journals say as JSON: `python killed.py FOLDER`. The names of the runs: `whole`, which is not killed;
`at7`, killed at its commit 7; `call7`, killed while its model works on call 7; `twice7`, killed at its commit 7
and again soon after it was resumed.
"""

import gc
import importlib.util
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
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
from runtime.models.scripted import ScriptedEngine, read_log

QUESTION = "What happened at the station, in order?"
FILES = {
    "center.log": "07:25 all quiet\n07:26 FACT the clock stopped\n",
    "east.log": "07:00 FACT the signal failed\n07:05 all quiet\n",
    "north.log": "07:10 nothing to report\n07:20 FACT the points froze\n",
    "south.log": "07:30 FACT train 5 stood still\n07:31 FACT train 6 stood still\n",
    "west.log": "07:40 FACT the crew arrived\n07:50 all quiet\n",
}
PROCESSES = 2


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
    """A search and a ranking at once, a child, a fan-out; the child reads and hands up."""
    if request.value("goal_chain"):
        return SAY.plan(SAY.step("s1", "analyze"), SAY.step("s2", "conclude"))
    readings = ["center.log", "north.log", "south.log"]
    return SAY.plan(
        SAY.step("s1", "scan", patterns=["stood still"]),
        SAY.step("s2", "rank", query="signal points crew"),
        SAY.step("s3", "subtask", query="What happened in the east?", targets=["east.log"]),
        SAY.step("s4", "analyze", query="What happened?", targets=readings),
        SAY.step("s6", "conclude"),
    )


def refine(request: PromptRequest) -> dict[str, Any]:
    """Keep the plan; after the fan-out, add one more reading and a computation."""
    if "step s4" not in request.inputs["observation"]:
        return SAY.refine()
    return SAY.refine(
        "revise",
        SAY.step("s5", "analyze", query="What happened in the west?", targets=["west.log"]),
        SAY.step("s7", "compute", targets=["s1"], operation="count"),
        SAY.step("s6", "conclude"),
    )


def engine(log: Path, last: int = 0) -> ScriptedEngine:
    """The model: what it says follows from the request alone. It dies while it works on call `last`."""
    answers: dict[str, Callable[[PromptRequest], Any]] = {
        "ClassifyQuestion": lambda _: SAY.classify("summary"),
        "Plan": plan,
        "Refine": refine,
        "AnalyzeLeaf": LAB.Lab.facts,
        "Conclude": LAB.Lab.restated,
    }

    def respond(request: PromptRequest) -> Any:
        if len(made.log) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return answers[str(request.signature)](request)

    made = ScriptedEngine(respond=respond, log_file=log)
    return made


@dataclass(frozen=True)
class Stage:
    """A folder with a journal and an engine log for each run, under its name."""

    folder: Path
    version: str

    @classmethod
    def built(cls, folder: Path) -> "Stage":
        """A stage with its corpus on disk."""
        root = folder / "station"
        root.mkdir()
        for name, text in FILES.items():
            (root / name).write_text(text, encoding="utf-8")
        return cls(folder, open_corpus([root], store=folder / "store").version)

    def asked(self, name: str, *, crash: int = 0, last: int = 0) -> None:
        """Run to the end, or until it dies."""
        corpus = load_corpus(self.version, store=self.folder / "store")
        with Journal.open(self.folder / f"{name}.db") as journal:
            journal.on_commit = CrashAfter(crash)
            program = self.program(name, journal, last)
            program(question=QUESTION, corpus=corpus)
            self.leave(name, "after", journal)

    def resumed(self, name: str, *, crash: int = 0) -> None:
        """Go on to the end, or until it dies."""
        corpus = load_corpus(self.version, store=self.folder / "store")
        with Journal.open(self.folder / f"{name}.db") as journal:
            self.leave(name, "before", journal)
            journal.on_commit = CrashAfter(crash)
            self.program(name, journal).resume(journal.run("last").record.run_id, corpus)
            self.leave(name, "after", journal)

    def program(self, name: str, journal: Journal, last: int = 0) -> Recursive:
        lm = engine(self.folder / f"{name}.calls", last).lm()
        return Recursive(lm=lm, journal=journal, limits=Limits(in_flight=4))

    def leave(self, name: str, when: str, journal: Journal) -> None:
        """What journal and engine say of the run, for the test."""
        run = journal.run("last")
        log = self.folder / f"{name}.calls"
        seen = {
            "status": run.status,
            "events": [
                EVENTS.dump_python(each, mode="json") for each in journal.events(run.record.run_id)
            ],
            "calls": [each.model_dump(mode="json") for each in journal.calls(run.record.run_id)],
            "engine": [call.prompt for call in read_log(log)] if log.exists() else [],
        }
        (self.folder / f"{name}.{when}.json").write_text(json.dumps(seen), encoding="utf-8")


def killed(work: Callable[[], None]) -> bool:
    """Whether a child that does some work is killed, rather than coming to its end."""
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
        raise SystemExit("a child failed")
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def killed_at_commits(stage: Stage, numbers: Iterable[int]) -> None:
    for number in numbers:
        name = f"at{number}"
        assert killed(lambda name=name, number=number: stage.asked(name, crash=number))
        assert not killed(lambda name=name: stage.resumed(name))


def killed_in_calls(stage: Stage, numbers: Iterable[int]) -> None:
    for number in numbers:
        name = f"call{number}"
        assert killed(lambda name=name, number=number: stage.asked(name, last=number))
        assert not killed(lambda name=name: stage.resumed(name))


def killed_twice(stage: Stage, numbers: Iterable[int]) -> None:
    for number in numbers:
        name = f"twice{number}"
        assert killed(lambda name=name, number=number: stage.asked(name, crash=number))
        assert killed(lambda name=name, number=number: stage.resumed(name, crash=1 + number % 8))
        assert not killed(lambda name=name: stage.resumed(name))


def share(stage: Stage, commits: int, calls: int, part: int) -> None:
    """What one of the processes does."""
    killed_at_commits(stage, range(1 + part, commits + 1, PROCESSES))
    killed_in_calls(stage, range(1 + part, calls + 1, 2 * PROCESSES))
    killed_twice(stage, range(3 + 5 * part, commits - 10, 5 * PROCESSES))


def main(folder: Path) -> None:
    stage = Stage.built(folder)
    commits: list[int] = []
    with Journal.open(folder / "whole.db") as journal:
        # In this process, so that its children find everything loaded.
        journal.on_commit = commits.append
        program = stage.program("whole", journal)
        program(question=QUESTION, corpus=load_corpus(stage.version, store=folder / "store"))
        stage.leave("whole", "after", journal)
        calls = journal.run("last").calls
    gc.freeze()
    parts = []
    for part in range(PROCESSES):
        child = os.fork()
        if child == 0:
            share(stage, len(commits), calls, part)
            os._exit(0)
        parts.append(child)
    ended = [os.waitpid(child, 0)[1] for child in parts]
    if any(ended):
        raise SystemExit("a part failed")
    print(len(commits), calls)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
