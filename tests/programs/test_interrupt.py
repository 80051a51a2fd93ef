"""Runs that are interrupted: by a signal to the process, by the cancellation of a task, in a notebook."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from data.corpus import Corpus, open_corpus
from programs import Answer
from runtime.journal import Journal
from runtime.models.request import PromptRequest
from runtime.models.scripted import EngineCall, Reply, ScriptedEngine, read_log
from spantree.cli.app import build

ROOT = Path(__file__).parents[2]
PATIENCE = 60
ASKED = "What are the facts?"
FOUR = {f"{name}.log": f"FACT {name} of four\n" for name in ("a", "b", "c", "d")}
SAME = (
    "text",
    "value",
    "outcome",
    "claims",
    "conflicts",
    "unknowns",
    "coverage",
    "steps",
    "warnings",
)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; an assertion fails if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.01)


class Script:
    """A script for `--model scripted:FILE` over the four files, with readers that take their time."""

    def __init__(self, folder: Path, say: Any) -> None:
        self.files = folder / "four"
        self.files.mkdir()
        for name, text in FOUR.items():
            (self.files / name).write_text(text)
        self.path = folder / "script.json"
        self.log_file = folder / "calls.log"
        self._say = say

    def write(self, latency: float) -> None:
        """The script with this latency of a reader, in seconds."""
        say = self._say
        steps = say.step("s1", "analyze"), say.step("s2", "conclude")
        claims = [(f"Told by {name}", [f"root/s1/{at}.1"]) for at, name in enumerate(FOUR)]
        rules = [
            {"signature": "ClassifyQuestion", "reply": say.classify()},
            {"signature": "Plan", "reply": say.plan(*steps)},
            {"signature": "Refine", "reply": say.refine()},
            {"signature": "Conclude", "reply": say.conclude(*claims)},
            *(self._reader(text.strip(), latency) for text in FOUR.values()),
        ]
        self.path.write_text(json.dumps({"rules": rules, "log_file": str(self.log_file)}))

    def _reader(self, line: str, latency: float) -> dict[str, Any]:
        partitioning = open_corpus([self.files]).partitions()
        name = f"{line.split()[1]}.log"
        span = partitioning.span_at(name, 0).id
        reply = self._say.leaf((f"It says {line}", span, line))
        return {"signature": "AnalyzeLeaf", "contains": line, "reply": reply, "latency": latency}

    def calls(self) -> list[EngineCall]:
        return read_log(self.log_file) if self.log_file.exists() else []

    def readings(self) -> int:
        return sum(call.signature == "AnalyzeLeaf" for call in self.calls())


@pytest.fixture
def script(tmp_path: Path, say: Any) -> Script:
    return Script(tmp_path, say)


def typed(*words: str) -> dict[str, Any]:
    """What the command line prints as JSON, run in this process."""
    result = CliRunner().invoke(build(), [*words, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def comparable(printed: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in printed.items() if name not in ("receipt", "run_id")}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_that_the_printed_command_completes(
    script: Script, number: signal.Signals
) -> None:
    ask = [
        "ask",
        ASKED,
        str(script.files),
        "--program",
        "recursive",
        "--concurrency",
        "2",
        "--model",
        f"scripted:{script.path}",
    ]
    script.write(latency=0)
    whole = typed(*ask)
    script.log_file.unlink()
    script.write(latency=PATIENCE)  # nobody waits for it
    process = subprocess.Popen(
        [sys.executable, "-m", "spantree", *ask],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for(lambda: script.readings() >= 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    begun = script.calls()
    assert script.readings() == 2  # no call starts after the interrupt
    words = err.decode().splitlines()[-1].removeprefix("next: spantree ").split()
    assert words[0] == "resume"
    with Journal.open(Path(os.environ["SPANTREE_STORE"]) / "runs.db") as journal:
        assert journal.run("last").status == "interrupted"
        calls = journal.calls(words[1])
    # The two that were in flight are settled: what they may have cost is known to be unknown.
    assert [call.status for call in calls] == ["done", "done", "failed", "failed"]
    assert [call.error_class for call in calls][2:] == ["cancelled", "cancelled"]
    script.write(latency=0)
    resumed = typed(*words)
    assert comparable(resumed) == comparable(whole)
    assert resumed["outcome"] == "answered"
    assert len(resumed["claims"]) == 4
    assert resumed["receipt"]["calls"] == len(script.calls())
    again = [call.signature for call in script.calls()[len(begun) :]]
    assert again == ["AnalyzeLeaf"] * 4 + ["Refine", "Conclude"]


class Slow:
    """A faithful model that never comes back from call `number`."""

    def __init__(self, lab: Any, number: int) -> None:
        self.begun = asyncio.Event()
        engine = lab.model()
        inner = engine.respond

        def respond(request: PromptRequest) -> Any:
            if len(engine.log) != number:
                return inner(request)
            self.begun.set()
            answer = inner(request)
            return Reply(reply=answer, latency=PATIENCE)

        engine.respond = respond
        self.engine: ScriptedEngine = engine


def same(answer: Answer, other: Answer) -> bool:
    return all(getattr(answer, part) == getattr(other, part) for part in SAME)


def left(lab: Any) -> str:
    """The id of the newest run, which was stopped, and that nobody holds."""
    with Journal.open(lab.journal) as journal:
        run = journal.run("last")
        assert (run.status, run.held_by) == ("interrupted", None)
        assert "intent" not in {call.status for call in journal.calls(run.record.run_id)}
        return run.record.run_id


def check_resumed(lab: Any, corpus: Corpus, engine: ScriptedEngine, whole: Answer) -> None:
    """The newest run goes on to the same answer, and its receipt is what both engines saw."""
    rest = lab.model()
    answer = lab.program(rest).resume(left(lab), corpus).answer
    assert same(answer, whole)
    log = [*engine.log, *rest.log]
    assert answer.receipt.calls == len(log)
    assert answer.receipt.input_tokens == sum(call.input_tokens for call in log)
    assert answer.receipt.output_tokens == sum(call.output_tokens for call in log)
    assert answer.receipt.failed_calls == sum(call.state != "replied" for call in log)
    assert (
        answer.receipt.cost_usd == 0
    )  # this engine says that it costs nothing, and nothing is lost


def test_a_task_is_cancelled_in_each_of_its_calls(lab: Any) -> None:
    """Field report langgraph#5682: nothing goes on running, no call starts any more, the run can be resumed."""
    corpus = lab.corpus(FOUR)
    whole = lab.ask(lab.model(), corpus)
    for number in range(1, len(whole.engine.log) + 1):

        async def cancelled(number: int = number) -> ScriptedEngine:
            slow = Slow(lab, number)
            task = asyncio.create_task(lab.program(slow.engine).aforward(ASKED, corpus))
            await slow.begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert asyncio.all_tasks() == {asyncio.current_task()}
            return slow.engine

        engine = asyncio.run(cancelled())
        assert len(engine.log) <= max(number, 6), number  # the four readings are in flight at once
        check_resumed(lab, corpus, engine, whole.answer)


