"""Relevance: how well a unit of text supports an answer to a question, by words alone.

BM25 (Robertson and Zaragoza, 2009) over units, with a bonus for words that stand together in both, times the
share of the question's words that the unit holds; smoothed over the neighboring units, whose words are context;
times the BM25 of the span around the unit. A word weighs by its rarity in the corpus and by its rarity among the
units shown (their geometric mean): the first says what the question is about, the second which unit says
more about it than the others.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from runtime.lexicon import is_cjk, stems
from runtime.models.extractive.shown import Shown
from runtime.questions.framing import unframed
from signatures import TermStatistic

_SATURATION = 0.8
_LENGTH = 0.4
_KIN = 0.6
_TOGETHER = 0.4
_UNDER_HEADING = 0.2
_STANDING = {"heading": 0.0, "title": 0.5}
_NEAR, _NEXT_BUT_ONE = 0.35, 0.1
_ACROSS_PARAGRAPHS = 0.6
_ABSENT_BIGRAM = 0.35
_COMMON_START = 5
_UNSEEN_UNITS = 50
_ASKING = re.compile(
    r"什么时候|为什么|怎么样|有没有|是不是|什么|怎么|怎样|如何|为何|哪一个|哪一|哪些|哪个|哪里|哪儿|多少|是否|请问"
    r"|[谁吗呢的是]|了(?!解)"
)


@dataclass(frozen=True)
class Focus:
    """The words of a question in their order, their rarity in the corpus, their weight here, and their kin."""

    words: tuple[str, ...]
    rarity: Mapping[str, float]
    weights: Mapping[str, float]
    kin: Mapping[str, str]

    def found(self, words: Iterable[str]) -> dict[str, float]:
        """How often each word of the question occurs; where only its kin occurs (pregnant, pregnancy), a part."""
        counts: dict[str, float] = {}
        related: set[str] = set()
        for word in words:
            if word in self.weights:
                counts[word] = counts.get(word, 0.0) + 1.0
            elif word in self.kin:
                related.add(self.kin[word])
        for word in related:
            counts.setdefault(word, _KIN)
        return counts

    def coverage(self, words: Iterable[str]) -> float:
        """The share of the question, weighed by rarity in the corpus, that the words cover: 0 to 1."""
        total = sum(self.rarity.values())
        covered = sum(self.rarity[word] * min(1.0, n) for word, n in self.found(words).items())
        return covered / total if total else 0.0


def focus_of(question: str, statistics: Sequence[TermStatistic], units: Sequence[Shown]) -> Focus:
    """The words that a question is about.

    Without statistics the units shown stand for the corpus, and some that hold none of the words: few units say
    little about rarity.
    """
    words = _question_words(question)
    counts = Counter(word for unit in units for word in set(unit.stems))
    # Of an identifier the whole comes first; its parts have statistics of their own.
    corpus = {[*stems(one.term), one.term.lower()][0]: one for one in statistics}
    rarity: dict[str, float] = {}
    weights: dict[str, float] = {}
    for word in dict.fromkeys(words):
        here = _idf(counts[word], len(units))
        known = corpus.get(word)
        unknown = _idf(counts[word], len(units) + _UNSEEN_UNITS)
        rarity[word] = _idf(known.spans, known.of) if known else unknown
        weights[word] = math.sqrt(rarity[word] * here)
        if is_cjk(word[0]) and not (known.spans if known else counts[word]):
            # Half the bigrams of a Chinese question straddle two words: their absence says little.
            rarity[word] *= _ABSENT_BIGRAM
    return Focus(words, rarity, weights, _kin(rarity, counts))


def unit_scores(focus: Focus, units: Sequence[Shown]) -> list[float]:
    """A score for each unit, comparable among the units of one prompt only.

    Margins score 0, since they cannot be quoted; and headings, which name what follows and answer nothing themselves.
    A line that may be a heading counts half.
    """
    own = _own_scores(focus, units)
    prior = _span_prior(focus, units)
    return [
        _smoothed(own, units, index) * prior[unit.span.span_id] * _STANDING.get(unit.form, 1.0)
        if unit.quotable and unit.stems
        else 0.0
        for index, unit in enumerate(units)
    ]


def _question_words(question: str) -> tuple[str, ...]:
    words = stems(_ASKING.sub(" ", unframed(question)))
    kept = [word for word in words if len(word) > 1 or not is_cjk(word)]
    return tuple(kept or words or stems(question))


def _idf(holding: int, total: int) -> float:
    return math.log(1 + (max(total, holding) - holding + 0.5) / (holding + 0.5))


def _kin(asked: Mapping[str, float], present: Iterable[str]) -> dict[str, str]:
    """For each word of the text that differs from a word of the question only by its ending: that word."""
    families: dict[str, list[str]] = {}
    for word in asked:
        if word.isalpha() and not is_cjk(word[0]):
            families.setdefault(word[:_COMMON_START], []).append(word)
    kin: dict[str, str] = {}
    for word in present:
        family = families.get(word[:_COMMON_START], ())
        if family and word not in asked and word.isalpha():
            relatives = [one for one in family if _related(word, one)]
            if relatives:
                kin[word] = max(relatives, key=lambda one: (asked[one], one))
    return kin


def _related(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    differing = (i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b)
    common = next(differing, len(shorter))
    return common >= max(_COMMON_START, len(shorter) - 1, 0.6 * len(longer))


def _own_scores(focus: Focus, units: Sequence[Shown]) -> list[float]:
    average = sum(len(unit.stems) for unit in units) / max(1, len(units)) or 1.0
    found = [focus.found(unit.stems) for unit in units]
    present = {word for each in found for word in each}
    total = sum(focus.weights[word] for word in present) or 1.0
    pairs = {pair for pair in pairwise(focus.words) if pair[0] != pair[1]}
    scores: list[float] = []
    for unit, counts in zip(units, found, strict=True):
        share = sum(focus.weights[word] * min(1.0, n) for word, n in counts.items()) / total
        matching = _bm25(focus, counts, len(unit.stems) / average)
        matching += _TOGETHER * _together(focus, pairs, counts, unit.stems)
        scores.append(matching * share)
    return scores


def _bm25(focus: Focus, counts: Mapping[str, float], length: float) -> float:
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * length)
    return sum(
        focus.weights[word] * n * (_SATURATION + 1) / (n + norm) for word, n in counts.items()
    )


def _together(
    focus: Focus,
    pairs: Iterable[tuple[str, str]],
    counts: Mapping[str, float],
    words: Sequence[str],
) -> float:
    """The weight of the word pairs of the question that stand together, with at most one word between."""
    wanted = {pair for pair in pairs if pair[0] in counts and pair[1] in counts}
    if not wanted:
        return 0.0
    near = {*pairwise(words), *zip(words, words[2:], strict=False)}
    return sum(
        min(focus.weights[a], focus.weights[b])
        for a, b in wanted
        if (a, b) in near or (b, a) in near
    )


def _smoothed(own: Sequence[float], units: Sequence[Shown], index: int) -> float:
    score = own[index]
    for step, share in ((-1, _NEAR), (1, _NEAR), (-2, _NEXT_BUT_ONE), (2, _NEXT_BUT_ONE)):
        other = index + step
        if not 0 <= other < len(units) or units[other].run != units[index].run or not own[other]:
            continue
        if units[other].form in _STANDING:
            continue
        if any(units[i].opens for i in range(min(index, other) + 1, max(index, other) + 1)):
            share *= _ACROSS_PARAGRAPHS
        score += share * own[other]
    above = units[index].heading
    if above is not None:
        score += _UNDER_HEADING * own[above]
    return score


def _span_prior(focus: Focus, units: Sequence[Shown]) -> dict[str, float]:
    """The BM25 of each span, relative to the best one: 0 to 1."""
    words: dict[str, list[str]] = {}
    for unit in units:
        if unit.quotable:
            words.setdefault(unit.span.span_id, []).extend(unit.stems)
    average = sum(map(len, words.values())) / max(1, len(words)) or 1.0
    scores = {
        key: _bm25(focus, focus.found(each), len(each) / average) for key, each in words.items()
    }
    best = max(scores.values(), default=0.0) or 1.0
    return {key: score / best for key, score in scores.items()}
