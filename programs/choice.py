"""Choice: which program suits a question, from what its words signal, the size of the text and the budget.

Nothing is asked of a model here. In the order in which they are decided:

- An answer that is only right if all was examined never comes from a selection. Exact strings are searched for in every
  line and counted by code, and so are orders, contradictions and values compared: `recursive`. What is one reading
  over everything (a list, whether there is any) is that too, unless the budget has no room for plans beside the
  reading: then `map_reduce`, which spends its calls on the text.
- Otherwise, text that fills at most a quarter of the model's window, and that the budget can pay for, is read at once:
  `direct`. Nothing is gained by a plan over it. Beyond that a model loses the middle of what it is shown, whatever the
  size of its window: above 100,000 characters nothing is read at once.
- In larger text, exact strings are searched for and then read, causes and overviews need what several places say, and
  so do comparisons and the first or the last of something: `recursive`.
- What may need everything though its form does not say so never comes from the passages that rank best, either:
  several things ("what are the", "who attended", "show me the failed logins"), what only all values together tell (a
  total, an average, the highest), and a yes or no. Of these, one place is enough for a yes, but a no speaks of all of
  the text, and a ranking cannot tell which of the two it has before it. `recursive` classifies such a question by the
  model and plans for it. It may still rank; `programs/selection.py` says then what the answer rests on.
- One fact without a string to search for stands in one place of a larger text: `retrieve` reads the passages that rank
  best. That it found something is an answer; that it found nothing is none (see `programs/coverage.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runtime.limits import Limits
from runtime.questions.breadth import comparing, extreme, universal
from runtime.questions.classifier import REQUIRES_ALL, classify, signaled_kinds
from runtime.questions.mentions import without_quotes
from runtime.questions.plurality import several, together
from runtime.questions.polarity import polar
from runtime.questions.ranking import ranks_values
from signatures import QuestionKind

Chosen = Literal["recursive", "map_reduce", "direct", "retrieve"]

COMFORTABLE = 0.25
"""Share of a window that text may fill to be read at once."""
MOST_AT_ONCE = 100_000
"""Characters that are read at once at most, however large the window is."""
PLANNING_CALLS = 8
"""Calls of a plan, its refinements and the conclusion, beside those that read."""
PLANNING_TOKENS = 20_000
"""The same in tokens."""
_CHARACTERS_PER_TOKEN = 3
_ONE_READING: frozenset[QuestionKind] = frozenset(
    ("list", "existence", "lookup", "cause", "summary")
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to take a question. `patterns` are the exact strings that it names."""

    kind: QuestionKind
    requires_all: bool
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signals:
    """What the form of a question says: the likeliest `reading` and the words that are its `reason`.

    `others` are further kinds that some words point at, each with the words. `universal`, `comparing`, `extreme`,
    `several`, `together` and `polar` are words too, or empty.
    """

    reading: Reading
    reason: str
    others: tuple[tuple[QuestionKind, str], ...]
    universal: str
    comparing: str
    extreme: str
    several: str
    together: str
    polar: str
    ranking: bool

    @classmethod
    def of(cls, question: str, overview: str) -> "Signals":
        """The signals of a question over the corpus that `overview` describes."""
        found = classify(question, overview)
        frame = without_quotes(question)
        others = list(signaled_kinds(question).items())[1:]
        return cls(
            reading=Reading(found.kind, found.requires_all, tuple(found.patterns)),
            reason=found.reason,
            others=tuple(each for each in others if each[0] != found.kind),
            universal=universal(frame),
            comparing=comparing(frame),
            extreme=extreme(frame),
            several=several(frame),
            together=together(frame),
            polar=polar(frame),
            ranking=ranks_values(frame),
        )

    def readings(self) -> Iterator[Reading]:
        """The ways to take the question, the likeliest first. If that one needs all of the text, it is the only one."""
        first = self.reading
        yield first
        if first.requires_all:
            return
        for kind, _ in self.others:
            yield Reading(kind, kind in REQUIRES_ALL, first.patterns)
        if self.universal:
            yield Reading(first.kind, True, first.patterns)

    def told(self) -> tuple[str, ...]:
        """The signals in words."""
        words = [f"{self.reading.kind}: {self.reason}"]
        words += [f'{kind}: "{said}".' for kind, said in self.others]
        words += [
            f'{name}: "{said}".'
            for name, said in (
                ("all or none", self.universal),
                ("comparison", self.comparing),
                ("first or last", self.extreme),
                ("several", self.several),
                ("all together", self.together),
                ("yes or no", self.polar),
            )
            if said
        ]
        words += ["ranking: which value occurs most."] if self.ranking else []
        patterns = ", ".join(self.reading.patterns)
        return (*words, f"strings: {patterns}." if patterns else "no exact string.")


