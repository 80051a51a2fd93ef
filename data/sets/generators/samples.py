"""Samples: the questions that ship with the project, in the schema of a set."""

from collections.abc import Iterator
from pathlib import Path

from data.questions import GoldSpan, Kind, TypedAnswer
from data.samples import SampleQuestion, questions, samples_path
from data.sets.drafts import NOTHING, Document, Draft, DraftQuestion, Order, integer, many, string
from data.timestamp import TimestampReader

_KINDS: dict[str, Kind] = {
    "count": "aggregate",
    "list": "aggregate",
    "timeline": "aggregate",
    "conflict": "conflict",
    "lookup": "lookup",
    "existence": "lookup",
    "cause": "local",
    "summary": "local",
}


class Samples:
    """The family of one: the shipped questions about incident, minutes and handbook."""

    name = "samples"
    does = "the questions about the sample texts of the project"
    takes_files = False

    def drafts(self, order: Order) -> Iterator[Draft]:
        """The three sample corpora; `questions` takes the first ones."""
        found = questions()[: order.questions]
        for corpus in dict.fromkeys(each.corpus for each in found):
            documents = tuple(_documents(samples_path(corpus)))
            asked = (_question(each, documents) for each in found if each.corpus == corpus)
            yield Draft(corpus, documents, tuple(asked))


def _documents(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.iterdir()):
        if path.suffix in (".md", ".log"):
            yield Document(path.name, path.read_bytes().decode())


def _question(sample: SampleQuestion, documents: tuple[Document, ...]) -> DraftQuestion:
    kind = _KINDS[sample.kind] if sample.answerable else "unanswerable"
    named = [each for each in documents if each.name in sample.question]
    draft = DraftQuestion(
        id=sample.id,
        question=sample.question,
        kind=kind,
        answer=_answer(sample),
        gold=tuple(
            tuple(tuple(GoldSpan(**s.model_dump()) for s in each) for each in fact)
            for fact in sample.facts
        ),
        tags=(f"sample:{sample.kind}",),
    )
    if kind == "unanswerable":
        needed = None
    elif kind == "aggregate":
        needed = tuple((each.name, 0, len(each.content)) for each in named) or None
    else:
        needed = draft.places
    return DraftQuestion(
        draft.id, draft.question, kind, draft.answer, draft.gold, needed, tags=draft.tags
    )


def _answer(sample: SampleQuestion) -> TypedAnswer:
    answer = sample.answer
    if answer is None:
        return NOTHING
    if isinstance(answer, int):
        return integer(answer)
    if isinstance(answer, tuple):
        return many(answer)
    return _moment(answer) or string(answer)


def _moment(answer: str) -> TypedAnswer | None:
    """A point in time as it is written in an answer, or None."""
    reader = TimestampReader.detect([answer])
    time = reader.read(answer) if reader and answer[:4].isdigit() else None
    if time is None or len(answer) > len("2026-03-10 09:04:12"):
        return None
    return TypedAnswer(type="date", values=(time.isoformat(),), accepted=(answer,))
