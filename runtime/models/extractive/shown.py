"""What a reader has before it: the units of all spans shown, in the order of the text.

Units of spans that follow each other in a source form one run; where the next span is not shown, the units of the
margins continue the run as context that cannot be quoted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from runtime.lexicon import raw_tokens, stems_of
from runtime.models.extractive.units import Form, units_of
from signatures import EvidenceSpan

_MARGIN_UNITS = 2
_JSON = frozenset((".json", ".jsonl", ".ndjson", ".geojson", ".ipynb"))


@dataclass(frozen=True)
class Shown:
    """One unit as it is shown. Only `quotable` units are evidence.

    `run` numbers the contiguous stretches, `opens` says that a paragraph opens with the unit, and `heading` is the
    index of the heading or title above it in the same run.
    """

    span: EvidenceSpan
    start: int
    end: int
    text: str
    form: Form
    stems: tuple[str, ...]
    run: int
    opens: bool
    quotable: bool
    heading: int | None = None


def shown_units(spans: Sequence[EvidenceSpan]) -> list[Shown]:
    """The units of the spans and of the margins that no span shown covers, in text order."""
    ordered = sorted(spans, key=lambda span: (span.source, span.first_line))
    known: dict[str, tuple[str, ...]] = {}
    joined = [False, *(_follows(a, b) for a, b in pairwise(ordered)), False]
    units: list[Shown] = []
    for index, span in enumerate(ordered):
        run = units[-1].run + (not joined[index]) if units else 0
        if not joined[index]:
            units += list(_units(span, span.margin_before, run, known, False))[-_MARGIN_UNITS:]
        units += _units(span, span.text, run, known, True)
        if not joined[index + 1]:
            units += list(_units(span, span.margin_after, run, known, False))[:_MARGIN_UNITS]
    return list(_under_headings(units))


def _under_headings(units: Sequence[Shown]) -> Iterator[Shown]:
    heading: int | None = None
    for index, unit in enumerate(units):
        if index and units[index - 1].run != unit.run:
            heading = None
        yield replace(unit, heading=heading) if heading is not None else unit
        if unit.form in ("heading", "title"):
            heading = index


def _units(
    span: EvidenceSpan, text: str, run: int, known: dict[str, tuple[str, ...]], quotable: bool
) -> Iterator[Shown]:
    json = PurePosixPath(span.source).suffix.lower() in _JSON
    for unit in units_of(text, json=json):
        quote = text[unit.start : unit.end]
        words = tuple(stem for token in raw_tokens(quote) for stem in _stems(token, known))
        yield Shown(span, unit.start, unit.end, quote, unit.form, words, run, unit.opens, quotable)


def _stems(token: str, known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The stems of a token, worked out once for each reading: a leaf repeats its words."""
    if token not in known:
        known[token] = stems_of(token)
    return known[token]


def _follows(first: EvidenceSpan, second: EvidenceSpan) -> bool:
    """Whether the second span begins where the first ends, as far as the prompt lets one see."""
    if first.source != second.source or first.margin_after or second.margin_before:
        # A margin is shown only where the neighbor is not.
        return False
    breaks = first.text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    return first.first_line + breaks == second.first_line
