"""Fields: what a statement decides or measures, in a form in which code can compare two statements.

The name of a field is what the value is said of, with the unit in brackets: "audit logs are kept [days]". Its value is
normalized: "90 days", "2026-04-01", "approved". Two statements are at odds when they give one name different values.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from runtime.lexicon import STOPWORDS, is_cjk, stem

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_TO_TWELVE = "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_WORDS = {word: number for number, word in enumerate(_TO_TWELVE.split("|"))} | {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
    "hundred": 100,
}
_MONTH_NAMES = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_MONTHS = {name.lower(): number for number, name in enumerate(_MONTH_NAMES.split("|"), 1)}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MONTH = rf"(?P<mon>{_MONTH_NAMES})[a-z]*\.?"
_DATES = (
    re.compile(r"(?<![\d.])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d.]\d)"),
    re.compile(r"(?:(?P<y>\d{4})\s?年\s?)?(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH}(?:,?\s+(?P<y>\d{{4}}))?\b"),
    re.compile(rf"\b{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y>\d{{4}}))?"),
)
_WEEKDAY = re.compile(
    rf"\b(?:every |on )?(?P<en>{'|'.join(_WEEKDAYS)})s?\b|(?:每个?)?(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])",
    re.IGNORECASE,
)
_CLOCKS = re.compile(
    r"(?<![\d:])(?P<a>\d{1,2}[:：]\d{2})(?:\s*(?:-|–|—|to|until|至|到|~)\s*(?P<b>\d{1,2}[:：]\d{2}))?(?![\d:])"
)
_NUMBER = (
    r"(?P<n>\d[\d,]*(?:\.\d+)?|[零〇一二两三四五六七八九十百千万亿]+|(?i:\b(?:"
    + "|".join(_WORDS)
    + r")\b))"
)
_UNIT = (
    r"(?P<u>milliseconds?|msec|ms|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|weeks?|months?|quarters?|years?"
    r"|per ?cent|%|dollars?|euros?|yuan|usd|eur|rmb|cny|gib|mib|kib|gb|mb|kb|tb"
    r"|毫秒|秒钟?|分钟|小时|个?工作日|天|日|周|个?星期|个?月|个?季度|年|万元|亿元|元|美元|欧元|人|次|条|个|台|套|份|笔)"
)
_QUANTITY = re.compile(
    rf"(?<![A-Za-z0-9_.:-])(?:(?P<c>[$€¥£])\s?)?{_NUMBER}\s?(?:{_UNIT}(?![A-Za-z]))?", re.IGNORECASE
)
_CLASSES: tuple[tuple[str, str, float], ...] = (
    (r"ms|msec|milliseconds?|毫秒", "seconds", 0.001),
    (r"s|secs?|seconds?|秒钟?", "seconds", 1),
    (r"mins?|minutes?|分钟", "seconds", 60),
    (r"h|hrs?|hours?|小时", "seconds", 3600),
    (r"days?|天|日|个?工作日", "days", 1),
    (r"weeks?|周|个?星期", "days", 7),
    (r"months?|个?月", "months", 1),
    (r"quarters?|个?季度", "months", 3),
    (r"years?|年", "months", 12),
    (r"per ?cent|%", "percent", 1),
    (r"万元", "CNY", 10_000),
    (r"亿元", "CNY", 100_000_000),
    (r"元|yuan|rmb|cny|¥", "CNY", 1),
    (r"\$|dollars?|usd|美元", "USD", 1),
    (r"€|euros?|eur|欧元", "EUR", 1),
    (r"£", "GBP", 1),
)
_DURATIONS = frozenset(("seconds", "days", "months"))
_UNIT_CLASSES = tuple(
    (re.compile(form, re.IGNORECASE), name, factor) for form, name, factor in _CLASSES
)

_POLARITIES = (
    ("postponed", r"\b(?:postpon\w+|deferr?\w*|put off|on hold)\b|推迟|延期|暂缓|搁置"),
    (
        "rejected",
        r"\b(?:reject\w*|declin\w+|den(?:y|ied)|veto\w*|cancel\w*|revok\w+|abandon\w*|drop(?:ped)?|disallow\w*"
        r"|forbid\w*|prohibit\w*|no longer|will not|won't|must not"
        r"|not (?:be )?(?:approved?|allowed|adopt\w*|accept\w*|support\w*|required|use))\b"
        r"|否决|拒绝|驳回|取消|撤销|不予|不同意|不采用|不再|不得|禁止|未通过|不允许|不批准",
    ),
    (
        "approved",
        r"\b(?:approv\w+|accept\w*|adopt\w*|agreed|allow\w*|permit\w*|confirm\w*|go ahead|green light)\b"
        r"|批准|通过|同意|采用|采纳|允许|确认",
    ),
)
_POLARITY = tuple((name, re.compile(form, re.IGNORECASE)) for name, form in _POLARITIES)
_DECISION = re.compile(
    r"\b(?:decisions?|decided?|resol(?:ved|ution)|agreed|approv\w+|reject\w+|adopt\w*|shall|must|will be|is set to"
    r"|are kept|policy)\b|决议|决定|议定|通过|否决|批准|同意|定为|改为|规定|必须|应当|一律",
    re.IGNORECASE,
)
_REPLACES = re.compile(
    r"\b(?:replac(?:es|ed|ing)|supersed\w+|overrid\w+|revis(?:es|ed)|amend(?:s|ed)|instead of|in place of"
    r"|no longer in force|withdraw\w*)\b|取代|代替|替代|废止|撤销|修订|作废|不再执行",
    re.IGNORECASE,
)
_FORMAL = re.compile(
    r"\b(?:in force|effective|valid|as of|owner|due|deadline|next meeting|expires? on)\b"
    r"|生效|负责人|截止|期限|下次会议",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?:[-*+•]\s*)?(?:\*\*|__)?[^:：*]{0,40}?[:：]\s*(?:\*\*|__)?\s*")
_NAME = re.compile(
    r"\b(?:is|are|be|use|uses|using|choose|chose|select(?:ed)?|stay(?: with| on)?|migrate to|move to|switch to)\s+"
    r"(?P<name>(?:[A-Z][\w.+#-]*)(?:\s+[A-Z][\w.+#-]*){0,2})(?=[\s.,;。]|$)"
)
_ZH_NAME = re.compile(
    r"(?:采用|使用|选用|选择|改用|改为|定为|迁移到)\s*(?P<name>[A-Za-z][\w.+#-]*)"
)
_AND = re.compile(r"\s*(?:and|零|又)?\s*")
_CJK_WEAK = re.compile(r"[的了在和与及或从自起至到为于把被将由以]|决议|决定|定为|改为|改在|确定")


@dataclass(frozen=True)
class Field:
    """A normalized value and what it is said of."""

    name: str
    value: str


@dataclass(frozen=True)
class _Value:
    start: int
    end: int
    unit: str
    value: str


def is_decision(text: str) -> bool:
    """Whether a statement says that something was decided, prescribed or rejected."""
    return _DECISION.search(text) is not None


def replaces(text: str) -> bool:
    """Whether a statement says that it changes an earlier one."""
    return _REPLACES.search(text) is not None


def fields_of(text: str) -> list[Field]:
    """The comparable fields of one statement, in the order of the text; each name once."""
    label = _LABEL.match(text)
    body = text[label.end() :] if label else text
    if _FORMAL.search(body):
        return []
    values = _values(body)
    about = _about(body, values)
    if not about:
        return []
    found = {f"{about} [{value.unit}]": value.value for value in reversed(values)}
    if (polarity := _polarity(body)) and (
        matter := _without_polarity(_about(body, [v for v in values if v.unit != "name"]))
    ):
        found[f"{matter} [decision]"] = polarity
    return [Field(name, value) for name, value in reversed(found.items())]


def _values(text: str) -> list[_Value]:
    """Dates, weekdays, clocks, quantities and names, none within another."""
    found: list[_Value] = []
    taken = [False] * (len(text) + 1)
    for value in (
        *_dates(text),
        *_weekdays(text),
        *_clocks(text),
        *_quantities(text),
        *_names(text),
    ):
        if not any(taken[value.start : value.end]):
            taken[value.start : value.end] = [True] * (value.end - value.start)
            found.append(value)
    return _joined(text, sorted(found, key=lambda value: value.start))


def _joined(text: str, values: list[_Value]) -> list[_Value]:
    """Parts of one quantity added up: "3 hours and 15 minutes"."""
    kept: list[_Value] = []
    for value in values:
        before = kept[-1] if kept else None
        if (
            before
            and before.unit == value.unit in _DURATIONS
            and _AND.fullmatch(text, before.end, value.start)
        ):
            total = float(before.value.split()[0]) + float(value.value.split()[0])
            kept[-1] = _Value(before.start, value.end, value.unit, f"{_plain(total)} {value.unit}")
        else:
            kept.append(value)
    return kept


def _dates(text: str) -> Iterable[_Value]:
    for form in _DATES:
        for found in form.finditer(text):
            parts = found.groupdict()
            month = int(parts["m"]) if parts.get("m") else _MONTHS[parts["mon"][:3].lower()]
            day = int(parts["d"])
            year = f"{parts['y']}-" if parts["y"] else ""
            if month <= 12 and day <= 31:
                yield _Value(found.start(), found.end(), "date", f"{year}{month:02}-{day:02}")


def _weekdays(text: str) -> Iterable[_Value]:
    for found in _WEEKDAY.finditer(text):
        at = (
            _WEEKDAYS.index(found["en"].lower())
            if found["en"]
            else "一二三四五六日天".index(found["zh"]) % 7
        )
        yield _Value(found.start(), found.end(), "weekday", _WEEKDAYS[min(at, 6)])


def _clocks(text: str) -> Iterable[_Value]:
    for found in _CLOCKS.finditer(text):
        ends = [part.replace("：", ":").zfill(5) for part in found.groups() if part]
        yield _Value(found.start(), found.end(), "time of day", "-".join(ends))


def _quantities(text: str) -> Iterable[_Value]:
    for found in _QUANTITY.finditer(text):
        number = _number(found["n"])
        unit = found["c"] or found["u"]
        if number is None or (not unit and not found["n"][0].isdigit()):
            continue
        noun = "" if unit else _noun_after(text, found.end("n"))
        name, factor = _unit_class(unit) if unit else (noun, 1.0)
        if name:
            yield _Value(found.start(), found.end(), name, f"{_plain(number * factor)} {name}")


def _names(text: str) -> Iterable[_Value]:
    for form in (_NAME, _ZH_NAME):
        for found in form.finditer(text):
            yield _Value(found.start("name"), found.end("name"), "name", found["name"].rstrip("."))


def _number(written: str) -> float | None:
    if written[0].isdigit():
        return float(written.replace(",", ""))
    if written.lower() in _WORDS:
        return float(_WORDS[written.lower()])
    total = section = digit = 0
    for ch in written:
        if ch in _DIGITS:
            digit = _DIGITS[ch]
        elif (scale := _SCALES.get(ch)) is None:
            return None
        elif scale >= 10_000:
            total, section, digit = (total + section + digit) * scale, 0, 0
        else:
            section, digit = section + (digit or 1) * scale, 0
    return float(total + section + digit)


def _plain(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _unit_class(unit: str) -> tuple[str, float]:
    for form, name, factor in _UNIT_CLASSES:
        if form.fullmatch(unit):
            return name, factor
    return unit.lower(), 1.0


def _noun_after(text: str, end: int) -> str:
    """The noun that a bare number counts: "40 connections"."""
    found = re.match(r"\s+([A-Za-z]{3,})", text[end : end + 40])
    return stem(found[1].lower()) if found and found[1].lower() not in STOPWORDS else ""


def _about(text: str, values: list[_Value]) -> str:
    """The content words of the statement without its values, at least two; empty if there are fewer."""
    kept = text
    for value in reversed(values):
        kept = f"{kept[: value.start]} {kept[value.end :]}"
    latin = [w for w in re.findall(r"[A-Za-z][A-Za-z'-]+", kept) if w.lower() not in STOPWORDS]
    chinese = "".join(ch for ch in _CJK_WEAK.sub("", kept) if is_cjk(ch))
    if len(latin) < 2 and len(chinese) < 4:
        return ""
    return " ".join([w.lower() for w in latin][:8] + ([chinese[:24]] if chinese else []))


def _polarity(text: str) -> str:
    return next((name for name, form in _POLARITY if form.search(text)), "")


def _without_polarity(about: str) -> str:
    for _, form in _POLARITY:
        about = form.sub(" ", about)
    kept = [
        word
        for word in about.split()
        if word not in ("not", "longer", "decided", "decision", "was", "were")
    ]
    return " ".join(kept)
