"""Times as they stand in text: the time stamp of a log line, and the dates that a sentence mentions.

A time is returned as it is written, never normalized: it must be found again in the file.
"""

import re

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"
_ZONE = r"(?:\s?(?:Z\b|UTC|GMT|[+-]\d{2}:?\d{2}\b))?"
_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
_FULL = (
    rf"{_DATE}(?:[T\s_]{_CLOCK}{_ZONE}|-\d{{2}}\.\d{{2}}\.\d{{2}}(?:\.\d+)?)",
    rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,?\s+)?{_MONTH}\s+\d{{1,2}}\s+{_CLOCK}(?:\s+\d{{4}})?",
    rf"\d{{1,2}}/{_MONTH}/\d{{4}}:{_CLOCK}{_ZONE}",
    r"(?<!\d)\d{6}\s\d{6}(?=\s)",
)
_STAMP = re.compile(rf".{{0,80}}?(?<![\w.-])({'|'.join(_FULL)})", re.DOTALL)
_START = r"[-\s\[(<{\"']{0,3}(?:\w{1,16}\"?\s*[:=]\s*\"?)?"
_LEADING = re.compile(
    rf"{_START}({_DATE}(?=[\s\],|])|{_CLOCK}{_ZONE}(?=[\s\],|])|1\d{{9}}(?:\.\d+|\d{{3}})?(?=[\s\],|]))"
)
_BEFORE_STAMP = re.compile(r"[^\s]{0,40}(?:\s+\S{1,40}){0,3}\s*[\[(<\"']*$")
_MENTION = re.compile(
    rf"(?<![\d.])(?:{_DATE}(?:[T\s]{_CLOCK}{_ZONE})?|\d{{4}}\s?年(?:\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号])?)?"
    rf"|\d{{1,2}}\s?月\s?\d{{1,2}}\s?[日号]|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?(?:\s+{_CLOCK})?"
    rf"|\d{{1,2}}\s+{_MONTH}(?:\s+\d{{4}})?|\d{{1,2}}/{_MONTH}/\d{{4}}(?::{_CLOCK})?|{_CLOCK}{_ZONE})(?![\d.]\d)"
)


def leading_time(line: str) -> str:
    """The time stamp of a log line, as written; empty if the line does not begin with one.

    A few fields may stand before it (a host, an address, a second stamp as in Blue Gene logs), prose may not.
    """
    head = line[:160]
    full = _STAMP.match(head)
    if full and _BEFORE_STAMP.fullmatch(head, 0, full.start(1)):
        return full[1].strip()
    bare = _LEADING.match(head)
    return bare[1].strip() if bare else ""


def times_in(text: str) -> list[str]:
    """Every date and time that a text mentions, as written, in order."""
    return [found[0].strip() for found in _MENTION.finditer(text)]
