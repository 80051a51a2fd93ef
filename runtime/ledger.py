"""The ledger: the one budget of a run, and of every part of it.

A call is paid in three movements: `reserve` before it starts, then either `settle` with what it really used, or
`refund` if it never started. All three are atomic, from threads and from tasks alike. A child ledger has caps
of its own, and everything it spends is charged to its ancestors too: the root is exact for the whole tree.

Reservations never exceed a cap. What a call really used can (a reply may be longer than foreseen): then
nothing more can be reserved.
"""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from runtime.errors import LimitReached, LimitsError, RunCancelled
from runtime.limits import Limits

_CENT = 1e-9  # sums of float prices: a difference below this is none


class Usage(BaseModel):
    """What calls used. `calls` counts calls of an engine, failed ones included; a cached call is not one.

    `cost_usd` is the sum of the known costs; `unknown_cost_calls` says how many calls it leaves out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: int = 0
    cached_calls: int = 0
    failed_calls: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unknown_cost_calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage.model_construct(
            calls=self.calls + other.calls,
            cached_calls=self.cached_calls + other.cached_calls,
            failed_calls=self.failed_calls + other.failed_calls,
            retries=self.retries + other.retries,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            unknown_cost_calls=self.unknown_cost_calls + other.unknown_cost_calls,
        )


@dataclass(frozen=True)
class Reservation:
    """What was set aside for one call, until it is settled or refunded."""

    number: int
    usage: Usage


class Ledger:
    """One budget. `spent` and `elapsed` (seconds) continue an earlier execution of the same run."""

    def __init__(
        self,
        limits: Limits,
        *,
        spent: Usage | None = None,
        elapsed: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self._parent: Ledger | None = None
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._clock = clock
        self._started = clock() - elapsed
        self._spent = spent or Usage()
        self._reserved = Usage()
        self._open: dict[int, Usage] = {}
        self._cancelled = False

    def child(self, caps: Limits) -> "Ledger":
        """A ledger of its own caps, never wider than these. Its clock starts now."""
        child = Ledger(self.limits.narrowed(**caps.model_dump()), clock=self._clock)
        child._parent = self
        child._lock = self._lock
        child._numbers = self._numbers
        return child

    def reserve(
        self,
        *,
        input_tokens: int,
        output_tokens: int = 0,
        calls: int = 1,
        cost: float | None = 0.0,
    ) -> Reservation:
        """Set aside what a call will need. `cost=None` says that its price is unknown.

        Raises RunCancelled after `cancel`, LimitReached if a cap would be exceeded, and LimitsError
        if the price is unknown while money is limited.
        """
        asked = _asked(input_tokens, output_tokens, calls, cost)
        with self._lock:
            for ledger in self._line():
                ledger._admit(asked, priced=cost is not None)
            reservation = Reservation(next(self._numbers), asked)
            self._open[reservation.number] = asked
            for ledger in self._line():
                ledger._reserved += asked
        return reservation

    def fits(
        self,
        *,
        input_tokens: int,
        output_tokens: int = 0,
        calls: int = 1,
        cost: float | None = 0.0,
    ) -> bool:
        """Whether the same reservation could be made if no other were open."""
        asked = _asked(input_tokens, output_tokens, calls, cost)
        with self._lock:
            return not any(ledger._excess(asked, Usage()) for ledger in self._line())

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Replace a reservation by what was really used."""
        with self._lock:
            self._release(reservation)
            for ledger in self._line():
                ledger._spent += usage

    def refund(self, reservation: Reservation) -> None:
        """Give a reservation back: the call never started."""
        with self._lock:
            self._release(reservation)

    def cancel(self) -> None:
        """Refuse every reservation from now on, here and in all children. Open ones can still be settled."""
        with self._lock:
            self._cancelled = True

    @property
    def cancelled(self) -> bool:
        return any(ledger._cancelled for ledger in self._line())

    @property
    def spent(self) -> Usage:
        return self._spent

    @property
    def reserved(self) -> Usage:
        return self._reserved

    @property
    def elapsed(self) -> float:
        """Seconds of wall time since the run (or this child) started, earlier executions included."""
        return self._clock() - self._started

    @property
    def remaining(self) -> dict[str, float]:
        """What is left of each cap that is set, the ancestors' caps included. Never negative."""
        left: dict[str, float] = {}
        with self._lock:
            for ledger in self._line():
                for limit, used, cap in ledger._levels(ledger._spent + ledger._reserved):
                    left[limit] = min(max(cap - used, 0), left.get(limit, cap))
        return left

    def describe(self) -> str:
        """What is left, in one line for a prompt."""
        left = self.remaining
        parts = [f"{left[limit]:{form}} {unit}" for limit, form, unit in _WORDS if limit in left]
        return f"{', '.join(parts)} left" if parts else "no limit"

    def _line(self) -> Iterator["Ledger"]:
        ledger: Ledger | None = self
        while ledger is not None:
            yield ledger
            ledger = ledger._parent

    def _admit(self, asked: Usage, *, priced: bool) -> None:
        if self._cancelled:
            raise RunCancelled("the run was cancelled: no call starts any more")
        if not priced and self.limits.cost_usd is not None:
            raise LimitsError(
                "the cost is limited, but the price of this model is not known",
                hint="limit the tokens instead: --max-tokens",
            )
        if excess := self._excess(asked, self._reserved):
            raise LimitReached(*excess)

    def _excess(self, asked: Usage, reserved: Usage) -> tuple[str, float, float] | None:
        committed = self._spent + reserved
        cap = self.limits.wall_seconds
        if cap is not None and self.elapsed >= cap:
            return "wall_seconds", self.elapsed, cap
        used = {limit: amount for limit, amount, _ in self._levels(committed)}
        for limit, total, cap in self._levels(committed + asked):
            if limit != "wall_seconds" and total > cap + (_CENT if limit == "cost_usd" else 0):
                return limit, used[limit], cap
        return None

    def _levels(self, usage: Usage) -> Iterator[tuple[str, float, float]]:
        amounts = {
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "tokens": usage.input_tokens + usage.output_tokens,
            "cost_usd": usage.cost_usd,
            "wall_seconds": self.elapsed,
        }
        for limit, amount in amounts.items():
            cap = getattr(self.limits, limit)
            if cap is not None:
                yield limit, amount, cap

    def _release(self, reservation: Reservation) -> None:
        asked = self._open.pop(reservation.number, None)
        if asked is None:
            raise RuntimeError(f"reservation {reservation.number} is not open in this ledger")
        for ledger in self._line():
            ledger._reserved = _minus(ledger._reserved, asked)


_WORDS = (
    ("calls", ".0f", "calls"),
    ("input_tokens", ".0f", "input tokens"),
    ("output_tokens", ".0f", "output tokens"),
    ("tokens", ".0f", "tokens"),
    ("cost_usd", ".2f", "US dollars"),
    ("wall_seconds", ".0f", "s"),
)


def _asked(input_tokens: int, output_tokens: int, calls: int, cost: float | None) -> Usage:
    if min(input_tokens, output_tokens, calls, cost or 0.0) < 0:
        raise ValueError("a reservation cannot be negative")
    return Usage(
        calls=calls, input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost or 0.0
    )


def _minus(total: Usage, part: Usage) -> Usage:
    return Usage(
        calls=total.calls - part.calls,
        input_tokens=total.input_tokens - part.input_tokens,
        output_tokens=total.output_tokens - part.output_tokens,
        cost_usd=max(total.cost_usd - part.cost_usd, 0.0),
    )
