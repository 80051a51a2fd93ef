"""The ledger: conservation, atomicity, cancellation, and children that are charged to the tree."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from runtime.errors import LimitReached, LimitsError, RunCancelled
from runtime.ledger import Ledger, Reservation, Usage
from runtime.limits import Limits


class Clock:
    """Time that only passes when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_reservation_becomes_what_was_really_used() -> None:
    ledger = Ledger(Limits(calls=3, tokens=100))
    reservation = ledger.reserve(input_tokens=40, output_tokens=20)
    assert ledger.remaining == {"calls": 2, "tokens": 40}
    ledger.settle(reservation, Usage(calls=1, input_tokens=30, output_tokens=5))
    assert ledger.remaining == {"calls": 2, "tokens": 65}
    assert ledger.spent == Usage(calls=1, input_tokens=30, output_tokens=5)
    assert ledger.reserved == Usage()


def test_a_refund_leaves_no_trace() -> None:
    ledger = Ledger(Limits(calls=1))
    ledger.refund(ledger.reserve(input_tokens=1))
    assert (ledger.spent, ledger.reserved) == (Usage(), Usage())
    ledger.reserve(input_tokens=1)


@pytest.mark.parametrize(
    ("limits", "asked", "limit"),
    [
        (Limits(calls=0), {"input_tokens": 1}, "calls"),
        (Limits(input_tokens=9), {"input_tokens": 10}, "input_tokens"),
        (Limits(output_tokens=9), {"input_tokens": 1, "output_tokens": 10}, "output_tokens"),
        (Limits(tokens=19), {"input_tokens": 10, "output_tokens": 10}, "tokens"),
        (Limits(cost_usd=0.5), {"input_tokens": 1, "cost": 0.51}, "cost_usd"),
        (Limits(wall_seconds=0), {"input_tokens": 1}, "wall_seconds"),
    ],
)
def test_the_limit_that_is_reached_is_named(
    limits: Limits, asked: dict[str, Any], limit: str
) -> None:
    with pytest.raises(LimitReached) as reached:
        Ledger(limits).reserve(**asked)
    assert reached.value.limit == limit
    assert reached.value.cap == getattr(limits, limit)


def test_a_reply_longer_than_reserved_closes_the_ledger() -> None:
    ledger = Ledger(Limits(tokens=100))
    ledger.settle(
        ledger.reserve(input_tokens=10, output_tokens=10), Usage(calls=1, output_tokens=150)
    )
    assert ledger.remaining == {"tokens": 0}
    with pytest.raises(LimitReached):
        ledger.reserve(input_tokens=1)


def test_wall_time_runs_from_the_start_and_continues_after_a_resume() -> None:
    clock = Clock()
    ledger = Ledger(Limits(wall_seconds=60), elapsed=50.0, clock=clock)
    clock.now += 9
    ledger.reserve(input_tokens=1)
    clock.now += 1
    with pytest.raises(LimitReached, match="wall_seconds"):
        ledger.reserve(input_tokens=1)
    assert ledger.elapsed == 60.0


def test_what_an_earlier_execution_spent_counts() -> None:
    ledger = Ledger(Limits(calls=3), spent=Usage(calls=2))
    ledger.reserve(input_tokens=1)
    with pytest.raises(LimitReached):
        ledger.reserve(input_tokens=1)


def test_a_cached_call_is_not_a_call() -> None:
    ledger = Ledger(Limits(calls=1))
    ledger.settle(ledger.reserve(input_tokens=5), Usage(cached_calls=1))
    assert ledger.remaining == {"calls": 1}


def test_an_unknown_price_is_refused_while_money_is_limited() -> None:
    with pytest.raises(LimitsError) as refused:
        Ledger(Limits(cost_usd=1.0)).reserve(input_tokens=1, cost=None)
    assert "--max-tokens" in refused.value.hint
    Ledger(Limits(tokens=10)).reserve(input_tokens=1, cost=None)


def test_no_call_starts_after_cancel_and_open_ones_can_be_settled() -> None:
    ledger = Ledger(Limits())
    child = ledger.child(Limits())
    reservation = child.reserve(input_tokens=1)
    ledger.cancel()
    with pytest.raises(RunCancelled):
        child.reserve(input_tokens=1)
    child.settle(reservation, Usage(calls=1))
    assert ledger.spent.calls == 1


def test_cancelling_a_part_leaves_the_rest_running() -> None:
    ledger = Ledger(Limits())
    child = ledger.child(Limits())
    child.cancel()
    assert (child.cancelled, ledger.cancelled) == (True, False)
    ledger.reserve(input_tokens=1)


def test_a_child_is_charged_to_its_ancestors_and_narrows() -> None:
    ledger = Ledger(Limits(calls=3))
    child = ledger.child(Limits(calls=2))
    grandchild = child.child(Limits(calls=99))
    for _ in range(2):
        grandchild.settle(grandchild.reserve(input_tokens=1), Usage(calls=1))
    with pytest.raises(LimitReached):
        grandchild.reserve(input_tokens=1)
    assert (ledger.spent.calls, child.spent.calls, ledger.remaining["calls"]) == (2, 2, 1)
    ledger.reserve(input_tokens=1)


def test_a_child_sees_what_its_siblings_left() -> None:
    """A sub-call that sees a stale remaining budget overspends (rlm#129)."""
    ledger = Ledger(Limits(calls=2))
    one, other = ledger.child(Limits(calls=2)), ledger.child(Limits(calls=2))
    one.settle(one.reserve(input_tokens=1), Usage(calls=1))
    other.reserve(input_tokens=1)
    assert other.remaining == {"calls": 0}
    with pytest.raises(LimitReached):
        other.reserve(input_tokens=1)


