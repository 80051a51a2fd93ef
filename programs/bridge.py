"""The bridge between a sandbox and its run: code in a thread of its own calls what lives in the event loop.

`dspy.RLM` executes code synchronously. In the event loop it would stop everything else, so it runs in a thread, and
what it asks for (a model, a tool) is done by the loop while the thread waits. The thread is the bridge's own: those of
the loop serve what is asked for, and would all be waiting once as many runs (or frames) as there are of them do.
"""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any, TypeVar

import dspy

from runtime.errors import RunCancelled, SpantreeError

T = TypeVar("T")
_GIVEN_UP = "the run was given up: its code may do nothing more"


class Bridge:
    """Runs work of one thread in the event loop that made the bridge.

    An error that is none of ours and none of DSPy's is a bug. No code in a sandbox may handle it: it ends the thread's
    work, and is raised again where that was begun.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._bug: BaseException | None = None
        self._open: set[asyncio.Task[Any]] = set()

    def wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine, made and awaited in the loop. Raises RunCancelled once the bridge is closed."""
        if self._closed or self._loop.is_closed():
            raise RunCancelled(_GIVEN_UP)
        try:
            return asyncio.run_coroutine_threadsafe(self._kept(work), self._loop).result()
        except (SpantreeError, dspy.LMError):
            raise
        except CancelledError as error:
            raise RunCancelled(_GIVEN_UP) from error
        except BaseException as error:
            self._bug = error
            raise RunCancelled("the run is given up for a bug") from error

    def now(self, work: Callable[[], T]) -> T:
        """The result of a function that is called in the loop."""

        async def called() -> T:
            return work()

        return self.wait(called)

    async def thread(self, work: Callable[[], T]) -> T:
        """Run the function in a thread. Whatever comes of it, or of a cancellation, the bridge is closed then.

        What is still being done for the thread is cancelled, and has come to its end when this returns.
        """
        pool = ThreadPoolExecutor(1, thread_name_prefix="spantree-bridge")
        context = contextvars.copy_context()
        try:
            return await self._loop.run_in_executor(pool, context.run, work)
        except RunCancelled:
            if self._bug is not None:
                raise self._bug from None
            raise
        finally:
            self._closed = True
            pool.shutdown(wait=False)
            for each in self._open:
                each.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    async def _kept(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await the work as one of the open tasks of this bridge."""
        if self._closed:
            raise RunCancelled(_GIVEN_UP)
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            return await work()
        finally:
            self._open.discard(task)
