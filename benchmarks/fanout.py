"""Fan-out of leaf calls: the rate under latency against the ideal, and the cost of metering a call.

    python benchmarks/fanout.py [--calls 1000] [--latency 1.0] [--in-flight 64]

The model is the scripted engine: its latency is a sleep, its reply a constant. Everything else is real: DSPy's
predictor, adapter and LM, the ledger, the call log, the fan-out.
"""

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import dspy

from runtime.calls import Caller, MemoryCallLog
from runtime.fanout import fan_out
from runtime.ledger import Ledger
from runtime.limits import Limits
from runtime.models.scripted import Rule, ScriptedEngine
from signatures import AnalyzeLeaf, EvidenceSpan

REPLY = {"claims": [], "evidence": [], "fields_found": [], "unknowns": [], "claim_count": 0}
SPANS, SPAN_CHARS = 10, 1200


def leaf_inputs(number: int) -> dict[str, Any]:
    """A partition of 12,000 characters, as the leaf analysis shows it."""
    text = f"2026-03-02 08:00:01,123 INFO [order] request {number} done in 12 ms\n"
    spans = [
        EvidenceSpan(
            span_id=f"{number:06d}{place:06d}",
            source="order-service.log",
            first_line=place * 17,
            margin_before="",
            text=(text * (SPAN_CHARS // len(text) + 1))[:SPAN_CHARS],
            margin_after="",
        )
        for place in range(SPANS)
    ]
    return {
        "question": "How many?",
        "kind": "lookup",
        "patterns": [],
        "spans": spans,
        "term_statistics": [],
    }


def metered(latency: float, in_flight: int) -> tuple[Caller, Ledger]:
    engine = ScriptedEngine(rules=[Rule(reply=REPLY, latency=latency)])
    limits = Limits(in_flight=in_flight)
    ledger = Ledger(limits)
    return Caller(ledger, MemoryCallLog(), limits=limits, lm=engine.lm()), ledger


async def fan(calls: int, latency: float, in_flight: int) -> float:
    """Seconds for `calls` metered leaf calls."""
    caller, ledger = metered(latency, in_flight)
    leaf = dspy.Predict(AnalyzeLeaf)

    async def work(index: int, item: int) -> dspy.Prediction:
        return await caller.call(leaf, leaf_inputs(item), key=f"leaf-{item}", leaf=True)

    started = time.perf_counter()
    outcomes = await fan_out(range(calls), work, in_flight=in_flight, stop=lambda error: True)
    seconds = time.perf_counter() - started
    assert all(outcome.state == "done" for outcome in outcomes)
    assert ledger.spent.calls == calls
    return seconds


async def timed(call: Callable[[int], Awaitable[Any]], calls: int) -> float:
    gc.collect()
    started = time.perf_counter()
    for number in range(calls):
        await call(number)
    return (time.perf_counter() - started) / calls


async def overhead(calls: int, rounds: int) -> tuple[float, float]:
    """Seconds a call, bare and metered: the median over rounds that alternate."""
    caller, _ = metered(0.0, 1)
    engine = ScriptedEngine(rules=[Rule(reply=REPLY)])
    lm, leaf = engine.lm(), dspy.Predict(AnalyzeLeaf)
    inputs = [leaf_inputs(number) for number in range(calls)]
    bare_times, metered_times = [], []
    for current in range(rounds):

        async def bare_call(number: int) -> None:
            await leaf.acall(**inputs[number])

        async def metered_call(number: int, current: int = current) -> None:
            await caller.call(leaf, inputs[number], key=f"{current}-{number}")

        with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), trace=None, max_history_size=0):
            bare_times.append(await timed(bare_call, calls))
            metered_times.append(await timed(metered_call, calls))
    return statistics.median(bare_times), statistics.median(metered_times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--in-flight", type=int, default=64)
    arguments = parser.parse_args()
    with dspy.context(trace=None):
        bare, paid = asyncio.run(overhead(100, 7))
        before = time.process_time()
        seconds = asyncio.run(fan(arguments.calls, arguments.latency, arguments.in_flight))
        busy = (time.process_time() - before) / arguments.calls
    ideal = arguments.calls * arguments.latency / arguments.in_flight
    print(f"bare dspy.Predict call   {bare * 1000:8.2f} ms")
    print(f"metered call             {paid * 1000:8.2f} ms   ({paid / bare:.2f} times)")
    print(
        f"fan-out of {arguments.calls} calls   {seconds:8.2f} s    ideal {ideal:.2f} s: {ideal / seconds:.1%}"
    )
    print(f"processor time a call    {busy * 1000:8.2f} ms")


if __name__ == "__main__":
    main()
