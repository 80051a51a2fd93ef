"""Evidence as it is shown to a reader: delimited data whose field markers are neutralized.

The adapters insert text verbatim, so a document that contains `[[ ## answer ## ]]` could pose as a field of the
prompt, or `</spans>` end one where fields are XML. A word joiner inside the marker takes its force away and can be
taken out again, so that a quote still verifies.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from dspy import Signature
from pydantic import BaseModel

import signatures
from data.corpus import Corpus
from data.span import Span
from signatures import EvidenceSpan

T = TypeVar("T")
MARKER = "[[ ##"
NEUTRAL = "[[\u2060 ##"
MARGIN = 160
"""Code points of neighboring text shown on each side of a reading's ends."""
_DRIVEN = ("history", "tools", "next_thought", "tool_calls", "reasoning", "code")
_DRIVEN += ("repl_history", "variables_info", "iteration", "retry_feedback", "tool_call_results")
"""Fields that DSPy's own modules, and a retry, add to those of the suite's signatures."""


def _field_names() -> list[str]:
    exported = (getattr(signatures, name) for name in signatures.__all__)
    asked = [each for each in exported if isinstance(each, type) and issubclass(each, Signature)]
    return sorted({*_DRIVEN, *(name for each in asked for name in each.fields)})


_NAMES = "|".join(_field_names())
_TAG = re.compile(rf"<(?=/?(?:{_NAMES})>)")
_NEUTRAL_TAG = re.compile(rf"<\u2060(?=/?(?:{_NAMES})>)")


def neutralize(text: str) -> str:
    """The text with field markers made harmless."""
    return _TAG.sub("<\u2060", text.replace(MARKER, NEUTRAL))


def restore(text: str) -> str:
    """The text as it was before `neutralize`."""
    return _NEUTRAL_TAG.sub("<", text.replace(NEUTRAL, MARKER))


def neutralized(value: Any) -> Any:
    """A value of a prompt with the markers in all its texts made harmless."""
    return _mapped(neutralize, value)


def restored(value: T) -> T:
    """A value of a reply with the texts as they were before `neutralized`."""
    return _mapped(restore, value)


def _mapped(change: Callable[[str], str], value: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_mapped(change, each) for each in value)
    if isinstance(value, dict):
        return {_mapped(change, name): _mapped(change, each) for name, each in value.items()}
    if isinstance(value, BaseModel):
        # Not by iteration, which some models (the history of a REPL) define over something else.
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return value.model_copy(
            update={name: _mapped(change, each) for name, each in fields.items()}
        )
    return value


def shown(corpus: Corpus, spans: tuple[Span, ...]) -> list[EvidenceSpan]:
    """The spans as a reader sees them. A margin is shown only where the neighbor is not itself shown."""
    edges = {(span.source, span.end) for span in spans}
    starts = {(span.source, span.start) for span in spans}
    views = []
    for span in spans:
        source = corpus.source(span.source)
        before = after = ""
        if span.start > 0 and (span.source, span.start) not in edges:
            before = corpus.slice(span.source, max(0, span.start - MARGIN), span.start)
        if span.end < source.characters and (span.source, span.end) not in starts:
            end = min(source.characters, span.end + MARGIN)
            after = corpus.slice(span.source, span.end, end)
        views.append(
            EvidenceSpan(
                span_id=span.id,
                source=neutralize(span.source),
                first_line=span.first_line,
                margin_before=neutralize(before),
                text=neutralize(corpus.slice(span.source, span.start, span.end)),
                margin_after=neutralize(after),
            )
        )
    return views
