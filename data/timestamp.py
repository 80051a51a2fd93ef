"""Timestamps of log lines: the formats that are known, and a reader for the one that a text uses.

A timestamp stands near the start of its line. Times are read as they are written: a zone behind them is
not applied, because questions name the times that the text shows. A format without a year (syslog) gets the
year `NO_YEAR`, which keeps the order within a year; `render` leaves it out again.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

NO_YEAR = 4
"""A leap year that no timestamp can carry, so that 29 February stays valid and nothing collides."""

SAMPLE_LINES = 200
MIN_SHARE = 0.3

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "(?P<mo>(?i:" + "|".join(_MONTHS) + "))"
_CLOCK = r"(?P<h>[01]\d|2[0-3]):(?P<m>[0-5]\d):(?P<s>[0-6]\d)(?:[.,](?P<f>\d{1,9}))?"
_WEEKDAY = r"(?i:mon|tue|wed|thu|fri|sat|sun)"


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """One way to write a time: a pattern matched at the line start, and how its match becomes a time."""

    name: str
    pattern: re.Pattern[str]
    convert: Callable[[re.Match[str]], datetime]

    def read(self, line: str) -> datetime | None:
        """The time of the line, or None when it has none or an impossible one (31 February)."""
        match = self.pattern.match(line)
        if match is None:
            return None
        try:
            return self.convert(match)
        except ValueError:
            return None


def _named(match: re.Match[str]) -> datetime:
    """From the groups y (may be empty), mo, d, h, m, s, f; a leap second counts as second 59."""
    year, month, day, hour, minute, second, fraction = match.group(
        "y", "mo", "d", "h", "m", "s", "f"
    )
    return datetime(
        _year(year),
        int(month) if month.isdigit() else _MONTHS.index(month.lower()) + 1,
        int(day),
        int(hour),
        int(minute),
        min(int(second), 59),
        int(fraction[:6].ljust(6, "0")) if fraction else 0,
    )


def _year(digits: str | None) -> int:
    if not digits:
        return NO_YEAR
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _iso(match: re.Match[str]) -> datetime:
    text = match["iso"]
    if len(text) >= 19 and text[17] == "6":
        text = f"{text[:17]}59{text[19:]}"
    return datetime.fromisoformat(text[:26])


def _epoch(match: re.Match[str]) -> datetime:
    digits = match["n"]
    fraction = match["f"] or digits[10:] or "0"
    whole = datetime.fromtimestamp(int(digits[:10]), UTC).replace(tzinfo=None)
    return whole.replace(microsecond=int(fraction[:6].ljust(6, "0")))


_FORMATS = (
    TimeFormat(
        "bgl",
        re.compile(
            r".{0,80}?(?<!\d)(?P<y>[12]\d{3})-(?P<mo>\d\d)-(?P<d>\d\d)"
            r"-(?P<h>\d\d)\.(?P<m>\d\d)\.(?P<s>\d\d)(?:\.(?P<f>\d{1,9}))?"
        ),
        _named,
    ),
    TimeFormat(
        "iso",
        re.compile(
            r".{0,64}?(?<![\d.-])(?P<iso>[12]\d{3}-\d\d-\d\d[T ]\d\d:\d\d(?!\d)(?::\d\d(?:[.,]\d{1,9})?)?)"
        ),
        _iso,
    ),
    TimeFormat(
        "slashed",
        re.compile(
            r".{0,40}?(?<![\d/])(?P<y>[12]\d{3}|\d\d)/(?P<mo>\d\d)/(?P<d>\d\d)[T ]" + _CLOCK
        ),
        _named,
    ),
    TimeFormat(
        "apache-error",
        re.compile(
            rf".{{0,64}}?\[?{_WEEKDAY},? {_MONTH} {{1,2}}(?P<d>\d{{1,2}}) {_CLOCK} (?P<y>[12]\d{{3}})\b"
        ),
        _named,
    ),
    TimeFormat(
        "apache-access",
        re.compile(rf".{{0,120}}?\[(?P<d>\d\d)/{_MONTH}/(?P<y>[12]\d{{3}}):{_CLOCK}"),
        _named,
    ),
    TimeFormat(
        "syslog",
        re.compile(
            rf"[<\[(\s]{{0,3}}(?:\d{{1,3}}>)?{_MONTH} {{1,2}}(?P<d>\d{{1,2}}),?"
            rf"(?: (?P<y>[12]\d{{3}}),?)? {_CLOCK}(?!\d)"
        ),
        _named,
    ),
    TimeFormat(
        "compact",
        re.compile(
            r"\[?(?P<y>\d\d)(?P<mo>[01]\d)(?P<d>[0-3]\d)[ -]"
            r"(?P<h>[012]\d)(?P<m>[0-5]\d)(?P<s>[0-6]\d)(?:[.,](?P<f>\d{1,9}))?(?!\w)"
        ),
        _named,
    ),
    TimeFormat(
        "month-day",
        re.compile(rf"[\[(]?(?P<y>)(?P<mo>[01]\d)-(?P<d>[0-3]\d) {_CLOCK}"),
        _named,
    ),
    TimeFormat(
        "epoch",
        re.compile(
            r'(?:[^\w"]{0,3}|[^\s\d]{1,16} |\{\s?"\w{1,16}":\s?"?)'
            r"(?P<n>1\d{9}(?:\d{3})?)(?:\.(?P<f>\d{1,9}))?(?![\w.])"
        ),
        _epoch,
    ),
)


@dataclass(frozen=True, slots=True)
class TimestampReader:
    """Reads the timestamps of one text, all in one format."""

    format: TimeFormat

    @classmethod
    def detect(cls, lines: Sequence[str]) -> "TimestampReader | None":
        """The reader for the format that most of a sample of the lines have; None below 30 percent.

        Formats are tried in order of how specific they are, and the first wins a tie: a BGL line has an epoch
        and a full timestamp.
        """
        sample = _sample(lines)
        best, most = None, 0
        for form in _FORMATS:
            count = sum(form.read(line) is not None for line in sample)
            if count > most:
                best, most = form, count
        return cls(best) if best is not None and most >= MIN_SHARE * len(sample) else None

    def read(self, line: str) -> datetime | None:
        """The time of the line, without a zone; None for a line that continues the one before."""
        return self.format.read(line)


def _sample(lines: Sequence[str]) -> list[str]:
    """Up to SAMPLE_LINES lines that are not blank, spread evenly."""
    step = max(1, -(-len(lines) // SAMPLE_LINES))
    picked = (lines[i][:400] for i in range(0, len(lines), step))
    return [line for line in picked if line.strip()]


def render(time: datetime) -> str:
    """ISO 8601 to the second, or to the microsecond where there are some; without the year if unknown."""
    text = time.isoformat()
    return text[5:] if time.year == NO_YEAR else text


def parse_time(text: str) -> datetime | None:
    """The time that a text begins with, in any of the known formats; None when it has none."""
    reader = TimestampReader.detect([text])
    return reader.read(text) if reader else None