def test_settling_or_refunding_twice_is_a_bug() -> None:
    ledger = Ledger(Limits())
    reservation = ledger.reserve(input_tokens=1)
    ledger.settle(reservation, Usage(calls=1))
    with pytest.raises(RuntimeError, match="not open"):
        ledger.settle(reservation, Usage(calls=1))
    with pytest.raises(RuntimeError, match="not open"):
        ledger.refund(reservation)


def test_a_reservation_belongs_to_its_ledger() -> None:
    ledger = Ledger(Limits())
    with pytest.raises(RuntimeError):
        ledger.child(Limits()).settle(ledger.reserve(input_tokens=1), Usage())


def test_a_negative_reservation_is_a_bug() -> None:
    with pytest.raises(ValueError, match="negative"):
        Ledger(Limits()).reserve(input_tokens=-1)


def test_what_is_left_in_one_line() -> None:
    assert Ledger(Limits()).describe() == "no limit"
    limits = Limits(calls=37, tokens=120_000, cost_usd=0.5, wall_seconds=41)
    assert (
        Ledger(limits, clock=Clock()).describe()
        == "37 calls, 120000 tokens, 0.50 US dollars, 41 s left"
    )


def test_whether_it_fits_once_nothing_is_in_flight() -> None:
    ledger = Ledger(Limits(calls=1))
    reservation = ledger.reserve(input_tokens=1)
    assert ledger.fits(input_tokens=1)
    ledger.settle(reservation, Usage(calls=1))
    assert not ledger.fits(input_tokens=1)


def test_threads_together_never_exceed_a_cap() -> None:
    ledger = Ledger(Limits(calls=50, tokens=10_000))
    refused = []

    def work() -> None:
        for _ in range(20):
            try:
                reservation = ledger.reserve(input_tokens=3, output_tokens=2)
            except LimitReached:
                refused.append(1)
                continue
            ledger.settle(reservation, Usage(calls=1, input_tokens=3, output_tokens=2))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent == Usage(calls=50, input_tokens=150, output_tokens=100)
    assert len(refused) == 8 * 20 - 50
    assert ledger.reserved == Usage()


def test_tasks_together_never_exceed_a_cap() -> None:
    ledger = Ledger(Limits(calls=10))
    running = 0
    most = 0

    async def work() -> bool:
        nonlocal running, most
        try:
            reservation = ledger.reserve(input_tokens=1)
        except LimitReached:
            return False
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        ledger.settle(reservation, Usage(calls=1))
        return True

    async def main() -> list[bool]:
        return await asyncio.gather(*(work() for _ in range(30)))

    assert sum(asyncio.run(main())) == 10
    assert most == 10


CALLS, TOKENS = 12, 300


class LedgerMachine(RuleBasedStateMachine):
    """Any order of reservations, settlements and refunds, in a tree of ledgers."""

    ledgers = Bundle("ledgers")
    open = Bundle("open")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.root = Ledger(Limits(calls=CALLS, tokens=TOKENS), clock=self.clock)
        self.every = [self.root]
        self.settled = Usage()
        self.held: dict[int, Usage] = {}

    @rule(target=ledgers)
    def root_ledger(self) -> Ledger:
        return self.root

    @rule(target=ledgers, parent=ledgers, calls=st.none() | st.integers(0, CALLS))
    def narrow(self, parent: Ledger, calls: int | None) -> Ledger:
        child = parent.child(Limits(calls=calls))
        self.every.append(child)
        return child

    @rule(target=open, ledger=ledgers, tokens=st.integers(0, 80), output=st.integers(0, 80))
    def reserve(
        self, ledger: Ledger, tokens: int, output: int
    ) -> tuple[Ledger, Reservation] | None:
        before = self.root.reserved
        try:
            reservation = ledger.reserve(input_tokens=tokens, output_tokens=output)
        except LimitReached:
            assert self.root.reserved == before
            return None
        self.held[reservation.number] = reservation.usage
        return ledger, reservation

    @rule(held=consumes(open), share=st.floats(0, 1), failed=st.booleans())
    def settle(self, held: tuple[Ledger, Reservation] | None, share: float, failed: bool) -> None:
        if held is None:
            return
        ledger, reservation = held
        usage = Usage(
            calls=1,
            failed_calls=int(failed),
            input_tokens=0 if failed else int(reservation.usage.input_tokens * share),
            output_tokens=0 if failed else int(reservation.usage.output_tokens * share),
        )
        ledger.settle(reservation, usage)
        del self.held[reservation.number]
        self.settled += usage

    @rule(held=consumes(open))
    def refund(self, held: tuple[Ledger, Reservation] | None) -> None:
        if held is not None:
            held[0].refund(held[1])
            del self.held[held[1].number]

    @invariant()
    def conserved(self) -> None:
        root = self.root
        assert root.spent == self.settled
        assert root.reserved == sum(self.held.values(), Usage())
        assert root.spent.calls + root.reserved.calls + root.remaining["calls"] == CALLS
        used = sum(u.input_tokens + u.output_tokens for u in (root.spent, root.reserved))
        assert used + root.remaining["tokens"] == TOKENS

    @invariant()
    def never_negative_never_above_a_cap(self) -> None:
        for ledger in self.every:
            assert all(left >= 0 for left in ledger.remaining.values())
            cap = ledger.limits.calls
            assert cap is None or ledger.spent.calls + ledger.reserved.calls <= cap


LedgerMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30)
TestLedgerMachine = LedgerMachine.TestCase
