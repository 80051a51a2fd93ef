"""Calls that end badly: bugs, timeouts, cancellation; and the ledger exact through all of it."""

import asyncio
import random
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.calls import CallRecord, MemoryCallLog
from runtime.errors import (
    LimitReached,
    ModelError,
    ParseFailure,
    RunCancelled,
)
from runtime.fanout import fan_out
from runtime.ledger import Usage
from runtime.limits import Limits
from runtime.models.request import PromptRequest
from runtime.models.scripted import Reply, Rule, ScriptedEngine

QUESTION = {"question": "why?"}


def test_a_bug_of_an_engine_is_raised_as_it_is_and_paid(answers: Any) -> None:
    bench = answers()

    def respond(request: PromptRequest) -> str:
        raise ZeroDivisionError("bug")

    bench.engine.respond = respond
    with pytest.raises(ZeroDivisionError):
        bench.call()
    assert bench.ledger.spent == Usage(calls=1, failed_calls=1)
    assert bench.log.records["k#1"].error_class == "ZeroDivisionError"


def test_running_out_of_replies_names_the_request(answers: Any) -> None:
    bench = answers()
    with pytest.raises(ModelError, match=r"no reply for call 1.*why\?"):
        bench.call()


def test_a_call_is_given_up_after_its_time_and_made_again(bench_of: Any) -> None:
    engine = ScriptedEngine(replies=[Reply({"answer": "late"}, latency=60), {"answer": "in time"}])
    bench = bench_of(engine, Limits(call_seconds=0.2))
    assert bench.call().answer == "in time"
    assert bench.metered_usage() == bench.engine_usage()
    assert bench.log.records["k#1"].error_class == "timeout"


def test_a_call_is_cut_where_the_run_ends(bench_of: Any) -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "late"}, latency=60)])
    bench = bench_of(engine, Limits(wall_seconds=0.2))
    with pytest.raises(LimitReached, match="wall_seconds"):
        bench.call()
    assert bench.ledger.spent.calls == len(engine.log) == 1


def test_no_call_starts_after_cancel(answers: Any, bench_of: Any) -> None:
    bench = answers({"answer": "x"})
    bench.ledger.cancel()
    with pytest.raises(RunCancelled):
        bench.call()
    bench.caller = bench_of(bench.engine).another_caller(cancelled=lambda: True)
    with pytest.raises(RunCancelled):
        bench.call()
    assert bench.engine.log == []


def test_a_call_cancelled_in_the_engine_is_one_failed_call(bench_of: Any) -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "late"}, latency=60)])
    bench = bench_of(engine)

    async def main() -> None:
        task = asyncio.create_task(bench.acall())
        while not engine.log:
            await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert bench.ledger.spent == Usage(calls=1, failed_calls=1)
    assert bench.ledger.reserved == Usage()
    assert bench.log.records["k#1"].error_class == "cancelled"


def test_a_call_cancelled_before_the_engine_was_asked_is_refunded(answers: Any) -> None:
    bench = answers({"answer": "never"})

    async def main() -> None:
        task = asyncio.create_task(bench.acall())
        await asyncio.sleep(0)
        assert bench.ledger.reserved.calls == 1
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert bench.engine.log == []
    assert (bench.ledger.spent, bench.ledger.reserved) == (Usage(), Usage())


def test_a_log_that_cannot_be_written_stops_the_call(answers: Any) -> None:
    class Full(MemoryCallLog):
        def intent(self, record: CallRecord) -> None:
            raise OSError("disk full")

    bench = answers({"answer": "never"})
    bench.log = Full()
    bench.caller = bench.another_caller()
    with pytest.raises(OSError, match="disk full"):
        bench.call()
    assert bench.engine.log == []
    assert bench.ledger.reserved == Usage()


FAULTS = (
    "ok",
    "ok",
    "ok",
    "prose",
    "timeout",
    "rate_limit",
    "server",
    "cut",
    "context",
    "bad_check",
)


class FaultyService:
    """Replies by schedule: what the n-th call for each question meets. Pauses follow from the chance given."""

    def __init__(self, schedule: list[list[str]], chance: random.Random) -> None:
        self._schedule = schedule
        self._chance = chance
        self._made: Counter[int] = Counter()

    def __call__(self, request: PromptRequest) -> Reply:
        item = int(request.inputs["question"])
        what = self._schedule[item][self._made[item]]
        self._made[item] += 1
        latency = self._chance.random() * 0.002
        if what in ("timeout", "rate_limit", "server", "context"):
            return Reply(error=what, latency=latency)  # type: ignore[arg-type]
        if what == "cut":
            return Reply('{"answer": "cut', finish_reason="length", latency=latency)
        return Reply("prose" if what == "prose" else {"answer": what}, latency=latency)


def declared(prediction: dspy.Prediction) -> None:
    if prediction.answer == "bad_check":
        raise ParseFailure("not what was declared")


async def cancelled_after(turns: int | None, work: Coroutine[Any, Any, list[Any]]) -> list[Any]:
    """The outcomes; none if the loop turned so many times before the work was done."""
    task = asyncio.create_task(work)
    if turns is not None:
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return []


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from(FAULTS), min_size=4, max_size=4), min_size=1, max_size=12),
    st.integers(1, 6),
    st.none() | st.integers(1, 20),
    st.none() | st.integers(0, 120),
    st.randoms(use_true_random=False),
)
def test_the_ledger_equals_the_log_of_the_engine(
    bench_of: Any,
    schedule: list[list[str]],
    in_flight: int,
    calls: int | None,
    turns: int | None,
    chance: random.Random,
) -> None:
    """Under concurrency, failure, limits and cancellation: calls, failures and tokens, exactly."""
    engine = ScriptedEngine(respond=FaultyService(schedule, chance))
    bench = bench_of(engine, Limits(calls=calls, retries=3))

    async def work(index: int, item: int) -> str:
        return (await bench.acall(f"k{item}", question=str(item), check=declared)).answer

    def on_limit(error: BaseException) -> bool:
        return isinstance(error, LimitReached)

    fan = fan_out(range(len(schedule)), work, in_flight=in_flight, stop=on_limit)
    outcomes = asyncio.run(cancelled_after(turns, fan))

    assert bench.metered_usage() == bench.engine_usage()
    assert bench.ledger.reserved == Usage()
    assert calls is None or bench.ledger.spent.calls <= calls
    records = bench.log.records.values()
    assert sum((record.usage for record in records), Usage()) == bench.ledger.spent
    assert all(record.status != "intent" for record in records)
    assert {outcome.value for outcome in outcomes if outcome.state == "done"} <= {"ok"}
    assert all(outcome.error for outcome in outcomes if outcome.state == "failed")
