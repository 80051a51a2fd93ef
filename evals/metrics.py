"""The metrics of citations, evidence, coverage and support: pure functions on plain data.

Each returns a Ratio. Where there is nothing to measure it is undefined, 0 of 0: a state that is counted, never 0, 1
or NaN. Offsets are half-open code points of the stored text; nothing is rescued by a near miss.
"""

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from data.stretches import Stretch, Stretches

Failure = Literal["unknown_source", "bad_range", "quote_mismatch"]
"""Why a citation does not resolve: no such text, a range outside of it, another quote than what stands there."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`num` of `den`. `value` is None where nothing could be measured (`den` is 0)."""

    num: float
    den: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.num) and math.isfinite(self.den) and self.den >= 0):
            raise ValueError(f"not a ratio: {self.num} of {self.den}")

    @property
    def value(self) -> float | None:
        """The quotient, or None: undefined."""
        return self.num / self.den if self.den else None

    def __add__(self, other: "Ratio") -> "Ratio":
        return Ratio(self.num + other.num, self.den + other.den)


UNDEFINED = Ratio(0, 0)


class Place(Protocol):
    """A stretch of one source."""

    @property
    def source(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Cited(Place, Protocol):
    """A citation as it was emitted; one without a quote has None."""

    @property
    def quote(self) -> str | None: ...


class Texts(Protocol):
    """The stored texts of one corpus version."""

    def characters(self, source: str) -> int | None:
        """The length of a text in code points; None where there is no such text."""
        ...

    def slice(self, source: str, start: int, end: int) -> str:
        """The text of a range that is inside of it."""
        ...


@dataclass(frozen=True, slots=True)
class Checked:
    """A distinct citation, and why it does not resolve (None if it does)."""

    source: str
    start: int
    end: int
    quote: str | None
    failure: Failure | None

    @property
    def place(self) -> Stretch:
        """The source with the range."""
        return self.source, self.start, self.end


Facts = Sequence[Sequence[Sequence[Place]]]
"""Gold: facts, each a list of alternatives, each a list of spans that are all needed."""


# Citations


def checked(citations: Iterable[Cited], texts: Texts) -> tuple[Checked, ...]:
    """The distinct citations in the order in which they first occur, each held against the text."""
    distinct = dict.fromkeys((each.source, each.start, each.end, each.quote) for each in citations)
    return tuple(Checked(*key, failure=_failure(*key, texts)) for key in distinct)


def _failure(source: str, start: int, end: int, quote: str | None, texts: Texts) -> Failure | None:
    length = texts.characters(source)
    if length is None:
        return "unknown_source"
    if not 0 <= start < end <= length:
        return "bad_range"
    if quote is None or (len(quote) == end - start and texts.slice(source, start, end) == quote):
        return None
    return "quote_mismatch"


def resolved(citations: Iterable[Checked]) -> Stretches:
    """The characters that resolved citations stand for: duplicates and overlaps once."""
    return Stretches.of(each.place for each in citations if each.failure is None)


def citation_validity(citations: Sequence[Checked]) -> Ratio:
    """The share of the distinct citations that resolve."""
    return Ratio(sum(each.failure is None for each in citations), len(citations))


def failures(citations: Iterable[Checked], failure: Failure) -> int:
    """How many distinct citations fail in this way."""
    return sum(each.failure == failure for each in citations)


def quote_validity(citations: Sequence[Checked]) -> Ratio:
    """The share of the distinct citations with a quote whose quote stands exactly where they say.

    An offset that is one off keeps recall and precision close to 1; here it is 0.
    """
    quoting = [each for each in citations if each.quote is not None]
    return citation_validity(quoting)


def citation_precision(
    citations: Sequence[Checked],
    gold: Facts,
    allowed: Iterable[Place] = (),
    *,
    tau: float = 0.5,
) -> Ratio:
    """The share of the distinct places cited of which at least `tau` lies in gold or in what is allowed.

    What does not resolve stays in the denominator. A place that is cited with two quotes resolves only if both do.
    Gold that is not exhaustive makes this too low.
    """
    _check_tau(tau)
    spans = [span for fact in gold for alternative in fact for span in alternative]
    acceptable = Stretches.of(_places([*spans, *allowed]))
    places: dict[Stretch, bool] = {}
    for each in citations:
        places[each.place] = places.get(each.place, True) and each.failure is None
    good = (place for place, resolves in places.items() if resolves)
    return Ratio(sum(_share(place, acceptable) >= tau for place in good), len(places))


# Evidence


def evidence_recall(citations: Iterable[Checked], gold: Facts) -> Ratio:
    """The mean over facts of the share of the best alternative's characters that are cited.

    Each fact weighs 1, however long its text. Without a fact it is undefined.
    """
    found = resolved(citations)
    best = [max(shares) for fact in gold if (shares := _shares(fact, found))]
    return Ratio(math.fsum(best), len(best))


def evidence_hit(citations: Iterable[Checked], gold: Facts, *, tau: float = 0.5) -> Ratio:
    """The share of the facts of which one alternative is cited: of each of its spans at least `tau` (1: all of it)."""
    _check_tau(tau)
    found = resolved(citations)
    facts = [list(filter(None, fact)) for fact in gold if any(fact)]
    hit = sum(any(_is_hit(each, found, tau) for each in fact) for fact in facts)
    return Ratio(hit, len(facts))


def _shares(fact: Sequence[Sequence[Place]], found: Stretches) -> list[float]:
    """The share of each alternative's characters that is cited; of what has no characters there is none."""
    shares = []
    for alternative in fact:
        places = [each for each in _places(alternative) if each[1] < each[2]]
        needed = places if len(places) == 1 else list(Stretches.of(places))
        size = sum(end - start for _, start, end in needed)
        if size:
            shares.append(sum(_overlap(place, found) for place in needed) / size)
    return shares


def _is_hit(alternative: Sequence[Place], found: Stretches, tau: float) -> bool:
    return all(
        start >= end or _share((source, start, end), found) >= tau
        for source, start, end in _places(alternative)
    )


def _share(place: Stretch, of: Stretches) -> float:
    """The share of a place that is among some stretches."""
    _, start, end = place
    return _overlap(place, of) / (end - start)


def _overlap(place: Stretch, of: Stretches) -> int:
    """How many characters of a place are among some stretches; only the intervals near to it are looked at."""
    source, start, end = place
    intervals = of.by_source.get(source, ())
    at, found = max(0, bisect_left(intervals, (start, start)) - 1), 0
    while at < len(intervals) and intervals[at][0] < end:
        first, last = intervals[at]
        found += max(0, min(end, last) - max(start, first))
        at += 1
    return found


def _places(spans: Iterable[Place]) -> Iterable[Stretch]:
    return ((each.source, each.start, each.end) for each in spans)


def _check_tau(tau: float) -> None:
    if not 0 < tau <= 1:
        raise ValueError(f"tau is a share above 0 and up to 1, not {tau}")


# Coverage: three numbers, never merged


def partition_coverage(required: Iterable[str], completed: Collection[str]) -> Ratio:
    """The share of the required partitions that were examined; failed, unread and unreadable ones were not."""
    target = set(required)
    return Ratio(len(target & set(completed)), len(target))


def character_coverage(read: Iterable[Stretch], sizes: Mapping[str, int]) -> Ratio:
    """The share of all characters that were put before a model or a scan. `sizes` has the characters by source."""
    whole = Stretches.of((source, 0, size) for source, size in sizes.items())
    return Ratio(len(Stretches.of(read) & whole), len(whole))


def source_coverage(citations: Iterable[Checked], sources: Iterable[str]) -> Ratio:
    """The share of the sources that are cited. It describes an answer and does not judge it."""
    known = set(sources)
    return Ratio(
        len({each.source for each in citations if each.failure is None} & known), len(known)
    )


# Support


@dataclass(frozen=True, slots=True)
class Support:
    """What is known of one claim: `cited` by a citation that resolves, and the verdict on it (None: not judged).

    A `derived` claim (a count, a date, a difference) is proved by computing again, not by a citation.
    """

    cited: bool
    supported: bool | None = None
    needs_citation: bool = True
    derived: bool = False


def unsupported_rate(claims: Iterable[Support]) -> tuple[Ratio, int]:
    """The share of the judged claims that nothing supports, and how many claims were not judged.

    A claim that needs a citation and has none that resolves is judged by that. Show it beside the rate of empty
    answers: silence has no unsupported claim.
    """
    needing = [each for each in claims if each.needs_citation]
    verdicts = [_verdict(each) for each in needing]
    judged = [each for each in verdicts if each is not None]
    return Ratio(judged.count(False), len(judged)), len(needing) - len(judged)


def _verdict(claim: Support) -> bool | None:
    return claim.supported if claim.cited or claim.derived else False
