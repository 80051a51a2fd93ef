"""Guarded: any interpreter within the limits, and what happens when one is lost."""

import threading
import time
from typing import Any

import pytest
from dspy.primitives.code_interpreter import (
    CodeExecutionError,
    CodeInterpreter,
    CodeInterpreterError,
    FinalOutput,
)

from runtime.errors import RunCancelled, SandboxError, TimeoutFailure, UserError
from runtime.limits import Limits
from runtime.sandbox import Cell, Guarded, guarded, sandbox_factory
from runtime.sandbox.deno import require_deno

LIMITS = Limits(sandbox_seconds=10, sandbox_output_chars=1_000, sandbox_suspensions=20)


class Fake:
    """An interpreter that does as its test says."""

    def __init__(self, script: Any = None, start: Exception | None = None) -> None:
        self.tools: dict[str, Any] = {}
        self.given: list[dict[str, Any]] = []
        self.script = script
        self.failure = start
        self.shut = False

    def start(self) -> None:
        if self.failure:
            raise self.failure

    def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
        self.given.append(variables or {})
        return self.script(code)

    def shutdown(self) -> None:
        self.shut = True


@pytest.fixture
def cells() -> list[Cell]:
    return []


@pytest.fixture
def monty(cells: list[Cell]) -> Any:
    sandbox = guarded(sandbox_factory("monty", LIMITS), LIMITS, cells.append)()
    yield sandbox
    sandbox.shutdown()


def over(*interpreters: Fake, limits: Limits = LIMITS) -> Guarded:
    waiting = list(interpreters)
    return guarded(lambda: waiting.pop(0), limits)()


def test_it_is_an_interpreter_and_starts_when_it_is_needed(monty: Guarded) -> None:
    assert isinstance(monty, CodeInterpreter)
    assert monty.worker_pid is None
    assert monty.execute("1 + 1") == "2"
    assert monty.worker_pid
    assert monty.execute("x = 5") is None
    assert monty.execute("print(x)\nx + 1") == "5"


def test_output_is_cut_in_the_middle(monty: Guarded, cells: list[Cell]) -> None:
    shown = monty.execute("for n in range(1000): print('line', n)")
    assert len(shown) <= 1_000
    assert shown.startswith("line 0\n")
    assert shown.endswith("line 999")
    assert "the middle of 8,890 characters is left out" in shown
    assert cells[-1].output_characters == 8_890


def test_any_interpreter_is_cut() -> None:
    shown = over(Fake(lambda code: "x" * 5_000)).execute("")
    assert len(shown) == 1_000
    assert "the middle of 5,000 characters" in shown


def test_an_error_comes_with_what_was_printed_before_it(monty: Guarded) -> None:
    with pytest.raises(CodeExecutionError, match="ZeroDivisionError") as caught:
        monty.execute("print('so far')\n1 / 0")
    assert "Output before the error:\nso far" in str(caught.value)
    with pytest.raises(SyntaxError):
        monty.execute("if")
    with pytest.raises(CodeExecutionError) as caught:
        monty.execute("raise ValueError('x' * 50_000)")
    assert len(str(caught.value)) <= 1_000


def test_a_cell_is_reported(monty: Guarded, cells: list[Cell]) -> None:
    monty.tools["slow"] = lambda: time.sleep(0.3)
    monty.execute("slow()\nslow()")
    with pytest.raises(CodeExecutionError):
        monty.execute("1 / 0")
    slow, failed = cells
    assert (slow.code, slow.tool_calls, slow.error, slow.reset) == ("slow()\nslow()", 2, "", False)
    assert slow.seconds_in_sandbox < 0.3
    assert failed.error.startswith("ZeroDivisionError")


def test_memory_that_is_left_full_costs_the_variables(monty: Guarded) -> None:
    with pytest.raises(CodeExecutionError, match="MemoryError"):
        monty.execute("kept = 1\nx = 'a' * 10 ** 9")
    assert monty.execute("kept") == "1"
    with pytest.raises(CodeExecutionError, match="are gone"):
        monty.execute("x = []\nwhile True: x.append('a' * 1_000_000)")
    with pytest.raises(CodeExecutionError, match="NameError"):
        monty.execute("kept")
    assert monty.execute("len(text)", {"text": "t" * 1_000_000}) == "1000000"


