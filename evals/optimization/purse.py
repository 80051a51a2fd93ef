"""The purse: how many rollouts an optimization may still make, and how all that are in flight are stopped."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from evals.log import SampleRecord
from evals.optimization.halt import Halt


class Purse:
    """How many rollouts may be made in all. Safe from several threads."""

    def __init__(self, made: int) -> None:
        self._made = made
        self._limit: int | None = None
        self._stopped = self._searched = False
        self._running: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()
        self._lock = threading.Lock()

    def limit(self, rollouts: int) -> None:
        """From now on, allow no rollout beyond this number."""
        self._limit = rollouts

    def end_search(self) -> None:
        """Allow the optimizer no more: threads that it left behind must not take what is kept for later."""
        self._searched = True

    def take(self, *, searches: bool = False) -> None:
        """Take one rollout out, perhaps for the optimizer's search. Raises Halt when there is none left."""
        self.check()
        with self._lock:
            if searches and self._searched:
                raise Halt("budget")
            if self._limit is not None and self._made >= self._limit:
                raise Halt("budget")
            self._made += 1

    def check(self) -> None:
        """Raise Halt if everything is to stop."""
        if self._stopped:
            raise Halt("interrupted")

    def stop(self) -> None:
        """Stop everything: no rollout begins, and those in flight are cancelled."""
        with self._lock:
            self._stopped = True
            for loop, task in self._running:
                with suppress(RuntimeError):  # it has just come to its end
                    loop.call_soon_threadsafe(task.cancel)

    async def watched(self, start: Callable[[], Awaitable[SampleRecord]]) -> SampleRecord:
        """Start and await something that `stop` cancels; not started where everything has stopped."""
        task = asyncio.current_task()
        assert task is not None
        running = asyncio.get_running_loop(), task
        with self._lock:
            self._running.add(running)
        try:
            self.check()
            return await start()
        finally:
            with self._lock:
                self._running.discard(running)
