"""Times as they stand in text: the time that a log line begins with, and the times a sentence mentions.

A time is returned as it is written, never normalized: it must be found again in the file.
"""

import re

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_ISO = rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[T\s_-]{_CLOCK}{_ZONE}|-\d{{2}}\.\d{{2}}\.\d{{2}}(?:\.\d+)?)?"
_STAMPS = (
    _ISO,
    rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,?\s+)?{_MONTH}\s+\d{{1,2}}\s+{_CLOCK}{_ZONE}(?:\s+\d{{4}})?",
    rf"\d{{1,2}}/{_MONTH}/\d{{4}}:{_CLOCK}{_ZONE}",
    r"\d{6}\s\d{6}(?=\s)",
    rf"{_CLOCK}{_ZONE}(?=[\s\]|,])",
    r"1\d{9}(?:\.\d+|\d{3})?(?=[\s\],|])",
)
_LEADING = re.compile(rf"[-\s\[(<{{\"']{{0,3}}(?:(?:ts|time|timestamp|@timestamp)\"?\s*[:=]\s*\"?)?({'|'.join(_STAMPS)})")
_ANY = re.compile(
    rf"(?<![\d.])(?:{_ISO}|\d{{4}}年(?:\d{{1,2}}月(?:\d{{1,2}}[日号])?)?|\d{{1,2}}月\d{{1,2}}[日号]|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?(?:\s+{_CLOCK})?|"
    rf"\d{{1,2}}\s+{_MONTH}\s+\d{{4}}|\d{{1,2}}/{_MONTH}/\d{{4}}(?::{_CLOCK})?|{_CLOCK}{_ZONE})(?![\d.])"
)


def leading_time(line: str) -> str:
    """The time stamp that a line begins with, as written; empty if it begins with none."""
    found = _LEADING.match(line)
    return found.group(1).strip() if found else ""


def times_in(text: str) -> list[str]:
    """Every date and time that a text mentions, as written, in order."""
    return [found.group(0).strip() for found in _ANY.finditer(text)]
