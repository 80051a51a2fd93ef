"""What the services write on any day: housekeeping, evenly spread warnings, unrelated errors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from data.samples.logbook import AFTERSALES, HOUR, INVENTORY, MINUTE, ORDER, PAYMENT, Dice, Entry

DAY_END = 24 * HOUR

FIELDS: dict[str, Callable[[Dice], str]] = {
    "t": lambda dice: str(dice.between(1, 24)),
    "user": lambda dice: f"u{dice.between(10000, 69999)}",
    "order": lambda dice: str(dice.between(88090000, 88119999)),
    "sku": lambda dice: f"SKU-{dice.between(20000, 20899)}",
    "n": lambda dice: str(dice.between(2, 9)),
    "count": lambda dice: str(dice.between(40, 480)),
    "ms": lambda dice: str(dice.between(4, 95)),
    "slow": lambda dice: str(dice.between(1001, 1890)),
    "miss": lambda dice: f"0.{dice.between(21, 34)}",
    "bank": lambda dice: dice.pick(("bank-a", "bank-b", "bank-c")),
    "warehouse": lambda dice: f"WH-{dice.between(1, 6)}",
    "cart": lambda dice: f"c{dice.digits16(6)}",
    "event": lambda dice: f"evt_{dice.digits16(8)}",
    "postal": lambda dice: dice.pick(("20003", "2000333", "ABC", "51800O")),
}

TEMPLATE_TRACE = """
Traceback (most recent call last):
  File "/app/aftersales/notify.py", line 71, in render
    return template.render(order=order)
  File "/app/aftersales/template.py", line 33, in render
    raise MissingField(name)
aftersales.template.MissingField: nickname"""

IMPORT_TRACE = """
java.lang.IllegalArgumentException: quantity must not be negative
\tat shop.lantern.inventory.StockImport.check(StockImport.java:57)
\t... 12 more"""


@dataclass(frozen=True, slots=True)
class Noise:
    """A kind of line: about `per_day` of them, evenly spread if `even`, else at random times."""

    log: str
    per_day: int
    even: bool
    template: str


NOISE = (
    Noise(
        ORDER,
        1050,
        False,
        "INFO  [exec-{t}] CartController - cart {cart} of {user} updated items={n}",
    ),
    Noise(ORDER, 288, True, "INFO  [scheduler] PriceCache - refreshed {count} prices in {ms} ms"),
    Noise(ORDER, 84, True, "WARN  [scheduler] PriceCache - cache miss ratio {miss} above 0.20"),
    Noise(
        ORDER,
        60,
        True,
        "WARN  [exec-{t}] OrderRepository - slow query {slow} ms: select order_item",
    ),
    Noise(
        ORDER,
        38,
        False,
        "ERROR [exec-{t}] OrderValidator - validation failed: postal code '{postal}' of {user}",
    ),
    Noise(
        INVENTORY,
        950,
        False,
        "INFO  [exec-{t}] StockApi - stock {sku} available={count} in {ms} ms",
    ),
    Noise(
        INVENTORY,
        480,
        True,
        "INFO  [sync] StockSync - {warehouse} synced {count} articles in {slow} ms",
    ),
    Noise(
        INVENTORY,
        72,
        True,
        "WARN  [exec-{t}] StockRepository - slow query {slow} ms: select stock_level",
    ),
    Noise(
        INVENTORY,
        14,
        False,
        "ERROR [sync] StockImport - validation failed: quantity -{n} of {sku} from {warehouse}"
        + IMPORT_TRACE,
    ),
    Noise(PAYMENT, 650, False, "INFO  Webhook: event={event} from {bank} accepted in {ms} ms"),
    Noise(PAYMENT, 288, True, "INFO  Settlement: polled {bank}, {n} new records"),
    Noise(
        PAYMENT, 66, True, "WARN  BankClient: no answer from {bank} within 2000 ms, retry 1 of 3"
    ),
    Noise(PAYMENT, 40, True, "WARN  TwoFactor: challenge of {user} took {slow} ms"),
    Noise(PAYMENT, 30, False, "ERROR CardValidator: validation failed: card of {user} has expired"),
    Noise(AFTERSALES, 600, False, "INFO    notify.sms 物流短信已发送 order={order} to={user}"),
    Noise(AFTERSALES, 300, False, "INFO    returns 收到退货申请 order={order} sku={sku} 数量={n}"),
    Noise(AFTERSALES, 288, True, "INFO    heartbeat 队列正常 queue ok, workers=4"),
    Noise(AFTERSALES, 72, True, "WARNING notify.sms 短信通道响应慢 slow provider, {slow} ms"),
    Noise(
        AFTERSALES,
        9,
        False,
        "ERROR   notify.template 模板渲染失败 order={order}" + TEMPLATE_TRACE,
    ),
    Noise(
        AFTERSALES,
        22,
        False,
        "ERROR   returns 校验失败 validation failed: order={order} 已超过退货期限",
    ),
)

# Connections in use at each full hour; 9 and 10 o'clock belong to the incident.
ACTIVE = (5, 4, 3, 3, 3, 4, 5, 6, 8, 13, 40, 9, 8, 8, 7, 7, 8, 8, 8, 9, 9, 8, 6, 5)


class Fields(dict[str, str]):
    """The values of one line's template, drawn when they are asked for."""

    def __init__(self, dice: Dice) -> None:
        super().__init__()
        self._dice = dice

    def __missing__(self, name: str) -> str:
        """Draw a value once, so that a template may repeat it."""
        self[name] = FIELDS[name](self._dice)
        return self[name]


def background(dice: Dice) -> Iterator[Entry]:
    """All lines of the day that belong to no checkout and to no incident."""
    for noise in NOISE:
        for at in _times(dice, noise):
            yield Entry(noise.log, at, noise.template.format_map(Fields(dice)))
    for hour, active in enumerate(ACTIVE):
        stats = (
            f"(total=40, active={active}, idle={40 - active}, waiting={31 if active == 40 else 0})"
        )
        yield Entry(
            INVENTORY, hour * HOUR + 212, f"INFO  [pool-monitor] HikariPool-1 - stats {stats}"
        )


def _times(dice: Dice, noise: Noise) -> Iterator[int]:
    if not noise.even:
        yield from (dice.below(DAY_END) for _ in range(noise.per_day))
        return
    step = DAY_END // noise.per_day
    jitter = min(step, 5 * MINUTE)
    for number in range(noise.per_day):
        yield number * step + dice.below(jitter)
