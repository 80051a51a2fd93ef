"""Fan-out: the same work for many items, a bounded number at a time, results in the order of the items.

One failing item never costs its siblings their results. Only errors of spantree become outcomes: anything
else is a bug, stops everything and is raised.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from runtime.errors import SpantreeError

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """What became of one item: a value when `done`, an error when `failed`, neither when `not_started`."""

    index: int
    value: R | None = None
    error: SpantreeError | None = None
    state: Literal["done", "failed", "not_started"] = "not_started"


async def fan_out(
    items: Sequence[T],
    work: Callable[[int, T], Awaitable[R]],
    *,
    in_flight: int,
    stop: Callable[[BaseException], bool],
    progress: Callable[[int, int], None] | None = None,
) -> list[Outcome[R]]:
    """Run `work(index, item)` for every item, at most `in_flight` at once.

    After an error for which `stop` is true no further item starts; those that run are left to finish.
    Cancellation and bugs cancel what runs, wait for it, and propagate. `progress(finished, total)` follows
    every item that finished.
    """
    if in_flight < 1:
        raise ValueError("in_flight must be 1 or more")
    fan = _Fan(items, work, stop, progress)
    await together(fan.pull() for _ in range(min(in_flight, len(items))))
    return fan.outcomes


async def together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run everything at once. The first error cancels the rest, and is raised when all of it has stopped.

    `asyncio.gather` alone would leave the rest running, and writing to a run that was given up.
    """
    tasks = [asyncio.create_task(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Fan(Generic[T, R]):
    def __init__(
        self,
        items: Sequence[T],
        work: Callable[[int, T], Awaitable[R]],
        stop: Callable[[BaseException], bool],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.outcomes: list[Outcome[R]] = [Outcome(index) for index in range(len(items))]
        self._queue = iter(enumerate(items))
        self._work = work
        self._stop = stop
        self._progress = progress
        self._stopped = False
        self._finished = 0

    async def pull(self) -> None:
        while not self._stopped:
            entry = next(self._queue, None)
            if entry is None:
                return
            index, item = entry
            self.outcomes[index] = await self._outcome(index, item)
            self._finished += 1
            if self._progress:
                self._progress(self._finished, len(self.outcomes))

    async def _outcome(self, index: int, item: T) -> Outcome[R]:
        try:
            return Outcome(index, value=await self._work(index, item), state="done")
        except SpantreeError as error:
            self._stopped = self._stopped or self._stop(error)
            return Outcome(index, error=error, state="failed")
