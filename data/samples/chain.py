"""The planted story: one incident, its mitigation, its late effects, and a red herring.

    08:52  inventory-service 4.18.0 is released; it leaks database connections
    09:04  first warning about a connection that is held too long
    09:26  the pool is exhausted
    09:29  order-service runs into timeouts; 09:33 payment-gateway aborts captures
    09:40  an unrelated release finishes (the red herring)
    09:44  the alert
    10:03  the rollback; 10:07 the pool is healthy
    12:44  holds expire after 3 h 15 min: the compensation backlog grows, passes its limit at 13:29
    16:52  the queue is drained

The errors of single checkouts during the outage are in traffic.py.
"""

from collections.abc import Iterator
from itertools import pairwise

from data.samples.logbook import AFTERSALES, INVENTORY, ORDER, PAYMENT, Dice, Entry, clock

LEAK = (
    "WARN  [leak-detector] HikariPool-1 - connection held for {held} s"
    " by ReservationRepository.lockStock"
)
POOL = "(total=40, active={active}, idle={idle}, waiting={waiting})"

# time, seconds held, active, waiting
LEAKS = (
    ("09:04:12.381", 60, 17, 0),
    ("09:09:47.902", 75, 24, 0),
    ("09:14:20.116", 120, 30, 0),
    ("09:18:33.740", 180, 35, 1),
)
NEARLY = (("09:21:55.207", 39, 2), ("09:24:08.655", 40, 6))

EVENTS = (
    (
        INVENTORY,
        "09:26:30.118",
        "pool-exhausted",
        "ERROR [pool-monitor] HikariPool-1 - connection pool exhausted"
        " (total=40, active=40, idle=0, waiting=11)",
    ),
    (
        INVENTORY,
        "08:52:17.604",
        "release",
        "INFO  [main] Bootstrap - inventory-service 4.18.0 started, replaces 4.17.3",
    ),
    (
        PAYMENT,
        "09:34:58.416",
        "breaker-open",
        "WARN  CircuitBreaker: breaker to inventory-service OPEN after 6 failures in a row",
    ),
    (
        ORDER,
        "09:42:10.518",
        "red-herring",
        "WARN  [exec-6] RecommendationClient - recommendation-service 2.31.0 slow,"
        " 812 ms, widget skipped",
    ),
    (
        ORDER,
        "09:44:30.000",
        "alert",
        "ERROR [alert-hook] AlertWebhook - ALERT CheckoutErrorRateHigh firing: checkout error rate"
        " above 5% for 15 min, opened incident INC-2291",
    ),
    (
        ORDER,
        "09:47:12.845",
        "acknowledged",
        "INFO  [alert-hook] Oncall - INC-2291 acknowledged by Lin Yue,"
        " suspects recommendation-service 2.31.0",
    ),
    (
        ORDER,
        "09:59:38.271",
        "ruled-out",
        "INFO  [alert-hook] Oncall - INC-2291 recommendation-service 2.31.0 ruled out as cause:"
        " no call path to inventory-service",
    ),
    (
        ORDER,
        "10:03:11.409",
        "rollback",
        "INFO  [deploy-feed] DeployFeed - INC-2291 mitigation: rollback of inventory-service"
        " 4.18.0 to 4.17.3 started by Lin Yue",
    ),
    (
        INVENTORY,
        "10:06:48.092",
        "rolled-back",
        "INFO  [main] Bootstrap - inventory-service 4.17.3 started after rollback, replaces 4.18.0",
    ),
    (
        INVENTORY,
        "10:07:05.633",
        "rolled-back",
        "INFO  [main] HikariPool-1 - connection pool healthy again after rollback"
        " (total=40, active=8, idle=32, waiting=0)",
    ),
    (
        PAYMENT,
        "10:08:02.911",
        "recovered",
        "INFO  CircuitBreaker: breaker to inventory-service CLOSED, captures resumed",
    ),
    (
        ORDER,
        "10:22:30.000",
        "recovered",
        "INFO  [alert-hook] AlertWebhook - ALERT CheckoutErrorRateHigh resolved:"
        " checkout error rate 0.4%, INC-2291 mitigated",
    ),
    (
        INVENTORY,
        "11:17:45.360",
        "root-cause",
        "INFO  [ops-note] Oncall - INC-2291 root cause by Mateo Alvarez: 4.18.0 returns early from"
        " ReservationRepository.lockStock when stock is 0 and never closes the connection",
    ),
    (
        AFTERSALES,
        "14:10:26.775",
        "workers",
        "INFO    compensation INC-2291 补偿进程数加倍 compensation workers 4 -> 8, requested by Zhou Min",
    ),
)

