"""The form of a reply that makes claims: what is refused anyway afterwards cannot be said in the first place.

Claims are c1, c2, ... and as many as `claim_count` says; the evidence goes through them in their order; and a quote is
a stretch of the span that it names, from word to word within a line (two lines are two quotes). Which claims, which
spans and which words is the model's choice, and so is to make no claim at all.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runtime.models.local.terms import inner, matching, quoted
from runtime.models.request import PromptRequest

MOST_CLAIMS = 12
QUOTES = 3
"""The most of one claim: two sides of a conflict, and one more."""
LONGEST_QUOTE = 240
MOST_FIELDS = 12
MOST_UNKNOWNS = 2
CAPS: Mapping[str, int] = {"text": 240, "time": 40, "name": 40, "value": 80, "unknowns": 160}
"""Characters of each text of a claim."""
_ASKED = ("claims", "evidence", "fields_found", "unknowns", "claim_count")
_CHUNK = re.compile(r"[^\W\u2e80-\U0010ffff]+|[^\S\n]+|.", re.DOTALL)
"""A word, a stretch of space, or one character of anything else."""
_LINE_END = "\x00"
"""Stands between the lines of a span; no quote may hold it."""
_COMMA = quoted(", ")


@dataclass(frozen=True)
class Shown:
    """A span as the prompt shows it."""

    span_id: str
    text: str


def shown_spans(prompt: PromptRequest) -> tuple[Shown, ...] | None:
    """The spans in the prompt that have text which can be quoted; None where it shows spans in no form known here."""
    spans = prompt.value("spans")
    if not isinstance(spans, list):
        return None
    found = (each for each in spans if isinstance(each, dict))
    texts = (Shown(str(each.get("span_id", "")), str(each.get("text", ""))) for each in found)
    return tuple(each for each in texts if each.span_id and each.text.strip())


def makes_claims(outputs: tuple[str, ...]) -> bool:
    """Whether these are the outputs of a reader, perhaps with a reasoning before them."""
    return (outputs[1:] if outputs[:1] == ("reasoning",) else outputs) == _ASKED


def claims_rules(spans: tuple[Shown, ...], reasoning: str | None) -> str:
    """The rules of the grammar, from `start` on. `reasoning` is the term for the text before the claims, if any."""
    return "\n".join(_rules(spans, reasoning)) + "\n"


def _rules(spans: tuple[Shown, ...], reasoning: str | None) -> Iterator[str]:
    most = MOST_CLAIMS if spans else 0
    before = [quoted('{"reasoning": '), "reasoning", _COMMA] if reasoning else [quoted("{")]
    yield " ".join(["start:", *before, "claims"])
    if reasoning:
        yield f"reasoning: {reasoning}"
    yield "claims: " + " | ".join(f"claims{count}" for count in range(most + 1))
    for count in range(most + 1):
        yield f"claims{count}: {_of(count)}"
    for number in range(1, most + 1):
        yield f"fields{number}: {_field(number)}"
        yield f"claim{number}: {_claim(number)}"
        cited = quoted(f'{{"claim_id": "c{number}", "span_id": "')
        yield f"cited{number}: {cited} ref"
        yield f"evidence{number}: cited{number} ({_COMMA} cited{number}){{0,{QUOTES - 1}}}"
    if most:
        yield "ref: " + " | ".join(f"ref{index}" for index in range(len(spans)))
        for index, span in enumerate(spans):
            yield from _quotable(index, span)
    yield f"unknowns: {_strings('unknowns', MOST_UNKNOWNS)}"
    for name in ("text", "time", "name", "value"):
        yield f"{name}: {_string(name)}"
    yield 'status: "\\"direct\\"" | "\\"inferred\\"" | "\\"conflicting\\"" | "\\"insufficient\\""'


def _of(count: int) -> str:
    """A reply with this many claims, after its opening brace."""
    numbers = range(1, count + 1)
    comma = f" {_COMMA} "
    fields = f"(fields{count} ({_COMMA} fields{count}){{0,{MOST_FIELDS - 1}}})?" if count else ""
    parts = [
        quoted('"claims": ['),
        comma.join(f"claim{number}" for number in numbers),
        quoted('], "evidence": ['),
        comma.join(f"evidence{number}" for number in numbers),
        quoted('], "fields_found": ['),
        fields,
        quoted('], "unknowns": '),
        "unknowns",
        quoted(f', "claim_count": {count}}}'),
    ]
    return " ".join(filter(None, parts))


def _field(count: int) -> str:
    """A detail of one of this many claims."""
    ids = "|".join(quoted(f'"c{number}"') for number in range(1, count + 1))
    parts = [
        quoted('{"claim_id": '),
        f"({ids})",
        quoted(', "name": '),
        "name",
        quoted(', "value": '),
        "value",
        quoted("}"),
    ]
    return " ".join(parts)


def _claim(number: int) -> str:
    parts = [
        quoted(f'{{"claim_id": "c{number}", "text": '),
        "text",
        quoted(', "status": '),
        "status",
        quoted(', "time": '),
        "time",
        quoted("}"),
    ]
    return " ".join(parts)


def _quotable(index: int, span: Shown) -> Iterator[str]:
    chunks = [_LINE_END if chunk in "\r\n" else inner(chunk) for chunk in _CHUNK.findall(span.text)]
    opening = quoted(f'{inner(span.span_id)}", "quote": "')
    closing = quoted('"}')
    yield f"ref{index}: {opening} QUOTE{index} {closing}"
    yield f"QUOTE{index}: SPAN{index} & /[^\\x00]{{1,{LONGEST_QUOTE}}}/"
    yield f'SPAN{index}: %regex {{ "substring_chunks": {quoted(chunks)} }}'


def _string(name: str) -> str:
    return matching({"type": "string", "maxLength": CAPS[name]})


def _strings(name: str, most: int) -> str:
    items = {"type": "string", "maxLength": CAPS[name]}
    return matching({"type": "array", "items": items, "maxItems": most})
