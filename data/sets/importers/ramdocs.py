"""RAMDocs: documents that name different answers, some of them misleading, some beside the point.

Each right answer is a fact; its alternatives are the sentences that name it in the documents that are right about it,
or such a document whole if none does word by word. The right documents, and the misleading ones that an answer may
have to mention, may be cited besides. An answer that no document names is not asked for.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from data.questions import Fact, GoldSpan, Kind, Question, QuestionSet
from data.sets.importers.answers import NO_ANSWER, any_of_several
from data.sets.importers.draft import Draft, span_of
from data.sets.importers.records import Record, read_records

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


def _without_mark(text: str) -> str:
    """A text without its byte order mark, which no corpus keeps."""
    return text.removeprefix("\ufeff")


class _Document(Record):
    text: Annotated[str, AfterValidator(_without_mark)]
    type: str
    answer: str


class _Row(Record):
    question: str
    documents: list[_Document] = Field(min_length=1)
    gold_answers: list[str] = Field(min_length=1)


def import_ramdocs(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The questions, each over its own corpus of documents."""
    draft = Draft("ramdocs")
    for number, row in enumerate(read_records(source, _Row, "*.jsonl"), 1):
        _ask(draft, f"ramdocs-{number:04}", row)
    return draft.finish(folder, limit=limit, seed=seed, store=store)


def _ask(draft: Draft, id_: str, row: _Row) -> None:
    right = {each.answer.casefold() for each in row.documents if each.type == "correct"}
    answers = [each for each in row.gold_answers if each.casefold() in right]
    misled = any(each.type == "misinfo" for each in row.documents)
    if not answers and (misled or right):
        draft.leave_out("questions whose right answer no document names, and another is named")
        return
    sources = [
        draft.document(id_, f"document {number}", each.text)
        for number, each in enumerate(row.documents, 1)
    ]
    pages = list(zip(sources, row.documents, strict=True))
    gold = tuple(_fact(answer, pages) for answer in answers)
    used = tuple(
        span_of(source, each.text, 0, len(each.text))
        for source, each in pages
        if each.type in ("correct", "misinfo")
    )
    draft.ask(
        Question(
            id=id_,
            question=row.question,
            corpus=id_,
            kind=_kind(answers, misled=misled),
            gold=gold,
            answer=any_of_several(answers) if answers else NO_ANSWER,
            answerable=bool(answers),
            allowed=used if answers else (),
            documents=tuple(span.source for span in used) if answers else tuple(sources),
            tags=_tags(row, answers, misled=misled),
        )
    )


def _kind(answers: Sequence[str], *, misled: bool) -> Kind:
    if not answers:
        return "unanswerable"
    return "conflict" if misled or len(answers) > 1 else "lookup"


def _tags(row: _Row, answers: Sequence[str], *, misled: bool) -> tuple[str, ...]:
    holds = {
        "several answers": len(answers) > 1,
        "misleading documents": misled,
        "noise": any(each.type == "noise" for each in row.documents),
        "answers without a document": len(answers) < len(row.gold_answers),
    }
    return tuple(tag for tag, is_so in holds.items() if is_so)


def _fact(answer: str, pages: Sequence[tuple[str, _Document]]) -> Fact:
    """Where an answer is named, each place an alternative."""
    naming = re.compile(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", re.IGNORECASE)
    places: dict[GoldSpan, None] = {}
    for source, page in pages:
        if page.type == "correct" and page.answer.casefold() == answer.casefold():
            named = [each.span() for each in naming.finditer(page.text)]
            for start, end in named or [(0, len(page.text))]:
                places[span_of(source, page.text, *_sentences(page.text, start, end))] = None
    return tuple((span,) for span in places)


def _sentences(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch made longer, to the borders of the sentences that it lies in."""
    borders = [0, *(each.end() for each in _SENTENCE_END.finditer(text)), len(text)]
    first = max(each for each in borders if each <= start)
    return first, min(each for each in borders if each >= end)
