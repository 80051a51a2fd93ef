"""Building blocks of gold questions: spans whose quotes are located, facts, alternatives.

A fact is a list of alternatives, an alternative a list of spans that are all needed.
"""

from collections.abc import Iterable, Mapping, Sequence

from data.samples.logbook import Placed

GoldSpan = dict[str, str | int]
Alternative = list[GoldSpan]
Fact = list[Alternative]
Record = dict[str, object]
Texts = Mapping[str, str]


def question(
    identifier: str,
    text: str,
    kind: str,
    answer: int | str | list[str] | None,
    facts: Sequence[Fact],
) -> Record:
    """One line of questions.jsonl. The corpus is the first word of the identifier."""
    return {
        "id": identifier,
        "corpus": identifier.partition("-")[0],
        "question": text,
        "kind": kind,
        "answer": answer,
        "answerable": answer is not None,
        "facts": list(facts),
    }


def span(source: str, start: int, quote: str) -> GoldSpan:
    """A span of `quote` that begins at the code point `start`."""
    return {"source": source, "start": start, "end": start + len(quote), "quote": quote}


def locate(texts: Texts, source: str, quote: str) -> GoldSpan:
    """The span of a quote that occurs exactly once in its source, else ValueError."""
    text = texts[source]
    if text.count(quote) != 1:
        raise ValueError(f"{source}: {text.count(quote)} occurrences of {quote!r}, not 1")
    return span(source, text.index(quote), quote)


def any_of(spans: Iterable[GoldSpan]) -> Fact:
    """A fact that any one of the spans supports."""
    alternatives = [[each] for each in spans]
    if not alternatives:
        raise ValueError("a fact without alternatives")
    return alternatives


def all_of(spans: Iterable[GoldSpan]) -> Fact:
    """A fact that only all of the spans together support."""
    return [list(spans)]


def marked(placed: Iterable[Placed], *marks: str) -> list[GoldSpan]:
    """The spans of the planted lines that bear one of the marks."""
    return [span(each.source, each.start, each.quote) for each in placed if each.mark in marks]


def lines_with(texts: Texts, *literals: str) -> list[GoldSpan]:
    """The spans of all lines, without their ends, that contain every literal."""
    found: list[GoldSpan] = []
    for source, text in texts.items():
        offset = 0
        for line in text.split("\n"):
            if all(literal in line for literal in literals):
                found.append(span(source, offset, line.rstrip("\r")))
            offset += len(line) + 1
    return found