def test_calls_beyond_the_limit_are_refused_and_variables_are_kept(monty: Guarded) -> None:
    monty.tools["tick"] = lambda: None
    with pytest.raises(CodeExecutionError, match="more than 20 calls in one cell"):
        monty.execute("for n in range(100): tick()")
    assert monty.execute("tick()\nn") == "20"


def test_tools_are_there_again_after_a_cell_took_their_names(monty: Guarded) -> None:
    monty.tools["find"] = lambda text: f"found {text}"
    assert monty.execute("find = find('a')\nfind") == "found a"
    assert monty.execute("find('b')") == "found b"


def test_arguments_by_position_and_errors_by_name(monty: Guarded) -> None:
    def late(first: str, second: int = 2) -> str:
        raise TimeoutFailure(f"{first} {second}")

    monty.tools["late"] = late
    with pytest.raises(CodeExecutionError, match="RuntimeError: timeout: a 3"):
        monty.execute("late('a', 3)")


def test_the_answer_is_typed_by_position(monty: Guarded) -> None:
    monty.output_fields = [{"name": "answer", "type": "str"}]
    assert monty.execute("SUBMIT('a')") == FinalOutput({"answer": "a"})


def test_threads_take_turns_on_one_session(monty: Guarded) -> None:
    monty.execute("x = 5")
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(monty.execute("x")))
    thread.start()
    thread.join()
    assert seen == ["5"]


def test_a_cell_within_a_cell_is_refused(monty: Guarded) -> None:
    monty.tools["again"] = lambda: monty.execute("1")
    with pytest.raises(CodeExecutionError, match="runs a cell already"):
        monty.execute("again()")
    assert monty.execute("1 + 1") == "2"


def test_shutdown_from_another_thread_ends_a_cell_at_once() -> None:
    limits = Limits(sandbox_seconds=60)
    sandbox = guarded(sandbox_factory("monty", limits), limits)()
    sandbox.tools["begun"] = lambda: stopper.start()
    stopper = threading.Timer(0.05, sandbox.shutdown)
    began = time.monotonic()
    with pytest.raises(CodeInterpreterError, match="was shut down"):
        sandbox.execute("begun()\nwhile True: pass")
    stopper.join()
    assert time.monotonic() - began < 30
    with pytest.raises(CodeInterpreterError, match="was shut down"):
        sandbox.execute("1")


def test_a_lost_worker_is_replaced() -> None:
    def dies(code: str) -> str:
        raise CodeInterpreterError("exit 1")

    lost, fresh = Fake(dies), Fake(lambda code: "2")
    sandbox = over(lost, fresh)
    with pytest.raises(CodeExecutionError, match=r"exit 1\. The sandbox was reset"):
        sandbox.execute("x = 1")
    assert lost.shut
    assert sandbox.execute("x") == "2"


@pytest.mark.parametrize(
    "fresh",
    [
        Fake(lambda code: "3"),
        Fake(lambda code: 1 / 0),
        Fake(start=CodeInterpreterError("no memory")),
    ],
)
def test_a_replacement_that_does_not_work_is_no_observation(fresh: Fake) -> None:
    def dies(code: str) -> str:
        raise CodeInterpreterError("exit 1")

    with pytest.raises(SandboxError) as caught:
        over(Fake(dies), fresh).execute("x = 1")
    assert not isinstance(caught.value, CodeExecutionError)
    assert fresh.shut


@pytest.mark.parametrize("failure", [OSError("no such program"), CodeInterpreterError("refused")])
def test_a_sandbox_that_does_not_start_says_so_with_a_hint(failure: Exception) -> None:
    with pytest.raises(SandboxError, match=str(failure)) as caught:
        over(Fake(start=failure)).start()
    assert isinstance(caught.value, UserError)
    assert caught.value.hint


