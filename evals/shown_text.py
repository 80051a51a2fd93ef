"""Text as a model was shown it, led back to where it stands in the corpus."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from data.corpus import Corpus
from data.span import Span, span_id
from runtime.errors import NotFound
from runtime.untrusted import restore

WORDS = 8
"""Words of a text that may be repeated about it."""
_LONGEST = 80
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


def words(text: str, most: int = WORDS) -> str:
    """The first words of a text, on one line; what is left out is marked. A Chinese character counts as a word."""
    line = " ".join(restore(text[:_LONGEST]).split())
    found = [each.end() for each in _WORD.finditer(line)]
    kept = line[: found[most - 1]] if len(found) > most else line
    return kept if kept == line and len(text) <= _LONGEST else f"{kept}…"


def shown_spans(spans: Iterable[Mapping[str, Any]], corpus: Corpus) -> list[Span]:
    """The spans of a corpus that were shown, each once; one that is not of this corpus is left out."""
    found = {}
    for each in spans:
        span = _known(str(each["span_id"]), corpus) or _searched(each, corpus)
        if span is not None:
            found.setdefault(span.id, span)
    return list(found.values())


def _known(id: str, corpus: Corpus) -> Span | None:
    """The span of the usual cut."""
    try:
        return corpus.partitions().span(id)
    except NotFound:
        return None


def _searched(shown: Mapping[str, Any], corpus: Corpus) -> Span | None:
    """The span of another cut: where its text stands from its first line on, proved by its id."""
    if "text" not in shown:
        return None
    source, first = restore(str(shown["source"])), int(shown["first_line"])
    try:
        line = corpus.lines(source, first, first)
    except NotFound:
        return None
    for text in dict.fromkeys((str(shown["text"]), restore(str(shown["text"])))):
        end = min(corpus.source(source).characters, line.end + len(text))
        region = corpus.slice(source, line.start, end)
        at = region.find(text)
        while text and at >= 0:
            start, stop = line.start + at, line.start + at + len(text)
            if span_id(source, start, stop, text) == shown["span_id"]:
                last = corpus.line_of(source, stop - 1)
                return Span(str(shown["span_id"]), source, start, stop, first, last)
            at = region.find(text, at + 1)
    return None


def flattened(value: Any) -> list[str]:
    """All texts in a value, as they were before they were made harmless; those of JSON in a text, too."""
    return list(_texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield restore(value)
        yield from _within(value)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _within(text: str) -> Iterator[str]:
    """The texts of a text that is JSON, as the outputs of tools are."""
    if text[:1] in ("{", "["):
        try:
            inner = json.loads(text)
        except ValueError:
            return
        yield from _texts(inner)
