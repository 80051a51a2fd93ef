"""Fan-out: order, bounds, failures that cost nothing, and an orderly stop."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import LimitReached, NotFound, SpantreeError, TimeoutFailure
from runtime.fanout import Outcome, fan_out


def never(error: BaseException) -> bool:
    return False


def on_limit(error: BaseException) -> bool:
    return isinstance(error, LimitReached)


def test_results_come_in_the_order_of_the_items() -> None:
    async def work(index: int, item: int) -> int:
        for _ in range(10 - item):
            await asyncio.sleep(0)
        return item * item

    outcomes = asyncio.run(fan_out(range(10), work, in_flight=4, stop=never))
    assert [outcome.value for outcome in outcomes] == [n * n for n in range(10)]
    assert [outcome.index for outcome in outcomes] == list(range(10))


def test_no_more_run_at_once_than_allowed_and_all_of_those_do() -> None:
    running, most = 0, 0

    async def work(index: int, item: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    asyncio.run(fan_out(range(40), work, in_flight=7, stop=never))
    assert most == 7


def test_a_failing_item_costs_its_siblings_nothing() -> None:
    async def work(index: int, item: str) -> str:
        await asyncio.sleep(0)
        if item == "bad":
            raise NotFound("bad")
        return item

    outcomes = asyncio.run(fan_out(["a", "bad", "c"], work, in_flight=2, stop=never))
    assert [outcome.state for outcome in outcomes] == ["done", "failed", "done"]
    assert isinstance(outcomes[1].error, NotFound)
    assert [outcomes[0].value, outcomes[2].value] == ["a", "c"]


def test_after_a_limit_nothing_starts_and_what_runs_is_finished() -> None:
    started: list[int] = []

    async def work(index: int, item: int) -> int:
        started.append(item)
        if item == 2:
            raise LimitReached("calls", 2, 2)
        for _ in range(5):
            await asyncio.sleep(0)
        return item

    outcomes = asyncio.run(fan_out(range(8), work, in_flight=3, stop=on_limit))
    assert started == [0, 1, 2]
    assert [outcome.state for outcome in outcomes] == ["done", "done", "failed"] + [
        "not_started"
    ] * 5


def test_a_bug_stops_everything_and_is_raised_after_the_siblings_ended() -> None:
    ended: list[str] = []

    async def work(index: int, item: int) -> None:
        if item == 1:
            await asyncio.sleep(0)
            raise ZeroDivisionError("a bug is not an observation")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(f"cleaned {item}")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(fan_out(range(5), work, in_flight=3, stop=never))
    assert sorted(ended) == ["cleaned 0", "cleaned 2"]


def test_cancellation_starts_nothing_more_and_propagates() -> None:
    started: list[int] = []
    cleaned: list[int] = []

    async def work(index: int, item: int) -> None:
        started.append(item)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(item)

    async def main() -> None:
        task = asyncio.create_task(fan_out(range(9), work, in_flight=2, stop=never))
        while len(started) < 2:
            await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert started == [0, 1]
    assert sorted(cleaned) == [0, 1]


def test_progress_counts_every_item_that_finished() -> None:
    seen: list[tuple[int, int]] = []

    async def work(index: int, item: int) -> None:
        if item % 2:
            raise NotFound("odd")

    asyncio.run(
        fan_out(range(4), work, in_flight=2, stop=never, progress=lambda *at: seen.append(at))
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_no_items_no_outcomes() -> None:
    async def work(index: int, item: int) -> int:
        raise AssertionError("nothing to do")

    assert asyncio.run(fan_out([], work, in_flight=4, stop=never)) == []


def test_nothing_can_run_with_none_in_flight() -> None:
    async def work(index: int, item: int) -> int:
        return item

    with pytest.raises(ValueError, match="in_flight"):
        asyncio.run(fan_out([1], work, in_flight=0, stop=never))


@given(
    st.lists(st.sampled_from(["done", "step", "limit"]), max_size=30),
    st.integers(1, 8),
    st.randoms(use_true_random=False),
)
def test_every_item_has_exactly_one_outcome(
    script: list[str], in_flight: int, chance: random.Random
) -> None:
    pauses = [chance.randrange(4) for _ in script]
    started: set[int] = set()

    async def work(index: int, item: str) -> str:
        started.add(index)
        for _ in range(pauses[index]):
            await asyncio.sleep(0)
        if item == "done":
            return f"{index}"
        raise {"step": TimeoutFailure("late"), "limit": LimitReached("calls", 1, 1)}[item]

    outcomes: list[Outcome[str]] = asyncio.run(
        fan_out(script, work, in_flight=in_flight, stop=on_limit)
    )
    for index, (item, outcome) in enumerate(zip(script, outcomes, strict=True)):
        if index not in started:
            assert outcome == Outcome(index)
        elif item == "done":
            assert outcome == Outcome(index, value=f"{index}", state="done")
        else:
            assert outcome.state == "failed"
            assert isinstance(outcome.error, SpantreeError)
    assert started == set(range(len(started))), "items start in order"
    if "limit" not in script:
        assert len(started) == len(script)