def test_an_interpreter_without_limits_is_watched() -> None:
    class Endless(Fake):
        watched, worker_pid, base_bytes = True, None, 0

        def __init__(self) -> None:
            super().__init__()
            self.killed = threading.Event()

        def kill(self) -> None:
            self.killed.set()

        def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
            self.tools["wait"]()
            assert not self.killed.is_set()
            assert self.killed.wait(30)
            raise CodeInterpreterError("no response")

    limits = Limits(sandbox_seconds=0.5)
    sandbox = over(Endless(), Fake(lambda code: "2"), limits=limits)
    sandbox.tools["wait"] = lambda: time.sleep(0.7)
    with pytest.raises(CodeExecutionError, match=r"more than 0\.5 s"):
        sandbox.execute("while True: pass")


def test_a_bug_of_the_host_is_raised_and_costs_the_session() -> None:
    broken = Fake(lambda code: [][1])
    with pytest.raises(IndexError):
        over(broken).execute("x")
    assert broken.shut


def test_what_ends_the_run_is_raised_though_the_code_goes_on() -> None:
    def swallows(code: str) -> str:
        with pytest.raises(RuntimeError):
            fake.tools["stop"]()
        with pytest.raises(RuntimeError, match="no further call"):
            fake.tools["other"]()
        return "went on"

    def stop() -> None:
        raise RunCancelled("enough")

    fake, called = Fake(swallows), []
    sandbox = over(fake)
    sandbox.tools.update(stop=stop, other=lambda: called.append(1))
    with pytest.raises(RunCancelled):
        sandbox.execute("x")
    assert called == []


def test_inputs_are_clean_and_looked_through_once() -> None:
    fake = Fake(lambda code: None)
    sandbox, text = over(fake), "a\ud800"
    sandbox.execute("1", {"text": text, "rows": [text]})
    sandbox.execute("2", {"text": text})
    assert fake.given[0] == {"text": "a\ufffd", "rows": ["a\ufffd"]}
    assert fake.given[0]["text"] is fake.given[1]["text"]


def test_an_interpreter_that_registers_tools_registers_them_before_each_cell() -> None:
    class Registers(Fake):
        _tools_registered = False

        def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
            heard.append((self._tools_registered, sorted(self.tools)))
            self._tools_registered = True

    heard: list[Any] = []
    sandbox = over(Registers())
    sandbox.tools["a"] = len
    sandbox.execute("1")
    sandbox.tools["b"] = len
    sandbox.execute("2")
    assert heard == [(False, ["a"]), (False, ["a", "b"])]


def test_a_cell_too_long_to_be_meant_is_refused(monty: Guarded, cells: list[Cell]) -> None:
    with pytest.raises(CodeExecutionError, match="200,000"):
        monty.execute("x = 1\n" * 50_000)
    assert "is not run" in cells[-1].error


def test_an_objection_to_an_answer_is_given_back(cells: list[Cell]) -> None:
    told = ["look again", ""]
    heard: list[Any] = []

    def objection(output: Any) -> str:
        heard.append(output)
        return told.pop(0)

    factory = guarded(sandbox_factory("monty", LIMITS), LIMITS, cells.append, on_final=objection)
    sandbox = factory()
    try:
        assert sandbox.execute("SUBMIT(answer='a')") == "look again"
        assert sandbox.execute("SUBMIT(answer='a')") == FinalOutput({"answer": "a"})
    finally:
        sandbox.shutdown()
    assert heard == [{"answer": "a"}] * 2
    assert [cell.error for cell in cells] == ["answer not accepted", ""]


def test_a_name_that_is_no_sandbox() -> None:
    with pytest.raises(SandboxError, match="no sandbox named 'docker'") as caught:
        sandbox_factory("docker", LIMITS)
    assert caught.value.hint == "use monty or deno"


def test_one_message_says_how_to_get_deno(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SandboxError, match="Deno, which is not installed") as caught:
        require_deno()
    assert 'pip install "dspy[deno]"' in caught.value.hint


def test_any_factory_gets_the_rules_of_the_house() -> None:
    class Told:
        execution_instructions = "Runs on paper."

        def __call__(self) -> Fake:
            return Fake()

    told = guarded(Told(), LIMITS).execution_instructions
    assert told.startswith("Runs on paper.\nThere are no dspy sub-agents")
    monty = sandbox_factory("monty", LIMITS)
    assert guarded(monty, LIMITS).execution_instructions == monty.execution_instructions
