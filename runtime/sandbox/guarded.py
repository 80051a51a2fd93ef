"""The guarded interpreter: any interpreter, made safe for a run. It is what a `dspy.RLM` gets.

It caps what a cell shows, keeps DSPy's sub-agents out (they would spend outside our budget), takes no answer from a
cell whose own output had not been seen, replaces a worker that is lost and says so, and lets nothing cross but plain
data.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dspy.primitives.code_interpreter import (
    CodeExecutionError,
    CodeInterpreter,
    CodeInterpreterError,
    FinalOutput,
)
from dspy.primitives.facade import HOST_TOKEN_VAR

from runtime.errors import SandboxError
from runtime.limits import Limits
from runtime.sandbox.excerpt import excerpt
from runtime.sandbox.plain import clean, cleaned, plain
from runtime.sandbox.source import mentions_print
from runtime.sandbox.toolbox import Toolbox
from runtime.sandbox.watch import Watch

InterpreterFactory = Callable[[], CodeInterpreter]

_SOURCE_CHARACTERS = 200_000
_REASON_CHARACTERS = 500
_HEALTH = "print(1 + 1)"
_SHUT_DOWN = "the sandbox was shut down"
_NO_SUB_AGENTS = "there are no dspy sub-agents in this sandbox"


@dataclass(frozen=True)
class Cell:
    """One cell that ran. `seconds_in_sandbox` leaves out the time in which it waited for its tools.

    `output_characters` counts what the cell showed before anything was cut. `reset` means that the worker was lost in
    it. `error` is what the model was told instead of an output; it is empty for a cell that was accepted.
    """

    code: str
    seconds_in_sandbox: float
    output_characters: int
    tool_calls: int
    reset: bool
    error: str


@dataclass(frozen=True)
class GuardedFactory:
    """Makes a guarded interpreter a run. `execution_instructions` tells a model what it runs on."""

    factory: InterpreterFactory
    limits: Limits
    on_cell: Callable[[Cell], None] | None = None
    on_final: Callable[[Any], str] | None = None

    @property
    def execution_instructions(self) -> str:
        told = getattr(self.factory, "execution_instructions", "")
        rules = house_rules(self.limits)
        return told if rules in told else f"{told}\n{rules}".strip()

    def __call__(self) -> "Guarded":
        return Guarded(self.factory, self.limits, self.on_cell, self.on_final)


def guarded(
    factory: InterpreterFactory,
    limits: Limits,
    on_cell: Callable[[Cell], None] | None = None,
    on_final: Callable[[Any], str] | None = None,
) -> GuardedFactory:
    """An `interpreter_factory` that makes `factory`'s interpreters guarded.

    `on_cell` hears of every cell. `on_final` is asked about an answer before it is accepted, and returns why it is not,
    or nothing.
    """
    return GuardedFactory(factory, limits, on_cell, on_final)


def house_rules(limits: Limits) -> str:
    """What holds for a cell in any guarded interpreter, as a model is told."""
    return (
        "There are no dspy sub-agents: dspy cannot be imported. "
        f"Up to {limits.sandbox_output_chars:,} characters of what a cell shows are shown to you; the middle of more "
        f"is left out. A cell may call tools {limits.sandbox_suspensions:,} times at most. Only plain data can be "
        "passed to a tool or submitted. Call SUBMIT in a cell of its own: an answer from a cell that also prints or "
        "calls a tool is not accepted, since you have not seen what that cell found. The input variables are assigned "
        "anew before each cell. If the sandbox has to be reset you are told so: all your variables, functions and "
        "imports are gone then."
    )


@dataclass
class _Ending:
    """How a cell ended: a result, or an error to raise."""

    result: Any = None
    error: Exception | None = None
    reset: bool = False
    characters: int = 0


@dataclass(eq=False)
class Guarded:
    """A CodeInterpreter around the interpreters that `factory` makes. One run, one thread at a time.

    Every error that it raises for a cell is a CodeExecutionError or a SyntaxError, an observation for the model; a
    SandboxError means that there is no working sandbox. What ends a run (see `Toolbox`) passes through.
    """

    factory: InterpreterFactory
    limits: Limits
    on_cell: Callable[[Cell], None] | None = None
    on_final: Callable[[Any], str] | None = None
    tools: dict[str, Callable[..., Any]] = field(default_factory=dict)
    output_fields: list[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self._inner: Any = None
        self._texts: dict[str, tuple[str, str]] = {}
        self._turn = threading.Lock()
        self._closed = False

    @property
    def worker_pid(self) -> int | None:
        """The process in which the code runs, where the interpreter says so."""
        return getattr(self._inner, "worker_pid", None)

    def start(self) -> None:
        """Start the sandbox, if it is not running. Raises SandboxError if it does not start."""
        with self._alone():
            self._running()

    def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
        """Run one cell: a str, None, or the FinalOutput that it submitted."""
        if variables and HOST_TOKEN_VAR in variables:
            raise CodeExecutionError(_NO_SUB_AGENTS)
        with self._alone():
            return self._cell(clean(code), variables or {})

    def shutdown(self) -> None:
        """End the worker, also in the middle of a cell and from another thread."""
        self._closed = True
        if self._turn.acquire(blocking=False):
            try:
                self._drop()
            finally:
                self._turn.release()
        else:
            _kill(self._inner)  # the thread that runs the cell takes the rest down

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._turn.acquire(blocking=False):
            raise CodeInterpreterError("the sandbox runs a cell already")
        try:
            if self._closed:
                raise CodeInterpreterError(_SHUT_DOWN)
            yield
        finally:
            self._turn.release()
            if self._closed:
                self.shutdown()

    def _cell(self, code: str, variables: dict[str, Any]) -> Any:
        inner = self._running()
        if self._closed:
            raise CodeInterpreterError(_SHUT_DOWN)
        toolbox = Toolbox(self.limits.sandbox_suspensions)
        self._offer(inner, toolbox)
        began = time.monotonic()
        ending = self._run(inner, toolbox, code, self._cleaned(variables))
        seconds = max(time.monotonic() - began - toolbox.waited(), 0.0)
        if ending.reset:
            ending = self._after_loss(ending, restart=toolbox.stopped is None)
        elif ending.error is None:
            ending = self._accept(ending, code, toolbox)
        if self.on_cell is not None and toolbox.stopped is None:  # else it did not run to its end
            told = str(ending.error or "")
            calls = toolbox.calls
            self.on_cell(Cell(code, seconds, ending.characters, calls, ending.reset, told))
        if toolbox.stopped is not None:
            raise toolbox.stopped
        if ending.error is not None and ending.result is None:
            raise ending.error
        return ending.result

    def _run(self, inner: Any, toolbox: Toolbox, code: str, variables: dict[str, Any]) -> _Ending:
        if len(code) > _SOURCE_CHARACTERS:
            told = f"a cell of more than {_SOURCE_CHARACTERS:,} characters is not run"
            return _Ending(error=CodeExecutionError(told))
        watch = Watch(inner, self.limits, toolbox)
        try:
            with watch:
                result = inner.execute(code, variables=variables)
        except (CodeExecutionError, SyntaxError) as error:
            printed = getattr(inner, "printed_characters", 0)
            return _Ending(error=self._told(error, inner), characters=printed)
        except (CodeInterpreterError, OSError) as error:
            self._drop()
            reason = watch.reason or clean(str(error)).rstrip(". ")
            return _Ending(
                error=CodeExecutionError(excerpt(reason, _REASON_CHARACTERS)), reset=True
            )
        except BaseException:
            self._drop()  # where it stands is not known
            raise
        return _Ending(result=result, characters=getattr(inner, "printed_characters", 0))

    def _accept(self, ending: _Ending, code: str, toolbox: Toolbox) -> _Ending:
        """The result of a cell that ended well, as the model may have it."""
        result = ending.result
        if not isinstance(result, FinalOutput):
            text = _text(result)
            shown = None if text is None else excerpt(clean(text), self.limits.sandbox_output_chars)
            characters = max(ending.characters, len(text or ""))
            return _Ending(result=shown, characters=characters)
        try:
            final = FinalOutput(plain(result.output))
        except (TypeError, ValueError) as error:
            refusal = CodeExecutionError(f"the answer was not accepted: {error}")
            return _Ending(error=refusal, characters=ending.characters)
        objection = self._unseen(code, toolbox)
        if not objection and self.on_final is not None:
            objection = self.on_final(final.output)
        if not objection:
            return _Ending(result=final, characters=ending.characters)
        refusal = CodeExecutionError("answer not accepted")
        return _Ending(objection, refusal, False, ending.characters)

    def _unseen(self, code: str, toolbox: Toolbox) -> str:
        """Why an answer is not accepted: what the same cell did whose outcome nobody had seen."""
        printed = clean(getattr(self._inner, "printed", "")).removesuffix("\n")
        did = [f"called {name}" for name in toolbox.names]
        if printed or mentions_print(code):
            did.append("printed")
        if not did:
            return ""
        refusal = (
            f"The answer was NOT accepted: the cell that submitted it also {', '.join(did)}, and you had not seen what "
            "came of it. Your variables are kept. Look at the output, then call SUBMIT in a cell of its own."
        )
        return f"{refusal}\nOutput of the cell:\n{printed}" if printed else refusal

    def _after_loss(self, ending: _Ending, restart: bool) -> _Ending:
        """Put a fresh worker in the place of the lost one, and say what that means."""
        if self._closed:
            return _Ending(error=CodeInterpreterError(_SHUT_DOWN), reset=True)
        if restart:
            self._inner = self._started()
            self._check_health()
        notice = CodeExecutionError(
            f"{ending.error}. The sandbox was reset: all variables, functions and imports that you defined are gone. "
            "The input variables and the tools are there again."
        )
        return _Ending(error=notice, reset=True)

    def _check_health(self) -> None:
        try:
            result = self._inner.execute(_HEALTH)
        except Exception as error:
            self._drop()
            raise SandboxError(
                f"a fresh sandbox does not run a first cell: {error}", hint=self._hint()
            ) from error
        if str(result).strip() != "2":
            self._drop()
            raise SandboxError(f"a fresh sandbox says that 1 + 1 is {result!r}", hint=self._hint())

    def _running(self) -> Any:
        if self._inner is None:
            self._inner = self._started()
        return self._inner

    def _started(self) -> Any:
        inner = None
        try:
            inner = self.factory()
            inner.start()
        except Exception as error:
            _end(inner)
            if isinstance(error, SandboxError):
                raise
            raise SandboxError(f"the sandbox did not start: {error}", hint=self._hint()) from error
        return inner

    def _hint(self) -> str:
        return getattr(self.factory, "start_hint", "look at the interpreter_factory that was given")

    def _offer(self, inner: Any, toolbox: Toolbox) -> None:
        """Give the inner interpreter this cell's tools, and the fields of the answer."""
        inner.tools.clear()
        inner.tools.update(toolbox.wrapped(self.tools))
        if hasattr(inner, "output_fields"):
            inner.output_fields = self.output_fields
        # An interpreter that tells its worker of the tools once tells it again: a cell may have taken their names.
        if getattr(inner, "_tools_registered", False):
            inner._tools_registered = False

    def _cleaned(self, variables: dict[str, Any]) -> dict[str, Any]:
        return {name: self._cleaned_once(name, value) for name, value in variables.items()}

    def _cleaned_once(self, name: str, value: Any) -> Any:
        """`value` without lone surrogates. A text is given again before every cell, and is looked through once."""
        if not isinstance(value, str):
            return cleaned(value)
        known = self._texts.get(name)
        if known is None or known[0] is not value:
            known = self._texts[name] = (value, clean(value))
        return known[1]

    def _told(self, error: Exception, inner: Any) -> Exception:
        """The error of a cell within the cap, with what the cell had printed before it."""
        cap = self.limits.sandbox_output_chars
        message = excerpt(clean(str(error)), cap)
        if printed := clean(getattr(inner, "printed", "")).removesuffix("\n"):
            message = f"{message}\nOutput before the error:\n{excerpt(printed, max(cap - len(message), 0))}"
        return (
            SyntaxError(message) if isinstance(error, SyntaxError) else CodeExecutionError(message)
        )

    def _drop(self) -> None:
        inner, self._inner = self._inner, None
        _end(inner)


def _text(result: Any) -> str | None:
    if result is None or isinstance(result, str):
        return result
    return "\n".join(map(str, result)) if isinstance(result, list) else str(result)


def _end(inner: Any) -> None:
    """Take an interpreter down that may be dead, hung or half started: whatever it says to that is of no interest."""
    if inner is not None:
        _kill(inner)
        with contextlib.suppress(Exception):
            inner.shutdown()


def _kill(inner: Any) -> None:
    if hasattr(inner, "kill"):
        with contextlib.suppress(Exception):
            inner.kill()
