"""The chronicle: which events of a long timeline make up the course of what happened.

Most lines of a log are its ordinary noise. Background is what recurs evenly from the start of the period to its end;
an event is what is severe, rare or asked for, above all the first of a burst.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from runtime.models.extractive.relevance import shared_words

MAX_EVENTS = 25
MIN_EVENTS = 5
_PER_SOURCE = 2
_PER_TEMPLATE = 2
_QUIET = 0.15
_EVEN_COUNT = 4
_MARGIN = 0.2
_MOSTLY = 0.7

_VARIABLE = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|0x[0-9a-fA-F]+|(?<![A-Za-z])[0-9a-fA-F]*\d[0-9a-fA-F]*(?![A-Za-z])"
    r"|[A-Za-z]*\d[\w-]*|\"[^\"]*\"|'[^']*'"
)
_FATAL = re.compile(
    r"\b(?:FATAL|PANIC|CRITICAL|CRIT|EMERG\w*|SEVERE)\b|\b(?:crash\w*|outage|unavailable|out of memory)\b"
    r"|崩溃|宕机|不可用"
)
_ERROR = re.compile(
    r"\b(?:ERROR|ERR|ALERT)\b|\w*(?:Exception|Error)\b|\b(?i:exhaust\w*|alert\w*|alarm\w*|page[dr]\b"
    r"|circuit (?:breaker )?open\w*|declar\w+ incident|corrupt\w*|deadlock\w*)|耗尽|告警|报警|错误|异常|死锁"
)
_WARNING = re.compile(
    r"\b(?:WARN|WARNING)\b|\b(?i:time[sd]? ?out|timeout\w*|fail\w*|refus\w+|reject\w*|retr(?:y|ies|ied|ying)"
    r"|backlog\w*|lagg?\w*|degrad\w+|slow\w*|delay\w*|roll(?:ed|ing)? ?back\w*|compensat\w+|unable|denied|dropp?ed|lost"
    r"|restart\w*)|失败|超时|拒绝|重试|积压|延迟|降级|回滚|补偿|堆积|重启"
)
_RECOVERY = re.compile(
    r"\b(?i:recover\w*|restor\w+|resum(?:ed|es|ing)|resolv\w+|mitigat\w+|back to normal|drained"
    r"|healthy again|root cause)|恢复|解决|消除|缓解|根因"
)
_CHANGE = re.compile(
    r"\b(?i:deploy\w*|releas\w+|upgrad\w+|migrat\w+|replaces|switch(?:ed|ing)? (?:over|to))|发布|上线|升级|切换"
)
_ISO = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T\s_-](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?)?"
)
_COMPACT = re.compile(r"\b(\d{2})(\d{2})(\d{2})\s(\d{2})(\d{2})(\d{2})\b")
_LEADING = re.compile(
    rf"[\[(]?(?:{_ISO.pattern}|{_COMPACT.pattern}|\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d{{1,6}})?)(?:Z|[+-]\d\d:?\d\d)?(?=\W|$)"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SYSLOG = re.compile(
    rf"\b({'|'.join(_MONTHS)})[a-z]*\.?\s+(\d{{1,2}})\s+(\d{{1,2}}):(\d{{2}})(?::(\d{{2}})(?:[.,](\d{{1,6}}))?)?"
    r"(?:\s+(\d{4})\b)?"
)
_CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?")
_SEVERITIES = (
    (_FATAL, 3.0),
    (_ERROR, 2.0),
    (_WARNING, 1.0),
    (_RECOVERY, 1.0),
    (_CHANGE, 0.5),
)


@dataclass(frozen=True)
class Happening:
    """One claim on the timeline: its time as written, what is said, and how often it was seen until when."""

    claim_id: str
    time: str
    text: str
    source: str
    occurrences: int = 1
    until: str = ""


@dataclass(frozen=True)
class _Event:
    index: int
    happening: Happening
    position: float
    end: float
    template: str
    severity: float
    relevance: float


def choose(happenings: Sequence[Happening], question: str) -> list[Happening]:
    """The events to tell, in the given order: at most `MAX_EVENTS`, as few as `MIN_EVENTS` where little stands out."""
    if len(happenings) <= MIN_EVENTS:
        return list(happenings)
    events = _events(happenings, question)
    by_template: dict[str, list[_Event]] = {}
    for event in events:
        by_template.setdefault(event.template, []).append(event)
    background = {name for name, same in by_template.items() if _is_background(same)}
    candidates = [
        event
        for name, same in by_template.items()
        if name not in background
        for event in _starts_of_bursts(same)
    ]
    scored = sorted(
        candidates, key=lambda e: (-_score(e, _occurrences(by_template[e.template])), e.index)
    )
    chosen = _pick(scored)
    if len(chosen) < MIN_EVENTS:
        # The first of each background template is still better than nothing, the rest of it is not.
        rest = sorted((by_template[name][0] for name in background), key=lambda e: -e.severity)
        chosen += rest[: MIN_EVENTS - len(chosen)]
    return [event.happening for event in sorted(chosen, key=lambda e: e.index)]


def in_order(happenings: Sequence[Happening]) -> list[Happening]:
    """Happenings by time; one without a known time stays behind the one that it followed."""
    keyed: list[tuple[float, int]] = []
    last = float("-inf")
    for index, happening in enumerate(happenings):
        time = seconds(happening.time)
        last = last if time is None else time
        keyed.append((last, index))
    return [happenings[index] for _, index in sorted(keyed)]


def _events(happenings: Sequence[Happening], question: str) -> list[_Event]:
    positions = _positions(happenings)
    texts = [body_of(each) for each in happenings]
    found = shared_words(question, texts)
    holding = Counter(word for words in found for word in words)
    weight = {word: 1 - n / len(found) for word, n in holding.items()}
    return [
        _Event(
            index=index,
            happening=happening,
            position=positions[index][0],
            end=positions[index][1],
            template=f"{happening.source}\0{_VARIABLE.sub('#', text)[:160]}",
            severity=_severity(text),
            relevance=sum(weight[word] for word in found[index]),
        )
        for index, (happening, text) in enumerate(zip(happenings, texts, strict=True))
    ]


def _severity(text: str) -> float:
    return next((value for pattern, value in _SEVERITIES if pattern.search(text)), 0.0)


def _positions(happenings: Sequence[Happening]) -> list[tuple[float, float]]:
    """Start and end of each event within the period, from 0 to 1.

    By its times, or by its rank where times are missing.
    """
    starts = [seconds(each.time) for each in happenings]
    known = [start for start in starts if start is not None]
    ends = [seconds(each.until) for each in happenings]
    last = max([*known, *(end for end in ends if end is not None)], default=0.0)
    count = len(happenings)
    if len(known) < count or last <= min(known):
        places = [index / max(1, count - 1) for index in range(count)]
        return list(zip(places, places, strict=True))
    first, length = min(known), last - min(known)
    return [
        ((start - first) / length, (max(start, end or start) - first) / length)
        for start, end in zip(known, ends, strict=True)
    ]


def _is_background(same: Sequence[_Event]) -> bool:
    """Whether a template recurs evenly over the whole period.

    Not when it starts late or ends early, nor when most of it falls into one part: a burst may have a forerunner.
    """
    if _occurrences(same) < _EVEN_COUNT:
        return False
    first, last = same[0].position, max(event.end for event in same)
    if first > _MARGIN or last < 1 - _MARGIN:
        return False
    if len(same) < _EVEN_COUNT:
        return True
    thirds = Counter(min(2, int(event.position * 3)) for event in same)
    return len(thirds) == 3 and max(thirds.values()) <= _MOSTLY * len(same)


def _starts_of_bursts(same: Sequence[_Event]) -> list[_Event]:
    """The first event of the template, and the first after a long quiet."""
    starts = [same[0]]
    for before, after in pairwise(same):
        if after.position - before.end > _QUIET:
            starts.append(after)
    return starts[:_PER_TEMPLATE]


def _occurrences(same: Sequence[_Event]) -> int:
    return sum(event.happening.occurrences for event in same)


def _score(event: _Event, occurrences: int) -> float:
    burst = 0.5 if occurrences > 1 and event.severity else 0.0
    return 2 * event.severity + 1.5 * event.relevance + burst + 1 / (1 + occurrences**0.5)


def _pick(scored: Sequence[_Event]) -> list[_Event]:
    """The best events, with the best of every source among them.

    What is neither severe nor asked for only fills up.
    """
    notable = [event for event in scored if event.severity or event.relevance >= 0.5]
    first: list[_Event] = []
    per_source: dict[str, int] = {}
    for event in notable:
        source = event.happening.source
        per_source[source] = per_source.get(source, 0) + 1
        if per_source[source] <= _PER_SOURCE:
            first.append(event)
    chosen = first[:MAX_EVENTS]
    taken = {event.index for event in chosen}
    chosen += [event for event in notable if event.index not in taken][: MAX_EVENTS - len(chosen)]
    if len(chosen) < MIN_EVENTS:
        taken = {event.index for event in chosen}
        rest = [event for event in scored if event.index not in taken]
        chosen += rest[: MIN_EVENTS - len(chosen)]
    return chosen


def body_of(happening: Happening) -> str:
    """What is said, without the time and the name of the source that it begins with."""
    text = happening.text.strip()
    stamp = happening.time.strip()
    if stamp and text.startswith(stamp):
        at = len(stamp)
    else:
        found = _LEADING.match(text)
        at = found.end() if found else 0
    return text[at:].lstrip(" \t:|-]),") or text


def seconds(time: str) -> float | None:
    """A time as seconds on some common scale; None if it has no known form. Times of one file compare."""
    if found := _ISO.search(time):
        year, month, day, hour, minute, second, fraction = found.groups()
        return _stamp(int(year), int(month), int(day), hour, minute, second, fraction)
    if found := _COMPACT.search(time):
        year, month, day, hour, minute, second = found.groups()
        return _stamp(2000 + int(year), int(month), int(day), hour, minute, second, None)
    if found := _SYSLOG.search(time):
        month, day, hour, minute, second, fraction, year = found.groups()
        at = _MONTHS.index(month) + 1
        return _stamp(int(year or 2000), at, int(day), hour, minute, second, fraction)
    if found := _CLOCK.search(time):
        hour, minute, second, fraction = found.groups()
        return _stamp(2000, 1, 1, hour, minute, second, fraction)
    return None


def _stamp(
    year: int,
    month: int,
    day: int,
    hour: str | None,
    minute: str | None,
    second: str | None,
    part: str | None,
) -> float | None:
    try:
        at = datetime(year, month, day, int(hour or 0), int(minute or 0), int(second or 0))
    except ValueError:
        return None
    # Counted from a fixed day, since local time zones have no part in the order of one file.
    return (at - datetime(1970, 1, 1)).total_seconds() + float(f"0.{part or 0}")


def shown_times(times: Iterable[str]) -> Mapping[str, str]:
    """How to show each time: the clock alone where all fall on one day, else as written."""
    written = {time for time in times if time}
    found = {time: _ISO.search(time) for time in written}
    days = {stamp.groups()[:3] if stamp and stamp[4] else None for stamp in found.values()}
    if len(days) != 1 or None in days:
        return {time: time for time in written}
    return {time: time[stamp.start(4) : stamp.end()] for time, stamp in found.items() if stamp}
