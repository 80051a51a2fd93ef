"""Log file: a generated log of a web shop, the same for the same seed, about 100 bytes a line."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

_SERVICES = ("gateway", "order-service", "payment-service", "inventory", "search", "mailer")
_EVENTS = (
    (
        0.60,
        "INFO",
        "request {request:08x} GET /orders/{order} status=200 duration={ms}ms client={client}",
    ),
    (
        0.22,
        "INFO",
        "request {request:08x} POST /payments/{order} status=201 duration={ms}ms client={client}",
    ),
    (
        0.10,
        "DEBUG",
        "pool=main active={small} idle={other} waiting=0 borrowed for request {request:08x}",
    ),
    (
        0.05,
        "WARN",
        "Slow query on table orders took {ms}00 ms for request {request:08x} order={order}",
    ),
    (
        0.0299,
        "ERROR",
        "Failed password for user u{order} from {client} port {ms} request {request:08x}",
    ),
    (0.0001, "FATAL", "Connection pool exhausted, rejecting request {request:08x} from {client}"),
)
_BLOCK = 20_000


def write_log(path: Path, lines: int, seed: int = 20260302) -> None:
    """Write a log of that many lines."""
    stream = log_lines(seed)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for at in range(0, lines, _BLOCK):
            file.writelines(islice(stream, min(_BLOCK, lines - at)))


def log_lines(seed: int) -> Iterator[str]:
    """Lines without end, with their line ends; time runs on by some 40 ms a line."""
    rng = random.Random(seed)
    events = [(level, text) for _, level, text in _EVENTS]
    weights = [weight for weight, _, _ in _EVENTS]
    time = datetime(2026, 3, 2, 8)
    while True:
        for level, text in rng.choices(events, weights, k=_BLOCK):
            time += timedelta(milliseconds=rng.randrange(80))
            message = text.format(
                request=rng.getrandbits(32),
                order=rng.randrange(1_000_000),
                ms=rng.randrange(1, 3000),
                small=rng.randrange(64),
                other=rng.randrange(64),
                client=f"10.{rng.randrange(4)}.{rng.randrange(256)}.{rng.randrange(1, 255)}",
            )
            stamp = time.isoformat(" ", "milliseconds")
            yield f"{stamp} {level:5} [{rng.choice(_SERVICES)}] {message}\n"
