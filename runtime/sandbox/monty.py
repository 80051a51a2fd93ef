"""Monty as this house runs it: limits from the ledger, a clock that stands still, an end that says what is lost.

`MontyInterpreter` of dspy-monty-interpreter does the work. What is added here: what a cell prints and what its last
expression is worth stay within a cap on the host; a worker that was stopped for its time or lost for its memory is
reported as lost (the adapter reports the first as an error of the code, and after the second every further cell fails);
one session serves whichever thread comes, and can be killed from another.
"""

import contextlib
import datetime
import os
import signal
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Literal

from dspy.primitives.code_interpreter import CodeExecutionError, CodeInterpreterError
from dspy_monty_interpreter import MontyInterpreter
from pydantic_monty import (
    Monty,
    MontyCrashedError,
    MontyRuntimeError,
    MontySession,
    OSPolicy,
    ResourceLimits,
)

from runtime.limits import Limits
from runtime.sandbox.excerpt import Excerpt
from runtime.sandbox.plain import shown

INSTANT = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_POLICY: OSPolicy = {"sleep": "zero", "datetime": INSTANT, "random_start": {"seed": 0}}
_GRACE_SECONDS = 0.5  # past its limit, for a cell that is inside one long operation
_START_SECONDS = 30.0
_FLOOD = 1_000  # times the cap: a cell that prints so much is not worth waiting for
_CELLS = 100  # Monty counts suspensions over a session, the ledger over a cell


class MontySandbox(MontyInterpreter):
    """A Monty interpreter for one run, used by one thread at a time.

    `printed` is what the last cell printed, also if it failed; `printed_characters` counts all of it.
    """

    def __init__(self, limits: Limits) -> None:
        super().__init__(resource_limits=_resource_limits(limits), os_policy=_POLICY)
        self.printed = ""
        self.printed_characters = 0
        self.worker_pid: int | None = None
        self._limits = limits
        # The adapter keeps a session for each thread; a run is one session, whichever thread runs its cells.
        self._thread_local: Any = SimpleNamespace()

    def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
        self.printed, self.printed_characters = "", 0
        try:
            return super().execute(code, variables)
        except CodeExecutionError:
            raise
        except CodeInterpreterError:
            self.worker_pid = None  # the number may soon be another process's
            self._discard_session()
            raise

    def kill(self) -> None:
        """End the worker at once, whatever it does. Safe from another thread."""
        if self.worker_pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self.worker_pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def _ensure_session(self) -> Any:
        with self._lock:
            if self._pool is None:
                self._pool = _pool()
        session = super()._ensure_session()
        self.worker_pid = session.worker_pid
        return _Session(session, self)

    def _note_printed(self, output: Excerpt) -> None:
        self.printed, self.printed_characters = output.text(), output.characters


class _Session:
    """A Monty session as the adapter drives it, with what comes out of it bounded and its end told apart."""

    def __init__(self, session: MontySession, owner: MontySandbox) -> None:
        self._session = session
        self._owner = owner
        self._cap = owner._limits.sandbox_output_chars

    def feed_run(
        self,
        code: str,
        *,
        inputs: dict[str, Any] | None,
        external_lookup: dict[str, Callable[..., Any]],
        print_callback: Callable[[Literal["stdout", "stderr"], str], None],
        **rest: Any,
    ) -> str | None:
        output = Excerpt(self._cap)

        def take(_stream: str, text: str) -> None:
            output.add(text)
            if output.characters > self._cap * _FLOOD:
                self._owner.kill()  # an exception from here would not reach the code that prints

        try:
            value = self._session.feed_run(
                code,
                inputs={name: _named(name) for name in external_lookup} | (inputs or {}),
                external_lookup=external_lookup,
                print_callback=take,
                **rest,
            )
        except MontyCrashedError as error:
            raise CodeInterpreterError(self._why_dead(error, output)) from error
        except MontyRuntimeError as error:
            self._raise_if_lost(error, inputs)
            raise
        finally:
            self._owner._note_printed(output)
        if output.characters:
            print_callback("stdout", output.text())
        # The adapter makes a string of the value; on the host that could take for ever.
        return None if value is None else shown(value, self._cap)

    def _raise_if_lost(self, error: MontyRuntimeError, inputs: dict[str, Any] | None) -> None:
        limits, kind = self._owner._limits, type(error.exception())
        if self._session.worker_pid is None:
            raise CodeInterpreterError(error.display("type-msg")) from error
        message = error.display("msg")
        if kind is TimeoutError and "time limit exceeded" in message:
            raise CodeInterpreterError(self._out_of_time()) from error
        if kind is RuntimeError and message.startswith("suspension limit "):
            raise CodeInterpreterError("the sandbox made too many calls") from error
        if kind is MemoryError and not self._has_room(inputs):
            reason = f"the sandbox holds more than {limits.sandbox_memory_mb:,} MB of memory"
            raise CodeInterpreterError(reason) from error

    def _why_dead(self, error: MontyCrashedError, output: Excerpt) -> str:
        if output.characters > self._cap * _FLOOD:
            return f"the cell printed more than {self._cap * _FLOOD:,} characters"
        return self._out_of_time() if error.timed_out else "the sandbox's worker died in the cell"

    def _out_of_time(self) -> str:
        return f"the cell used more than {self._owner._limits.sandbox_seconds:g} s"

    def _has_room(self, inputs: dict[str, Any] | None) -> bool:
        """Whether another cell can start in what memory is left."""
        eighth = (self._owner._limits.sandbox_memory_mb << 20) // 8
        try:
            self._session.feed_run(f"len('x' * {eighth})", inputs=inputs)
        except MontyRuntimeError:
            return False
        return True


def _named(name: str) -> Callable[[], None]:
    """A function that Monty takes for the host function `name`: bound anew, it undoes what a cell made of the name."""

    def function() -> None:
        raise AssertionError

    function.__name__ = name
    return function


def _pool() -> Monty:
    pool = Monty(
        max_processes=1,
        checkout_timeout=_START_SECONDS,
        feed_duration_limit_grace=_GRACE_SECONDS,
    )
    return pool.__enter__()


def _resource_limits(limits: Limits) -> ResourceLimits:
    return {
        "max_feed_duration_secs": limits.sandbox_seconds,
        "max_memory": limits.sandbox_memory_mb << 20,
        "max_recursion_depth": limits.sandbox_recursion,
        "max_suspensions": limits.sandbox_suspensions * _CELLS,
    }
