"""The bridge between a sandbox and its run: code in a thread of its own calls what lives in the event loop.

`dspy.RLM` executes code synchronously. In the event loop it would stop everything else, so it runs in a thread, and
what it asks for (a model, a tool) is done by the loop while the thread waits.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

import dspy

from runtime.errors import RunCancelled, SpantreeError

T = TypeVar("T")


class Bridge:
    """Runs work of one thread in the event loop that made the bridge.

    An error that is none of ours and none of DSPy's is a bug. No code in a sandbox may handle it: it ends the thread's
    work, and is raised again where that was begun.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._bug: BaseException | None = None

    def wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine, made and awaited in the loop. Raises RunCancelled once the bridge is closed."""
        if self._closed or self._loop.is_closed():
            raise RunCancelled("the run was given up: its code may do nothing more")
        try:
            return asyncio.run_coroutine_threadsafe(work(), self._loop).result()
        except (SpantreeError, dspy.LMError):
            raise
        except CancelledError as error:
            raise RunCancelled("the run was given up: its code may do nothing more") from error
        except BaseException as error:
            self._bug = error
            raise RunCancelled("the run is given up for a bug") from error

    def now(self, work: Callable[[], T]) -> T:
        """The result of a function that is called in the loop."""

        async def called() -> T:
            return work()

        return self.wait(called)

    async def thread(self, work: Callable[[], T]) -> T:
        """Run the function in a thread. Whatever comes of it, or of a cancellation, the bridge is closed then."""
        try:
            return await asyncio.to_thread(work)
        except RunCancelled:
            if self._bug is not None:
                raise self._bug from None
            raise
        finally:
            self._closed = True
