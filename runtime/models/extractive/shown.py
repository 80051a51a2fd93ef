"""What a reader has before it: the units of all spans shown, in the order of the text.

Units of spans that follow each other in a source form one run; where the next span is not shown, the units of the
margins continue the run as context that cannot be quoted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from runtime.lexicon import stems
from runtime.models.extractive.units import Form, units_of
from signatures import EvidenceSpan

_MARGIN_UNITS = 2


@dataclass(frozen=True)
class Shown:
    """One unit as it is shown. `run` numbers the contiguous stretches; only `quotable` units are evidence."""

    span: EvidenceSpan
    start: int
    end: int
    text: str
    form: Form
    stems: tuple[str, ...]
    run: int
    opens: bool
    quotable: bool


def shown_units(spans: Sequence[EvidenceSpan]) -> list[Shown]:
    """The units of the spans and of the margins that no span shown covers, in text order."""
    ordered = sorted(spans, key=lambda span: (span.source, span.first_line))
    joined = [False, *(_follows(a, b) for a, b in pairwise(ordered)), False]
    units: list[Shown] = []
    for index, span in enumerate(ordered):
        run = units[-1].run + (not joined[index]) if units else 0
        if not joined[index]:
            units += list(_units(span, span.margin_before, run, quotable=False))[-_MARGIN_UNITS:]
        units += _units(span, span.text, run, quotable=True)
        if not joined[index + 1]:
            units += list(_units(span, span.margin_after, run, quotable=False))[:_MARGIN_UNITS]
    return units


def adjacent(first: Shown, second: Shown) -> bool:
    """Whether two units of one list, one after the other, stand next to each other in the text."""
    return first.run == second.run


def _units(span: EvidenceSpan, text: str, run: int, *, quotable: bool) -> Iterator[Shown]:
    for unit in units_of(text):
        quote = text[unit.start : unit.end]
        words = tuple(stems(quote))
        yield Shown(span, unit.start, unit.end, quote, unit.form, words, run, unit.opens, quotable)


def _follows(first: EvidenceSpan, second: EvidenceSpan) -> bool:
    """Whether the second span begins where the first ends, as far as the prompt lets one see."""
    if first.source != second.source or first.margin_after or second.margin_before:
        # A margin is shown only where the neighbor is not.
        return False
    breaks = first.text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    return first.first_line + breaks == second.first_line
