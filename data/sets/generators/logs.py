"""Logs: a day of a web shop as records, and the text of its log files made of them, column by column.

Every block of lines holds each of the common events, so that no partition can be left out of a count.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow.compute import call_function

from data.lines import Ints
from data.sets.drafts import Document
from data.sets.generators.chance import Chance
from data.sets.generators.records import Field, Records

SERVICES = ("gateway", "orders", "payment", "stock", "mailer")
DAY = np.datetime64("2026-03-02T06:00:00.000", "ms")
_SPAN_MS = 14 * 3600 * 1000
"""From the first line to the last: 14 hours, whatever the size."""

_AVERAGE = 84.2
"""Characters of a line."""

_BLOCK = 7
"""Lines: in each block of a source stands the event that is spread, so that every partition has it."""

_USERS = 60
_RARE = 4
"""Lines of each rare event."""


@dataclass(frozen=True, slots=True)
class Event:
    """A kind of line: what it says ({u} a user, {n} and {m} numbers), its level, and how often it comes."""

    name: str
    level: str
    message: str
    weight: float


EVENTS = (
    Event("request served", "INFO", "request {n} served in {m} ms for {u}", 42),
    Event("cache refreshed", "DEBUG", "cache refreshed, {m} entries kept of {n}", 16),
    Event("session opened", "INFO", "session opened by {u}, token {n}", 14),
    Event("slow query", "WARN", "slow query on table orders took {m} ms, request {n}", 8),
    Event("login failed", "ERROR", "login failed for {u}, attempt {m}, request {n}", 5),
    Event("payment declined", "ERROR", "payment declined for {u}, order {n}", 4),
    Event("upstream timeout", "ERROR", "upstream timeout after {m} ms, request {n}", 4),
    Event("stock below minimum", "WARN", "stock below minimum for article {m}, order {n}", 4),
    Event("coupon rejected", "WARN", "coupon rejected for {u}, order {n}", 3),
)
"""What is written all day long."""

SPREAD = ("login failed", "payment declined", "upstream timeout", "slow query")
"""One of these, drawn for each log, stands in every block."""

RARE = (
    Event("certificate renewed", "INFO", "certificate renewed, serial {n}", 0),
    Event("disk nearly full", "FATAL", "disk nearly full, {m} MB left on volume {n}", 0),
    Event("failover started", "FATAL", "failover started by {u}, ticket {n}", 0),
    Event("feature flag changed", "INFO", "feature flag changed by {u}, revision {n}", 0),
)
"""What is written a few times a day, and a part of which stays out of a log."""

USERS = tuple(f"u{number:04}" for number in range(1017, 1017 + 7 * _USERS, 7))
_ALL = (*EVENTS, *RARE)
_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")


@dataclass(frozen=True, slots=True)
class Log:
    """Log files, one a service, the records that they were made of, and the event that every partition has."""

    documents: tuple[Document, ...]
    records: Records
    spread: str


def log(chance: Chance, characters: int, services: int = 3) -> Log:
    """A log of about so many characters in all."""
    spread = chance.pick(SPREAD)
    names = tuple(f"{each}.log" for each in SERVICES[:services])
    lines = max(_BLOCK * 3, int(characters / services / _AVERAGE))
    parts = [_part(chance, name, lines, spread) for name in names]
    text = pa.concat_arrays([each.text for each in parts])
    records = Records(
        names,
        np.repeat(np.arange(services), lines),
        np.concatenate([_starts(each.text) for each in parts]),
        text,
        np.concatenate([each.time for each in parts]),
        {
            "event": Field(tuple(e.name for e in _ALL), np.concatenate([p.event for p in parts])),
            "level": Field(_LEVELS, np.concatenate([each.level for each in parts])),
            "user": Field(USERS, np.concatenate([each.user for each in parts])),
        },
    )
    documents = (Document(n, _joined(p.text)) for n, p in zip(names, parts, strict=True))
    return Log(tuple(documents), records, spread)


@dataclass(frozen=True, slots=True)
class _Part:
    """The lines of one source."""

    text: pa.LargeStringArray
    time: np.ndarray
    event: Ints
    level: Ints
    user: Ints


def _part(chance: Chance, name: str, lines: int, spread: str) -> _Part:
    event = _events(chance, name, lines, spread)
    level = np.array([_LEVELS.index(each.level) for each in _ALL])[event]
    user = chance.many(f"{name}/user", lines).below(_USERS)
    gaps = chance.many(f"{name}/time", lines).below(1000) + 1
    elapsed = np.cumsum(gaps) * _SPAN_MS // int(gaps.sum())
    time = DAY + elapsed.astype("timedelta64[ms]")
    text = _lines(chance, name, time, event, level, user)
    with_user = np.array(["{u}" in each.message for each in _ALL])[event]
    return _Part(text, time, event, level, np.where(with_user, user, -1))


def _events(chance: Chance, name: str, lines: int, spread: str) -> Ints:
    """The event of every line: by weight, the one that is spread in each block, and the rare ones here and there."""
    event = chance.many(f"{name}/event", lines).weighted([each.weight for each in EVENTS])
    blocks = -(-lines // _BLOCK)
    place = chance.many(f"{name}/place", blocks).below(_BLOCK)
    rows = np.minimum(np.arange(blocks) * _BLOCK + place, lines - 1)
    event[rows] = [each.name for each in EVENTS].index(spread)
    free = np.setdiff1d(np.arange(lines), rows)
    for number, each in enumerate(RARE):
        if chance.percent(60):
            picks = chance.many(f"{name}/{each.name}", _RARE).below(len(free))
            event[free[picks]] = len(EVENTS) + number
    return event


def _lines(
    chance: Chance, name: str, time: np.ndarray, event: Ints, level: Ints, user: Ints
) -> pa.LargeStringArray:
    number = chance.many(f"{name}/number", len(event)).below(9_000_000) + 1_000_000
    small = chance.many(f"{name}/small", len(event)).below(2900) + 100
    columns = {
        "{u}": _strings(USERS).take(pa.array(user)),
        "{n}": pa.array(number).cast(pa.large_string()),
        "{m}": pa.array(small).cast(pa.large_string()),
    }
    order, messages = [], []
    for code, each in enumerate(_ALL):
        rows = np.flatnonzero(event == code)
        order.append(rows)
        messages.append(_messages(each.message, columns, rows))
    place = np.argsort(np.concatenate(order), kind="stable")
    message = pa.concat_arrays(messages).take(pa.array(place))
    stamp = pa.array(time, pa.timestamp("ms")).cast(pa.large_string())
    levels = _strings([f" {each:5} [{name.removesuffix('.log')}] " for each in _LEVELS])
    return _join(stamp, levels.take(pa.array(level)), message)


def _messages(
    template: str, columns: dict[str, pa.LargeStringArray], rows: Ints
) -> pa.LargeStringArray:
    """The messages of one event."""
    at = pa.array(rows)
    pieces: list[pa.LargeStringArray | pa.Scalar] = []
    rest = template
    while rest:
        mark = rest.find("{")
        literal = rest if mark < 0 else rest[:mark]
        if literal:
            pieces.append(pa.scalar(literal, pa.large_string()))
        rest = rest[len(literal) :]
        if rest:
            pieces.append(columns[rest[:3]].take(at))
            rest = rest[3:]
    return _join(*pieces)


def _join(*pieces: pa.LargeStringArray | pa.Scalar) -> pa.LargeStringArray:
    return call_function("binary_join_element_wise", [*pieces, pa.scalar("", pa.large_string())])


def _strings(values: list[str] | tuple[str, ...]) -> pa.LargeStringArray:
    return pa.array(values, pa.large_string())


def _starts(text: pa.LargeStringArray) -> Ints:
    """The first code point of every line, in a text in which each ends with a line feed."""
    lengths = call_function("utf8_length", [text]).to_numpy() + 1
    return np.cumsum(lengths) - lengths


def _joined(text: pa.LargeStringArray) -> str:
    """The text of a source: every line with a line feed."""
    ended = _join(text, pa.scalar("\n", pa.large_string()))
    _, offsets, data = ended.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)
    return str(memoryview(data)[bounds[0] : bounds[len(ended)]], "utf-8")