@dataclass(frozen=True, slots=True)
class Room:
    """What there is to read, and what there is to read it with. `window` is in characters, as `characters` is.

    `readings` are the calls that read all of it, None for one a partition.
    """

    characters: int
    partitions: int
    window: int
    limits: Limits
    readings: int | None = None

    @property
    def fits(self) -> bool:
        """Whether everything can be read at once with ease."""
        affordable = self._tokens(0.5)
        comfortable = min(MOST_AT_ONCE, int(self.window * COMFORTABLE))
        return self.characters <= comfortable and (
            affordable is None or self.characters <= affordable * _CHARACTERS_PER_TOKEN
        )

    @property
    def scarce(self) -> bool:
        """Whether reading everything leaves nothing to plan with."""
        calls, tokens = self.limits.calls, self._tokens(1.0)
        readings = self.partitions if self.readings is None else self.readings
        few = calls is not None and calls < readings + PLANNING_CALLS
        needed = self.characters // _CHARACTERS_PER_TOKEN + PLANNING_TOKENS
        return few or (tokens is not None and tokens < needed)

    def _tokens(self, share: float) -> int | None:
        caps = [each for each in (self.limits.tokens, self.limits.input_tokens) if each is not None]
        return int(min(caps) * share) if caps else None

    def told(self) -> str:
        """The room in words."""
        budget = [f"{self.limits.calls:,} calls"] if self.limits.calls is not None else []
        tokens = self._tokens(1.0)
        budget += [f"{tokens:,} tokens"] if tokens is not None else []
        return (
            f"text: {self.characters:,} characters in {self.partitions:,} partitions, window {self.window:,},"
            f" budget {' and '.join(budget) or 'without a cap'}."
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """A program by its name, and why it."""

    program: Chosen
    reason: str


def choose(reading: Reading, signals: Signals, room: Room) -> Choice:
    """The program for one reading of a question."""
    if reading.requires_all or signals.ranking:
        return _exhaustive(reading, signals, room)
    if room.fits:
        return Choice(
            "direct",
            f"{room.characters:,} characters fit the model's window with ease, and not all of something is asked for",
        )
    if reading.patterns:
        return Choice("recursive", "the question names exact strings: they are searched for first")
    if reading.kind != "lookup":
        return Choice("recursive", f"a question of this kind ({reading.kind}) needs several places")
    if wide := signals.comparing or signals.extreme:
        return Choice("recursive", f'"{wide}" needs several places to be set side by side')
    if open_ended := signals.several or signals.together:
        return Choice("recursive", f'"{open_ended}" may need more than the passages that rank best')
    if signals.polar:
        return Choice("recursive", "a yes or no is asked for, and a no speaks of all of the text")
    return Choice(
        "retrieve", "one fact is asked for, in text too long to be read at once, by no exact string"
    )


def _exhaustive(reading: Reading, signals: Signals, room: Room) -> Choice:
    what = "which value occurs most" if signals.ranking else reading.kind
    if reading.patterns:
        reason = f"all of the text is needed ({what}): exact strings are searched for in every line"
        return Choice("recursive", reason)
    if reading.kind not in _ONE_READING or signals.ranking:
        reason = (
            f"all of the text is needed ({what}), and code orders, compares or counts what is found"
        )
        return Choice("recursive", reason)
    if room.scarce:
        reason = f"all of the text is needed ({what}), and the budget has no room for plans beside reading it once"
        return Choice("map_reduce", reason)
    return Choice("recursive", f"all of the text is needed ({what}): it is read part by part")


def disputed(signals: Signals, room: Room) -> bool:
    """Whether the signals disagree: the ways to take the question lead to different programs.

    That is so where words of a second kind, or a word like "every", ask for all of the text, and the kind that wins
    does not. Signals that lead to the same program need no judge.
    """
    return len({choose(each, signals, room).program for each in signals.readings()}) > 1