def test_a_second_cancellation_changes_nothing(lab: Any) -> None:
    corpus = lab.corpus(FOUR)
    whole = lab.ask(lab.model(), corpus).answer

    async def cancelled() -> ScriptedEngine:
        slow = Slow(lab, 4)
        task = asyncio.create_task(lab.program(slow.engine).aforward(ASKED, corpus))
        await slow.begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return slow.engine

    check_resumed(lab, corpus, asyncio.run(cancelled()), whole)


def test_a_time_out_around_a_run_leaves_it_resumable(lab: Any) -> None:
    corpus = lab.corpus(FOUR)
    whole = lab.ask(lab.model(), corpus).answer

    async def cut_off() -> ScriptedEngine:
        slow = Slow(lab, 5)
        run = lab.program(slow.engine).aforward(ASKED, corpus)
        with pytest.raises(TimeoutError):
            await within(slow.begun, run)
        return slow.engine

    async def within(begun: asyncio.Event, run: Any) -> None:
        now = asyncio.get_running_loop().time
        async with asyncio.timeout(None) as scope:
            watch = asyncio.create_task(begun.wait())
            watch.add_done_callback(lambda _: scope.reschedule(now()))
            await run

    check_resumed(lab, corpus, asyncio.run(cut_off()), whole)


def test_an_interrupt_in_a_notebook_stops_the_run(lab: Any) -> None:
    """There a loop runs already, and the run has a thread of its own, which no signal reaches."""
    corpus = lab.corpus(FOUR)
    whole = lab.ask(lab.model(), corpus).answer
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        signal.pthread_kill(main, signal.SIGINT)

    async def cell() -> ScriptedEngine:
        slow = Slow(lab, 4)
        slow.begun.set = interrupt  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            lab.program(slow.engine)(question=ASKED, corpus=corpus)
        return slow.engine

    loop = asyncio.new_event_loop()
    try:
        engine = loop.run_until_complete(cell())
    finally:
        loop.close()
    assert "spantree_0" not in {thread.name for thread in threading.enumerate()}
    assert len(engine.log) <= 6
    check_resumed(lab, corpus, engine, whole)
