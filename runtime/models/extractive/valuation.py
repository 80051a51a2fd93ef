"""Valuation: computed values as sentences, each number as code computed it."""

import re
from collections.abc import Callable

from runtime.models.extractive.material import Material
from runtime.models.extractive.wording import Wording
from runtime.questions.classifier import counted_words, named_strings
from runtime.questions.mentions import without_quotes
from runtime.questions.notation import Overview
from signatures import ComputedValue, Statement

COUNTS = frozenset(("count", "count_by_source", "count_by_time", "count_of_statements"))
_EXTREMES = frozenset(("earliest", "latest", "minimum", "maximum"))
_MAX_VALUES = 40
_COUNTED = re.compile(r"^(?P<count>[\d,]+) lines? match(?:es)? (?P<what>.+?)\.?$", re.DOTALL)
_TALLY = re.compile(r" \(\d+\)$")
_NO_CORPUS = Overview((), 0, False)


def is_value(value: ComputedValue) -> bool:
    """Whether a computed value says something by itself: an order or a contradiction is told by its claims."""
    return value.name not in ("timeline", "conflicts") and not value.name.startswith("conflict:")


def repeats(value: ComputedValue, said: set[str]) -> bool:
    """Whether the values are just the claims' own texts."""
    lines = [_TALLY.sub("", line) for line in value.value.splitlines()]
    return value.name == "distinct" and all(" ".join(line.split()) in said for line in lines)


def values_stated(material: Material, wanted: Callable[[ComputedValue], bool]) -> list[Statement]:
    known = material.by_id
    values = [value for value in material.computed if wanted(value) and value.value.strip()]
    return [
        Statement(
            text=text,
            status="direct",
            claim_ids=[each for each in value.claim_ids if each in known],
        )
        for value in values
        for text in [_text(material, value, alone=len(values) == 1)]
    ]


def _text(material: Material, value: ComputedValue, alone: bool) -> str:
    words = material.wording
    shown = value.value.strip()
    what = _what(material) if alone else ""
    if value.name == "count_of_statements":
        return shown
    if value.name == "count":
        return _count_text(shown, what, words)
    if value.name in _EXTREMES:
        return words.extreme.format(name=words.names[value.name], value=" ".join(shown.split()))
    entries = _entries(shown, words)
    if value.name == "distinct":
        return words.distinct.format(values=entries)
    template = {"count_by_source": words.by_source, "count_by_time": words.by_time}.get(value.name)
    if template and what:
        return template.format(what=what, values=entries)
    return words.value.format(name=value.name.replace("_", " ").capitalize(), values=entries)


def _count_text(shown: str, what: str, words: Wording) -> str:
    """A number in a sentence; a value that is a sentence already stays one, in the language of the question."""
    sentence = _COUNTED.match(shown)
    if sentence:
        shown, what = sentence["count"], sentence["what"]
    elif not shown.replace(",", "").isdigit():
        return shown
    if not what:
        return words.counted.format(value=shown)
    template = {"0": words.count_none, "1": words.count_one}.get(shown, words.count)
    return template.format(value=shown, what=what)


def _what(material: Material) -> str:
    """The patterns that were counted, as the question names them."""
    patterns = named_strings(material.asked, _NO_CORPUS)
    patterns = patterns or counted_words(without_quotes(material.asked), _NO_CORPUS)
    return material.wording.conjunction.join(patterns)


def _entries(value: str, words: Wording) -> str:
    lines = [line.strip() for line in value.splitlines() if line.strip()]
    shown = lines[:_MAX_VALUES]
    if len(lines) > len(shown):
        shown.append(words.cut.format(more=len(lines) - len(shown)))
    return words.separator.join(shown)
