"""Events: the notable lines of a log, one for each template, and the dated statements of prose.

Severe lines are events whatever the question; other lines are when they are about the question and
tell of a change of state. Lines that differ only in numbers and ids are one event that occurred several times.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runtime.models.extractive.score import Focus
from runtime.models.extractive.select import matching
from runtime.models.extractive.shown import Shown
from runtime.models.extractive.times import leading_time, times_in

MAX_EVENTS = 60
_ABOUT = 0.3
_ABOUT_A_CHANGE = 0.1

_NAMES = {
    "WARNING": "WARN",
    "CRIT": "CRITICAL",
    "ERR": "ERROR",
    "EMERG": "FATAL",
    "PANIC": "FATAL",
    "SEVERE": "ERROR",
}
_LEVEL = re.compile(
    r"(?<![\w-])(?:(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|FATAL|CRIT|CRITICAL|ALERT|EMERG|PANIC|SEVERE)(?![\w-])"
    r"|\[(?i:(trace|debug|info|notice|warn|warning|err|error|fatal|crit|critical|alert|emerg|severe))\]"
    r"|(?i:level\"?\s*[=:]\s*\"?(trace|debug|info|notice|warn|warning|err|error|fatal|crit|critical|alert)\b))"
)
_SEVERE = frozenset(("WARN", "ERROR", "FATAL", "CRITICAL", "ALERT"))
_TROUBLE = re.compile(
    r"\b(?:\w*exception|fail(?:s|ed|ing|ure|ures)?|timed? ?out|timeouts?|refused|rejected|denied|exhausted"
    r"|crash(?:e[sd])?|panic|corrupt(?:ed)?|unavailable|unreachable|out of memory|deadlocks?|backlog"
    r"|alerts?|aborted|lost|degraded|break-in)\b|错误|告警|报警|异常|失败|超时|耗尽|崩溃|宕机|拒绝|积压|不可用|死锁|中断",
    re.IGNORECASE,
)
_NO_TROUBLE = re.compile(
    r"\b(?:0|no|zero|without) (?:error|fail|timeout|alert|exception)\w*"
    r"|\b(?:error|fail|timeout|alert)\w*\s*[=:]\s*0\b|无异常|没有错误",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:(?:re)?start(?:s|ed|ing)?|stop(?:s|ped|ping)?|open(?:s|ed)?|clos(?:es|ed)|recover\w*|restor\w+|resolv\w+"
    r"|resum\w+|mitigat\w+|roll(?:ed|ing)? ?back|rollback|deploy\w*|releas\w+|upgrad\w+|switch\w*|failover|drain\w*"
    r"|healthy|elect\w*|leader|promot\w+|declar\w+|acknowledg\w+|terminat\w+|kill\w*|shut\w*|join\w*|left|leaving|creat\w+|delet\w+"
    r"|finish\w*|complet\w+|accepted|enabled|disabled|root cause|ruled out|replac\w+)\b"
    r"|启动|停止|重启|恢复|上线|下线|切换|回滚|部署|发布|升级|解决|关闭|开启|清空|完成|确认|生效|取消|批准|决定|根因",
    re.IGNORECASE,
)
_VARIABLE = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|0x[0-9a-fA-F]+|\"[^\"]*\"|'[^']*'"
    r"|(?<![\w.:/-])[\w.:/-]*\d[\w.:/-]*"
)
_COMPONENT = re.compile(
    r"(?:\s*\[[^\]]*\])*\s*(?:[-|:]\s+)?(?P<name>[A-Za-z_][\w.$/-]*)(?:\[\d+\])?(?=\s*[:\s]|$)"
)
_PROCESS = re.compile(r"\s(?P<name>[A-Za-z][\w./-]*)(?:\(\w+\))?\[\d+\]:")


@dataclass(frozen=True)
class Event:
    """One kind of happening in a leaf: where it is told first and last, how often, when, and how severe it is."""

    first: Shown
    last: Shown
    occurrences: int
    time: str
    last_time: str
    template: str
    severity: str
    component: str


def events(
    patterns: Sequence[str], focus: Focus, units: Sequence[Shown]
) -> tuple[list[Event], int]:
    """The events of a leaf in the order of the text, and how many more there would have been."""
    wanted = [pattern for pattern in patterns if pattern.strip()]
    hits = matching(wanted, units) if wanted else None
    groups: dict[str, list[tuple[Shown, str]]] = {}
    for index, (unit, time) in enumerate(zip(units, _times(units), strict=True)):
        if not unit.quotable or (hits is not None and index not in hits):
            continue
        if hits is not None or is_notable(unit, time, focus):
            groups.setdefault(template_of(unit.text), []).append((unit, time))
    found = [_event(template, group) for template, group in groups.items()]
    weightiest = sorted(range(len(found)), key=lambda i: (-_weight(found[i], focus), i))[
        :MAX_EVENTS
    ]
    return [found[i] for i in sorted(weightiest)], max(0, len(found) - MAX_EVENTS)


def is_notable(unit: Shown, time: str, focus: Focus) -> bool:
    """Whether a unit tells of something that a timeline for the question may need."""
    if unit.form in ("heading", "title"):
        return False
    covered = focus.coverage(unit.stems)
    if unit.form == "record":
        if severity_of(unit.text) in _SEVERE or _is_trouble(unit.text):
            return bool(time)
        return covered >= _ABOUT or (covered >= _ABOUT_A_CHANGE and bool(_CHANGE.search(unit.text)))
    dated = bool(times_in(unit.text))
    return (covered >= _ABOUT and bool(time)) or (dated and covered >= _ABOUT_A_CHANGE)


def severity_of(line: str) -> str:
    """The level that a log line states, in upper case and one spelling; empty if it states none."""
    found = _LEVEL.search(line[:200])
    if not found:
        return ""
    level = next(group for group in found.groups() if group).upper()
    return _NAMES.get(level, level)


def component_of(line: str) -> str:
    """The logger, process or thread that a log line names; empty where none is visible."""
    if process := _PROCESS.search(line[:120]):
        return process["name"]
    level = _LEVEL.search(line[:200])
    named = _COMPONENT.match(line, level.end()) if level else None
    return named["name"] if named else ""


def template_of(line: str) -> str:
    """The line without its time stamp, and with numbers, ids and quoted values masked."""
    stamp = leading_time(line)
    body = line.split(stamp, 1)[1] if stamp else line
    return " ".join(_VARIABLE.sub("<*>", body).split())[:200]


def _is_trouble(text: str) -> bool:
    return bool(_TROUBLE.search(text)) and not _NO_TROUBLE.search(text)


def _times(units: Sequence[Shown]) -> list[str]:
    """The time of each unit: its own stamp, that of the log line it continues, or a date that it mentions."""
    times: list[str] = []
    running = ""
    for index, unit in enumerate(units):
        if index and units[index - 1].run != unit.run:
            running = ""
        stamp = leading_time(unit.text)
        if stamp and unit.form == "record":
            running = stamp
        mentioned = next(iter(times_in(unit.text)), "")
        if not stamp and not running and mentioned and unit.form in ("heading", "title"):
            running = mentioned
        times.append(stamp or (mentioned if unit.form != "record" else "") or running)
    return times


def _event(template: str, group: Sequence[tuple[Shown, str]]) -> Event:
    (first, time), (last, last_time) = group[0], group[-1]
    severity, component = severity_of(first.text), component_of(first.text)
    return Event(first, last, len(group), time, last_time, template, severity, component)


def _weight(event: Event, focus: Focus) -> float:
    ranks = {"FATAL": 3.0, "CRITICAL": 3.0, "ALERT": 3.0, "ERROR": 2.0, "WARN": 1.0}
    return ranks.get(
        event.severity, 0.5 if _is_trouble(event.first.text) else 0.0
    ) + 3 * focus.coverage(event.first.stems)
