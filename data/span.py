"""Span and partition: addressable stretches of a source, and groups of them that are judged together."""

import hashlib
from dataclasses import dataclass


def span_id(source: str, start: int, end: int, text: str) -> str:
    """Twelve hex digits over source id, start, end and the hash of the text."""
    text_hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    key = f"{source}\0{start}\0{end}\0{text_hash}"
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one source. Offsets are half-open code points of the decoded text; lines count from 1."""

    id: str
    source: str
    start: int
    end: int
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Partition:
    """An ordered group of spans of one source that must be judged together.

    `label` says what it is (a heading, a time window, a symbol). `time_start` and `time_end` are ISO 8601
    strings as far as the text has them, else empty.
    """

    id: str
    source: str
    label: str
    span_ids: tuple[str, ...]
    start: int
    end: int
    first_line: int
    last_line: int
    time_start: str
    time_end: str
