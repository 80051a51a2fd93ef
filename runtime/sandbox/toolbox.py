"""The tools of one cell, as the sandbox gets them: counted, timed, plain data in and out.

An exception of a tool is an observation for the code in the sandbox, with three exceptions that end the run and that
no `except` in the sandbox can hide: a limit of the ledger, a cancelled run, a mistake that only the user can mend. They
are kept in `stopped`, every further call of the cell is refused, and the cell's caller raises them.
"""

import asyncio
import builtins
import contextvars
import functools
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from runtime.errors import SpantreeError, StepError
from runtime.sandbox.plain import plain

Tool = Callable[..., Any]


class Toolbox:
    """Wraps the tools of one cell. `calls` counts every call that was asked for."""

    def __init__(self, cap: int) -> None:
        self.calls = 0
        self.names: list[str] = []
        self.stopped: BaseException | None = None
        self._cap = cap
        self._lock = threading.Lock()
        self._open = 0
        self._since = 0.0
        self._waited = 0.0

    def wrapped(self, tools: Mapping[str, Tool]) -> dict[str, Tool]:
        return {name: self._wrap(name, tool) for name, tool in tools.items()}

    def waited(self) -> float:
        """Seconds so far in which at least one tool ran."""
        with self._lock:
            return self._waited + (time.monotonic() - self._since if self._open else 0.0)

    def _wrap(self, name: str, tool: Tool) -> Tool:
        @functools.wraps(tool)
        def call(*args: Any, **kwargs: Any) -> Any:
            self._admit(name)
            with self._waiting():
                given = self._arguments(name, args, kwargs)
                return self._result(name, self._run(name, tool, *given))

        return call

    def _admit(self, name: str) -> None:
        with self._lock:
            self.calls += 1
            if name not in self.names:
                self.names.append(name)
        if self.stopped is not None:
            raise RuntimeError("the run has ended: no further call is made")
        if self.calls > self._cap:
            raise RuntimeError(f"more than {self._cap:,} calls in one cell: go on in the next cell")

    def _arguments(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        try:
            return plain([list(args), kwargs])
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: not acceptable as an argument: {error}") from None

    def _run(self, name: str, tool: Tool, args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            result = tool(*args, **kwargs)
            return _settled(result) if inspect.isawaitable(result) else result
        except BaseException as error:
            if _ends_the_run(error):
                self.stopped = error
                raise RuntimeError(f"{name}: the run has ended") from None
            raise _known(error) from error

    def _result(self, name: str, result: Any) -> Any:
        try:
            return plain(result)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: its result cannot cross: {error}") from None

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        with self._lock:
            self._open += 1
            if self._open == 1:
                self._since = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1
                if not self._open:
                    self._waited += time.monotonic() - self._since


def _ends_the_run(error: BaseException) -> bool:
    if isinstance(error, SpantreeError):
        return not isinstance(error, StepError)
    return not isinstance(error, Exception)


def _known(error: BaseException) -> BaseException:
    """The error as a class that every interpreter knows by name."""
    kind = type(error)
    if getattr(builtins, kind.__name__, None) is kind:
        return error
    name = error.error_class if isinstance(error, StepError) else kind.__name__
    return RuntimeError(f"{name}: {error}")


def _settled(awaitable: Awaitable[Any]) -> Any:
    """The result of an asynchronous tool, also from within a running event loop, where it gets a loop of its own."""

    async def settle() -> Any:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(settle())
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, settle()).result()
