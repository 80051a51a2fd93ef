"""One budget for a whole tree: random trees of children with caps of their own, failures, retries and cancellation.

rlm#129, nano-rlm#151, prime-agent#1192: what a child spends is spent by all above it, nothing in flight or failed is
forgotten, and no child gets more than its parent has.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import dspy
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.calls import Caller, MemoryCallLog
from runtime.errors import LimitReached, RunCancelled, StepError
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.scripted import Reply, ScriptedEngine


class QA(dspy.Signature):
    """Answer."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


@dataclass(frozen=True)
class Node:
    """A task of the tree: what it may spend, what it asks (and what comes of it), and its parts."""

    calls_cap: int | None
    tokens_cap: int | None
    asks: tuple[str, ...]
    children: tuple["Node", ...] = ()


@dataclass
class Spending:
    """A node that is worked: its ledger, and the calls that were made for it and for all below it."""

    ledger: Ledger
    parts: list["Spending"] = field(default_factory=list)

    def all(self) -> Iterator["Spending"]:
        yield self
        for part in self.parts:
            yield from part.all()


_ASKS = st.lists(
    st.sampled_from(["fine", "slow", "rate_limit", "timeout", "server", "garbage"]), max_size=3
)
_CAPS = st.one_of(st.none(), st.integers(1, 6))
_TOKENS = st.one_of(st.none(), st.integers(50, 2_000))


def _nodes(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Node]:
    return st.builds(Node, _CAPS, _TOKENS, _ASKS.map(tuple), st.lists(parts, max_size=3).map(tuple))


TREES = st.recursive(
    st.builds(Node, _CAPS, _TOKENS, _ASKS.map(tuple)), lambda each: _nodes(each), max_leaves=8
)


def _engine() -> ScriptedEngine:
    def respond(request: Any) -> Reply | dict[str, Any] | str:
        what = request.inputs["question"].split()[0]
        if what == "slow":
            return Reply({"answer": "late"}, latency=0.002)
        if what == "garbage":
            return "no reply of this form"
        if what in ("rate_limit", "timeout", "server"):
            return Reply(error=what, retry_after=0.0)  # type: ignore[arg-type]
        return {"answer": "well"}

    return ScriptedEngine(respond=respond)


async def _never(_: float) -> None:
    """A service that asks to wait is asked again at once."""


@dataclass
class Tree:
    """A tree that is worked with one engine."""

    engine: ScriptedEngine
    limits: Limits
    log: MemoryCallLog = field(default_factory=MemoryCallLog)
    asked: int = 0

    async def work(self, node: Node, ledger: Ledger) -> Spending:
        """Ask what a node asks, and work its parts at the same time, each under a ledger of its own."""
        mine = Spending(ledger.child(Limits(calls=node.calls_cap, tokens=node.tokens_cap)))
        caller = Caller(
            mine.ledger, self.log, limits=self.limits, lm=self.engine.lm(), sleep=_never
        )
        asks = asyncio.gather(*(self._ask(caller, what) for what in node.asks))
        parts = asyncio.gather(*(self.work(child, mine.ledger) for child in node.children))
        await asks
        mine.parts.extend(await parts)
        return mine

    async def _ask(self, caller: Caller, what: str) -> None:
        self.asked += 1
        question = {"question": f"{what} {self.asked}"}
        with suppress(
            StepError, LimitReached, RunCancelled
        ):  # what a run does with them is its affair
            await caller.call(dspy.Predict(QA), question, key=f"k{self.asked}")


def _seen(engine: ScriptedEngine) -> Usage:
    """What the engine itself says that it was asked."""
    return Usage(
        calls=len(engine.log),
        input_tokens=sum(call.input_tokens for call in engine.log),
        output_tokens=sum(call.output_tokens for call in engine.log),
    )


@given(TREES, _CAPS, st.integers(0, 2), st.one_of(st.none(), st.integers(0, 5)))
@settings(max_examples=60, deadline=None)
def test_a_tree_spends_what_its_engine_saw_and_never_more_than_any_cap(
    tree: Node, cap: int | None, retries: int, cancelled_after: int | None
) -> None:
    limits = Limits(calls=cap, retries=retries)
    root, engine = Ledger(limits), _engine()

    async def work() -> Spending:
        worked = asyncio.create_task(Tree(engine, limits).work(tree, root))
        if cancelled_after is not None:
            for _ in range(cancelled_after):
                await asyncio.sleep(0)
            root.cancel()
        return await worked

    top = asyncio.run(work())
    seen = _seen(engine)
    assert root.spent.calls == seen.calls
    assert root.spent.input_tokens == seen.input_tokens
    assert root.spent.output_tokens == seen.output_tokens
    assert root.reserved == Usage()  # nothing is left in flight, whatever failed or was cancelled
    assert cap is None or root.spent.calls <= cap
    for spending in top.all():
        ledger = spending.ledger
        assert ledger.reserved == Usage()
        assert ledger.limits.calls is None or ledger.spent.calls <= ledger.limits.calls
        below = [part.ledger for part in spending.parts]
        assert sum(each.spent.calls for each in below) <= ledger.spent.calls
        for each in below:  # a child can only narrow
            assert ledger.limits.calls is None or each.limits.calls is not None
            assert (each.limits.calls or 0) <= (ledger.limits.calls or 10**9)
            assert (each.limits.tokens or 0) <= (ledger.limits.tokens or 10**9)


@given(st.lists(_CAPS, min_size=1, max_size=6), st.integers(1, 4))
def test_no_chain_of_children_spends_more_than_its_narrowest_member(
    caps: list[int | None], asked: int
) -> None:
    """prime-agent#1192: three delegations in a chain spent 270k under a budget of 100k."""
    chain = [Ledger(Limits(calls=caps[0]))]
    for cap in caps[1:]:
        chain.append(chain[-1].child(Limits(calls=cap)))
    made = 0
    for _ in range(asked * 3):
        try:
            taken = chain[-1].reserve(input_tokens=1)
        except LimitReached:
            break
        chain[-1].settle(taken, Usage(calls=1, input_tokens=1))
        made += 1
    narrowest = min((cap for cap in caps if cap is not None), default=asked * 3)
    assert made == min(narrowest, asked * 3)
    assert [ledger.spent.calls for ledger in chain] == [made] * len(chain)
