"""Relevance: how well a unit of text supports an answer to a question, by words alone."""

import math
from collections import Counter
from collections.abc import Sequence

from runtime.models.extractive.lexicon_draft import stems
from signatures import TermStatistic

_SATURATION = 1.2
_LENGTH = 0.5
_NEIGHBORS = 0.35


def term_weights(question: str, statistics: Sequence[TermStatistic], shown: Sequence[Sequence[str]]) -> dict[str, float]:
    """The inverse document frequency of each stem of the question.

    Counted over the corpus where the prompt says it, otherwise over the units shown.
    """
    corpus: dict[str, float] = {}
    for one in statistics:
        for stem in stems(one.term) or [one.term.lower()]:
            corpus[stem] = max(corpus.get(stem, 0.0), _idf(one.spans, one.of))
    counts = Counter(stem for unit in shown for stem in set(unit))
    return {stem: corpus.get(stem, _idf(counts[stem], len(shown))) for stem in dict.fromkeys(stems(question))}


def _idf(holding: int, total: int) -> float:
    return math.log(1 + (max(total, holding) - holding + 0.5) / (holding + 0.5))


def unit_scores(weights: dict[str, float], units: Sequence[Sequence[str]]) -> list[float]:
    """BM25 of each unit, times the root of the share of the question's words that it holds."""
    average = sum(map(len, units)) / max(1, len(units)) or 1.0
    total = sum(weights.values()) or 1.0
    scores: list[float] = []
    for unit in units:
        counts = Counter(stem for stem in unit if stem in weights)
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * len(unit) / average)
        base = sum(weights[t] * n * (_SATURATION + 1) / (n + norm) for t, n in counts.items())
        scores.append(base * math.sqrt(sum(weights[t] for t in counts) / total))
    return scores
