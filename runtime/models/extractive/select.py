"""Selection: which of the scored units become evidence, and when none does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runtime.lexicon import stems
from runtime.models.extractive.fields import is_decision
from runtime.models.extractive.match import all_match
from runtime.models.extractive.score import Focus, unit_scores
from runtime.models.extractive.shown import Shown

_GAP = 0.5
_DECIDED = 0.5
_BESIDE = 0.5
_LONGEST_ITEM = 500
_MARKER = re.compile(
    r"(?:[-*+•–]|\(?\d{1,3}[.)]|[(（][\d一二三四五六七八九十]{1,3}[)）]|[一二三四五六七八九十]{1,3}、)\s*(?=\S)"
)


@dataclass(frozen=True)
class Appetite:
    """How much a kind of question wants.

    `share` of the best score suffices, for at most `most` units; one of them must cover `least` of the question;
    `strict`: where the question asks for strings, only units with them count.
    """

    share: float
    most: int
    least: float
    strict: bool


_APPETITES = {
    "lookup": Appetite(share=0.48, most=12, least=0.18, strict=True),
    "existence": Appetite(share=0.6, most=6, least=0.5, strict=True),
    "cause": Appetite(share=0.48, most=14, least=0.18, strict=False),
    "list": Appetite(share=0.36, most=120, least=0.3, strict=True),
    "summary": Appetite(share=0.36, most=40, least=0.3, strict=False),
}
_DEFAULT = _APPETITES["lookup"]


def supporting(
    kind: str, patterns: Sequence[str], focus: Focus, units: Sequence[Shown]
) -> list[int]:
    """The indices of the units that support an answer, in order; none if nothing does."""
    appetite = _APPETITES.get(kind, _DEFAULT)
    wanted = [pattern for pattern in patterns if pattern.strip()]
    scores = unit_scores(focus, units)
    if kind == "summary":
        # What was decided belongs into an overview, in whatever words.
        bonus = _DECIDED * max(scores, default=0.0)
        scores = [
            score + bonus if score and is_decision(unit.text) else score
            for score, unit in zip(scores, units, strict=True)
        ]
    hits = matching(wanted, units)
    if hits and kind == "list" and all(pattern.startswith('"') for pattern in wanted):
        # What mentions a phrase is listed: what stands beside it does not.
        chosen = _best_matching(appetite, focus, units, scores, hits) & hits
    elif hits:
        chosen = _best_matching(appetite, focus, units, scores, hits)
    elif wanted and appetite.strict:
        chosen = set()
    else:
        chosen = _best(appetite, focus, units, scores)
    return sorted(_entries(chosen, hits, focus, units) if kind == "list" else chosen)


def matching(patterns: Sequence[str], units: Sequence[Shown]) -> set[int]:
    """The units that contain all patterns; in prose also two neighbors that contain them between them."""
    texts = [unit.text if unit.quotable else "" for unit in units]
    whole = {i for i, found in enumerate(all_match(patterns, texts)) if found and texts[i]}
    if whole or len(patterns) == 1:
        return whole
    pairs = [
        i
        for i in range(len(units) - 1)
        if units[i].run == units[i + 1].run and units[i].form == units[i + 1].form == "sentence"
    ]
    found = all_match(patterns, [f"{texts[i]}\n{texts[i + 1]}" for i in pairs])
    return {
        at for i, both in zip(pairs, found, strict=True) if both for at in (i, i + 1) if texts[at]
    }


def _entries(chosen: set[int], hits: set[int], focus: Focus, units: Sequence[Shown]) -> set[int]:
    """The chosen list items as wholes: half an item is no entry; outside of items, what has a word of the question."""
    items = [range(start, end) for start, end in _items(units)]
    inside = {i for item in items if not chosen.isdisjoint(item) for i in item}
    return inside | {i for i in chosen if i in hits or focus.found(units[i].stems)}


def _items(units: Sequence[Shown]) -> Iterator[tuple[int, int]]:
    """The ranges of units that make up one list item."""
    for start, unit in enumerate(units):
        if not (unit.quotable and unit.opens and _MARKER.match(unit.text)):
            continue
        end = start + 1
        while end < len(units) and units[end].span is unit.span and not units[end].opens:
            end += 1
        if units[end - 1].end - unit.start <= _LONGEST_ITEM:
            yield start, end


def _best(
    appetite: Appetite, focus: Focus, units: Sequence[Shown], scores: Sequence[float]
) -> set[int]:
    ranked = sorted(range(len(units)), key=lambda i: (-scores[i], i))
    if not ranked or scores[ranked[0]] <= 0:
        return set()
    least = appetite.share * scores[ranked[0]]
    chosen = {i for i in ranked[: appetite.most] if scores[i] >= least}
    if all(focus.coverage(_context(units, i)) < appetite.least for i in chosen):
        return set()
    return chosen | _between(chosen, units, scores, _GAP * least)


def _context(units: Sequence[Shown], index: int) -> list[str]:
    """The words of a unit, of the heading above it and of the name of its source."""
    above = units[index].heading
    source = stems(units[index].span.source)
    return [*source, *(units[above].stems if above is not None else ()), *units[index].stems]


def _between(
    chosen: set[int], units: Sequence[Shown], scores: Sequence[float], least: float
) -> set[int]:
    """Single units between two chosen ones: a quote with a hole in it reads badly and is seldom better."""
    return {
        i + 1
        for i in chosen
        if i + 2 in chosen
        and i + 1 not in chosen
        and units[i].run == units[i + 2].run
        and units[i + 1].quotable
        and scores[i + 1] >= least
    }


def _best_matching(
    appetite: Appetite,
    focus: Focus,
    units: Sequence[Shown],
    scores: Sequence[float],
    hits: set[int],
) -> set[int]:
    """The matching units, best first up to the limit, and sentences beside them that say at least as much."""
    ranked = sorted(hits, key=lambda i: (-scores[i], i))
    best = scores[ranked[0]]
    share = 0.0 if appetite.most > len(hits) else appetite.share
    chosen = {i for i in ranked[: appetite.most] if scores[i] >= share * best}
    limit = _BESIDE if appetite.strict else appetite.share
    return chosen | {
        i for i in _candidates(appetite, units, chosen) if scores[i] >= limit * best > 0
    }


def _candidates(appetite: Appetite, units: Sequence[Shown], chosen: set[int]) -> set[int]:
    if not appetite.strict:
        return {i for i, unit in enumerate(units) if unit.quotable}
    beside = {j for i in chosen for j in (i - 1, i + 1) if 0 <= j < len(units)}
    return {
        j
        for j in beside - chosen
        if units[j].quotable
        and units[j].form == "sentence"
        and any(abs(i - j) == 1 and units[i].run == units[j].run for i in chosen)
    }
