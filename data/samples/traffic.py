"""The checkouts of the day: each one leaves lines with the same order id in several logs.

While the inventory service has no free connection, checkouts fail, and their lines are marked as
links of the incident.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from data.samples.logbook import (
    AFTERSALES,
    HOUR,
    INVENTORY,
    MINUTE,
    ORDER,
    PAYMENT,
    SECOND,
    Dice,
    Entry,
    clock,
)

# Checkouts per hour of the day; customers sleep, too.
HOURLY = (
    14,
    9,
    6,
    5,
    6,
    10,
    22,
    44,
    78,
    116,
    122,
    104,
    92,
    84,
    80,
    82,
    86,
    90,
    96,
    112,
    124,
    108,
    66,
    32,
)

EXHAUSTED = clock("09:26:30")
TIMEOUTS = clock("09:29:04")
ABORTS = clock("09:33:20")
BREAKER_OPEN = clock("09:34:58")
RECOVERED = clock("10:06:40")
BREAKER_CLOSED = clock("10:08:02.911")

JAVA_TRACE = """
java.net.SocketTimeoutException: Read timed out
\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:278)
\tat shop.lantern.order.InventoryClient.reserve(InventoryClient.java:88)
\tat shop.lantern.order.CheckoutFlow.placeOrder(CheckoutFlow.java:141)
\t... 34 more"""


@dataclass(frozen=True, slots=True)
class Checkout:
    """One attempt of a customer to buy something."""

    at: int
    order: int
    user: str
    sku: str
    items: int
    amount: str
    payment: str
    thread: int

    def line(self, log: str, delay: int, text: str, mark: str = "") -> Entry:
        """An entry of this checkout, `delay` milliseconds after its start."""
        return Entry(log, self.at + delay, text, mark)


def checkouts(dice: Dice) -> Iterator[Checkout]:
    """All checkouts of the day, retries of impatient customers included."""
    order = 88120400
    for hour, per_hour in enumerate(HOURLY):
        for minute in range(60):
            count = per_hour // 60 + dice.percent(per_hour % 60 * 100 // 60)
            begin = hour * HOUR + minute * MINUTE
            if TIMEOUTS <= begin < RECOVERED - MINUTE:
                count += dice.between(1, 3)
            for at in sorted(begin + dice.below(MINUTE) for _ in range(count)):
                order += dice.between(1, 9)
                yield _checkout(dice, at, order)


def _checkout(dice: Dice, at: int, order: int) -> Checkout:
    return Checkout(
        at=at,
        order=order,
        user=f"u{dice.between(10000, 69999)}",
        sku=f"SKU-{dice.between(20000, 20899)}",
        items=dice.between(1, 6),
        amount=f"{dice.between(19, 1899)}.{dice.pick(('00', '50', '90', '99'))} CNY",
        payment=f"pay_{dice.digits16(8)}",
        thread=dice.between(1, 24),
    )


def walk(dice: Dice, checkout: Checkout) -> Iterator[Entry]:
    """The lines that a checkout leaves in the logs."""
    at = checkout.at
    if EXHAUSTED < at < TIMEOUTS and dice.percent(70):
        yield from _slow(dice, checkout)
    elif ABORTS < at < RECOVERED and dice.percent(75 if at < BREAKER_OPEN else 45):
        yield from _charged_but_aborted(dice, checkout)
    elif TIMEOUTS < at < RECOVERED:
        yield from _timed_out(dice, checkout)
    else:
        yield from _success(dice, checkout)


def charged_but_aborted(entries: list[Entry]) -> list[str]:
    """Ids of the orders that were charged without being confirmed, and must be compensated."""
    aborted = (e.text for e in entries if e.mark == "capture-aborted" and e.log == PAYMENT)
    return [text.split("order=")[1].split()[0].rstrip(",:") for text in aborted]


def _created(c: Checkout) -> Entry:
    text = f"order {c.order} created user={c.user} items={c.items} total={c.amount}"
    return c.line(ORDER, 0, f"INFO  [exec-{c.thread}] OrderController - {text}")


def _exhausted(dice: Dice, c: Checkout, delay: int) -> Entry:
    waiting = min(96, 11 + (c.at - EXHAUSTED) // (25 * SECOND) + dice.below(9))
    text = (
        f"ERROR [exec-{c.thread}] HikariPool-1 - connection pool exhausted: "
        "Connection is not available, request timed out after 3000ms "
        f"(total=40, active=40, idle=0, waiting={waiting}) order={c.order}"
    )
    return c.line(INVENTORY, delay, text, "pool-exhausted")


def _slow(dice: Dice, c: Checkout) -> Iterator[Entry]:
    yield _created(c)
    yield _exhausted(dice, c, 3040)
    text = f"reserve order={c.order} no answer within 3000 ms, retry 1 of 2"
    warning = f"WARN  [exec-{c.thread}] InventoryClient - {text}"
    yield c.line(ORDER, 3120, warning, "order-retry")
    yield from _paid(dice, c)


def _timed_out(dice: Dice, c: Checkout) -> Iterator[Entry]:
    yield _created(c)
    yield _exhausted(dice, c, 3010 + dice.below(60))
    text = f"reserve failed order={c.order}: inventory-service timeout after 5000 ms"
    first = f"ERROR [exec-{c.thread}] InventoryClient - {text}"
    yield c.line(ORDER, 5020 + dice.below(40), first + JAVA_TRACE, "order-timeout")


def _charged_but_aborted(dice: Dice, c: Checkout) -> Iterator[Entry]:
    yield _created(c)
    charged = f"INFO  Charge: order={c.order} payment={c.payment} wallet charged {c.amount}"
    yield c.line(PAYMENT, 640, charged)
    if c.at > BREAKER_OPEN and dice.percent(75):
        why = "circuit breaker of inventory-service is open"
    else:
        why = "reservation check at inventory-service timed out after 5000 ms"
    aborted = f"ERROR Capture: capture aborted order={c.order} payment={c.payment}: {why}"
    yield c.line(PAYMENT, 5700, aborted, "capture-aborted")
    text = f"order {c.order} unconfirmed: payment-gateway answered 504, customer was charged"
    error = f"ERROR [exec-{c.thread}] PaymentClient - {text}"
    yield c.line(ORDER, 5760, error, "capture-aborted")


def _success(dice: Dice, c: Checkout) -> Iterator[Entry]:
    ms = dice.between(18, 96)
    held = f"reserve order={c.order} sku={c.sku} qty={c.items}"
    yield _created(c)
    yield c.line(INVENTORY, 30, f"INFO  [exec-{c.thread}] ReservationApi - {held} hold=3h15m")
    client = f"INFO  [exec-{c.thread}] InventoryClient - {held} -> 200 in {ms} ms"
    yield c.line(ORDER, ms + 20, client)
    yield from _paid(dice, c)


def _paid(dice: Dice, c: Checkout) -> Iterator[Entry]:
    delay = dice.between(9, 160) * SECOND + dice.below(SECOND)
    if RECOVERED <= c.at < BREAKER_CLOSED:
        delay += BREAKER_CLOSED - RECOVERED
    pair = f"order={c.order} payment={c.payment}"
    yield c.line(PAYMENT, delay, f"INFO  Authorize: {pair} amount={c.amount} authorized")
    check = f"INFO  ReservationCheck: order={c.order} valid, {dice.between(11, 70)} ms"
    yield c.line(PAYMENT, delay + 90, check)
    yield c.line(PAYMENT, delay + 400, f"INFO  Capture: {pair} captured {c.amount}")
    commit = f"INFO  [exec-{c.thread}] ReservationApi - commit order={c.order} sku={c.sku}"
    yield c.line(INVENTORY, delay + 470, commit)
    confirmed = f"INFO  [exec-{c.thread}] OrderController - order {c.order} confirmed"
    yield c.line(ORDER, delay + 520, confirmed)
    mail = f"INFO    notify.mail 订单确认邮件已发送 order={c.order} to={c.user}"
    yield c.line(AFTERSALES, delay + dice.between(2, 40) * SECOND, mail)
