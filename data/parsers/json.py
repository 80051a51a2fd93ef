"""Parsers of JSON and of JSON lines. What is not valid is still text that can be searched."""

import io
import json
from typing import ClassVar

from data.decode import Decoded
from data.parsers.document import PlainParser

_MAX_CHECKED = 32 << 20
"""Bytes above which one JSON value is not checked: as Python objects it would take many times that."""


class JsonParser(PlainParser):
    """One JSON value."""

    name = "json"
    media_types: ClassVar = {
        ".json": "application/json",
        ".geojson": "application/geo+json",
        ".ipynb": "application/x-ipynb+json",
    }

    def check(self, decoded: Decoded) -> str:
        """Whether it is one valid value."""
        if decoded.utf8 and len(decoded.utf8) <= _MAX_CHECKED:
            return _complaint(decoded.text)
        return ""


class JsonLinesParser(PlainParser):
    """A JSON value on each line that is not blank."""

    name = "jsonl"
    timed = True
    media_types: ClassVar = dict.fromkeys((".jsonl", ".ndjson"), "application/jsonl")

    def check(self, decoded: Decoded) -> str:
        """How many lines are not valid, and the first of them."""
        lines = list_of_complaints(decoded)
        if not lines:
            return ""
        number, complaint = lines[0]
        if len(lines) == 1:
            return f"line {number} is {complaint}"
        return f"{len(lines)} lines are not valid JSON; line {number} is {complaint}"


def list_of_complaints(decoded: Decoded) -> list[tuple[int, str]]:
    """Number and complaint of each line that is not valid."""
    lines = enumerate(io.BytesIO(decoded.utf8 or b""), 1)
    found = ((number, _complaint(line)) for number, line in lines if line.strip())
    return [(number, complaint) for number, complaint in found if complaint]


def _complaint(text: str | bytes) -> str:
    """What is wrong with a JSON text. Numbers stay strings: their size is no matter of syntax."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        return f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    except RecursionError:
        return "nested too deeply to be checked"
    return ""
