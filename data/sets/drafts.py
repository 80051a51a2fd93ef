"""Drafts: corpora that are to be written, with the questions about them, before anything is on the disk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from data.questions import Alternative, Fact, GoldSpan, Kind, TypedAnswer
from data.stretches import Stretch

NOTHING = TypedAnswer(type="none")


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be built. `over` are files of one's own that stand in for generated text.

    `characters` is the size of one corpus, `questions` about how many there shall be; None leaves it to the family.
    """

    seed: int = 0
    questions: int | None = None
    characters: int | None = None
    over: tuple[Path, ...] = ()
    store: Path | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a corpus: its name, which is the id of the source, and its text, or bytes that are no text."""

    name: str
    content: str | bytes


@dataclass(frozen=True, slots=True)
class DraftQuestion:
    """A question whose gold has its offsets. `needed` are the stretches that have to be read; None: everything.

    `documents` empty: the sources of its gold, or all of the corpus where everything is needed.
    """

    id: str
    question: str
    kind: Kind
    answer: TypedAnswer
    gold: tuple[Fact, ...] = ()
    needed: tuple[Stretch, ...] | None = None
    allowed: tuple[GoldSpan, ...] = ()
    documents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the corpus answers it."""
        return self.answer.type != "none"

    @property
    def places(self) -> tuple[Stretch, ...]:
        """The stretches of all its gold."""
        return tuple(
            (span.source, span.start, span.end)
            for fact in self.gold
            for each in fact
            for span in each
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A corpus with its questions."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[DraftQuestion, ...] = field(default=())

    def with_questions(self, questions: Iterable[DraftQuestion]) -> "Draft":
        """The same corpus with other questions."""
        return replace(self, questions=tuple(questions))


def span(source: str, start: int, quote: str) -> GoldSpan:
    """A stretch of gold that begins at a code point."""
    return GoldSpan(source=source, start=start, end=start + len(quote), quote=quote)


def any_of(spans: Iterable[GoldSpan]) -> Fact:
    """A fact that each of the spans proves alone."""
    return tuple((each,) for each in spans)


def all_of(spans: Sequence[GoldSpan]) -> Fact:
    """A fact that only all the spans together prove."""
    alternative: Alternative = tuple(spans)
    return (alternative,)


def integer(value: int, *accepted: str) -> TypedAnswer:
    """A number as an answer."""
    return TypedAnswer(type="integer", values=(str(value),), accepted=accepted)


def string(value: str, *accepted: str) -> TypedAnswer:
    """A name or some words as an answer."""
    return TypedAnswer(type="string", values=(value,), accepted=accepted)


def many(values: Iterable[str]) -> TypedAnswer:
    """A set of names as an answer."""
    return TypedAnswer(type="set", values=tuple(values))
