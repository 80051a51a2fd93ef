"""Orders: what a text tells its reader to do, in the forms that attacks on language models take.

An order stands in one line. Invisible characters are read through, and so is the escaping of a text that was printed.
English and Chinese are understood.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

OrderKind = Literal[
    "ignore", "stop", "say", "cite", "file", "environment", "pretend", "call", "submit"
]

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff]")
_BREAK = re.compile(r"\r\n|\r|\n|\\r\\n|\\n")
_QUOTED = r"""["'“「]([^"'”」]{1,400})["'”」]"""
_PATH = r"(\S+?)(?=[.,;:。，；：]*(?:\s|$))"
_FORMS: tuple[tuple[OrderKind, str], ...] = (
    (
        "ignore",
        r"\b(?:ignore|disregard|forget)\b[^.\n]{0,30}\b(?:rules?|instructions?|prompt)\b()|忽略[^。\n]{0,12}(?:规则|指令|要求)()",
    ),
    (
        "stop",
        r"\bend of (?:the )?(?:evidence|spans|document|file|corpus)\b()|\bstop (?:reading )?here\b()"
        r"|(?:证据|文件|正文)到此(?:为止|结束)()",
    ),
    (
        "say",
        rf"\b(?:say|answer|reply|state|report)(?: only| with)?:? {_QUOTED}"
        rf"|\b(?:add|include|append) {_QUOTED}[^\n]{{0,60}}\b(?:reply|response|answer)\b"
        rf"|(?:回答|回复|写上|声称)[:：]?\s?{_QUOTED}",
    ),
    ("cite", r"\bcite (?:the )?span ([0-9a-f]{6,40})\b|引用片段\s?([0-9a-f]{6,40})"),
    ("file", rf"\b(?:read|open|print) (?:the )?file {_PATH}|读取文件\s?{_PATH}"),
    (
        "environment",
        r"\b(?:read|print|reveal|show) (?:the |all )?environment(?: variables?)?\b()|(?:读取|打印|输出)环境变量()",
    ),
    (
        "pretend",
        r"\b(?:print|show) a fake tool result[:：]\s?(\S.*)|打印伪造的工具结果[:：]\s?(\S.*)",
    ),
    ("submit", r"\bcall submit\b(?: now)?()|(?:立即|马上)?调用 ?submit()"),
    ("call", r"\bcall (?:the tool )?(\w+\([^\n]{0,300}?\))|调用(?:工具)?\s?(\w+\([^\n]{0,300}?\))"),
)
_ORDERS: tuple[tuple[OrderKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(form, re.IGNORECASE)) for kind, form in _FORMS
)


@dataclass(frozen=True)
class Order:
    """What is ordered: its kind, what it is about (words, an id, a path, a call), and the line that it stands in."""

    kind: OrderKind
    about: str
    line: str


def orders_in(text: str) -> list[Order]:
    """The orders that a text gives, in its order; each but once."""
    found = (
        Order(kind, next((each for each in match.groups() if each), "").strip(), line)
        for line in _BREAK.split(text)
        for kind, form in _ORDERS
        for match in [form.search(_INVISIBLE.sub("", line))]
        if match
    )
    return list({(each.kind, each.about): each for each in reversed(list(found))}.values())[::-1]


def texts_in(value: Any) -> Iterator[str]:
    """All texts within a value; a text that is JSON itself is taken apart."""
    if isinstance(value, str):
        inner = _read(value)
        if inner is None:
            yield value
        else:
            yield from texts_in(inner)
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, Iterable):
        for each in value:
            yield from texts_in(each)


def _read(text: str) -> dict[str, Any] | list[Any] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None