RELEASES = (
    ("07:41:08.220", "coupon-service 1.9.4", ""),
    ("08:52:49.118", "inventory-service 4.18.0", "release"),
    ("09:40:55.734", "recommendation-service 2.31.0", "red-herring"),
    ("11:33:20.407", "search-service 5.2.1", ""),
    ("15:06:51.960", "customer-portal 3.0.7", ""),
    ("20:14:37.051", "coupon-service 1.9.5", ""),
)

# Parts in a thousand of all compensation tasks that have arrived, or are done, at a time of day.
ARRIVED = (("12:44", 0), ("13:21", 1000))
DONE = (
    ("12:46", 0),
    ("13:38", 158),
    ("14:10", 236),
    ("15:00", 502),
    ("16:00", 828),
    ("16:52", 1000),
)
GROWING = ("12:49:03.150", "12:57:03.162", "13:05:03.157", "13:13:03.149", "13:21:03.171")
SHRINKING = ("13:50:03.166", "14:30:03.153", "15:10:03.148", "15:50:03.160", "16:30:03.155")
OVER_LIMIT = "13:29:03.158"
DRAINED = "16:52:08.401"
TASKS = ("refund", "coupon", "points", "notice")


def events() -> Iterator[Entry]:
    """The single events of the incident, and the other releases of the day."""
    for time, held, active, waiting in LEAKS:
        pool = POOL.format(active=active, idle=40 - active, waiting=waiting)
        mark = "first-warning" if held == 60 else "early-warning"
        yield Entry(INVENTORY, clock(time), f"{LEAK.format(held=held)}, possible leak {pool}", mark)
    for time, active, waiting in NEARLY:
        pool = POOL.format(active=active, idle=40 - active, waiting=waiting)
        text = f"WARN  [pool-monitor] HikariPool-1 - connection pool nearly exhausted {pool}"
        yield Entry(INVENTORY, clock(time), text, "early-warning")
    for log, time, mark, text in EVENTS:
        yield Entry(log, clock(time), text, mark)
    for time, release, mark in RELEASES:
        text = f"INFO  [deploy-feed] DeployFeed - deploy of {release} finished"
        yield Entry(ORDER, clock(time), text, mark)


def aftermath(dice: Dice, orders: list[str]) -> Iterator[Entry]:
    """The compensation of the orders that had been charged: tasks, backlog, limit, end."""
    total = len(orders) * len(TASKS)
    for number in range(total):
        order, task = orders[number // len(TASKS)], TASKS[number % len(TASKS)]
        at = _time_of(DONE, (number + 1) * 1000 // (total + 1)) + dice.below(20_000)
        text = f"INFO    compensation 补偿任务完成 task={task} order={order}"
        yield Entry(AFTERSALES, at, text)
    for time in GROWING:
        text = (
            f"WARNING compensation 补偿队列积压 compensation backlog growing: {_depth(time, total)}"
        )
        yield Entry(AFTERSALES, clock(time), text, "backlog-growing")
    yield Entry(AFTERSALES, clock(OVER_LIMIT), _over_limit(total), "backlog-limit")
    for time in SHRINKING:
        text = f"WARNING compensation 补偿队列积压 compensation backlog shrinking: {_depth(time, total)}"
        yield Entry(AFTERSALES, clock(time), text, "backlog-shrinking")
    text = f"compensation queue drained: tasks={total}, orders={len(orders)}, depth=0"
    drained = f"INFO    compensation INC-2291 补偿队列已清空 {text}"
    yield Entry(AFTERSALES, clock(DRAINED), drained, "drained")


def peak(orders: int) -> int:
    """The largest depth of the queue that the log reports."""
    total = orders * len(TASKS)
    times = (*GROWING, OVER_LIMIT, *SHRINKING)
    return max(_waiting(clock(time), total) for time in times)


def _over_limit(total: int) -> str:
    return (
        "ERROR   compensation 补偿任务超时 compensation backlog over limit: "
        f"oldest task waits 45 min (limit 45 min), {_depth(OVER_LIMIT, total)}"
    )


def _depth(time: str, total: int) -> str:
    return f"depth={_waiting(clock(time), total)}"


def _waiting(at: int, total: int) -> int:
    return total * (_share_at(ARRIVED, at) - _share_at(DONE, at)) // 1000


def _share_at(curve: tuple[tuple[str, int], ...], at: int) -> int:
    """The share at a time, linear between the points of the curve."""
    if at <= clock(curve[0][0]):
        return curve[0][1]
    for (early, low), (late, high) in pairwise(curve):
        begin, end = clock(early), clock(late)
        if at < end:
            return low + (high - low) * (at - begin) // (end - begin)
    return curve[-1][1]


def _time_of(curve: tuple[tuple[str, int], ...], share: int) -> int:
    """The time at which the curve reaches a share."""
    for (early, low), (late, high) in pairwise(curve):
        if share <= high:
            begin, end = clock(early), clock(late)
            return begin + (end - begin) * (share - low) // (high - low)
    return clock(curve[-1][0])
