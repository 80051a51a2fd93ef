"""HotpotQA (distractor): a question over ten paragraphs of Wikipedia, and the sentences that the answer takes.

A paragraph is a document: its title, and below it the text. Each supporting sentence is a fact.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, field_validator

from data.questions import Fact, GoldSpan, Question, QuestionSet
from data.sets.importers.answers import typed_answer
from data.sets.importers.draft import Draft
from data.sets.importers.records import Record, read_records


class _Row(Record):
    """A row of the original file (lists of pairs), or of its copy on a hub (columns)."""

    id: str = Field(validation_alias=AliasChoices("id", "_id"))
    question: str
    answer: str
    type: str = ""
    level: str = ""
    supporting_facts: list[tuple[str, int]]
    context: list[tuple[str, list[str]]]

    @field_validator("supporting_facts", mode="before")
    @classmethod
    def _supporting(cls, value: Any) -> Any:
        return _pairs(value, "title", "sent_id")

    @field_validator("context", mode="before")
    @classmethod
    def _context(cls, value: Any) -> Any:
        return _pairs(value, "title", "sentences")


def _pairs(value: Any, first: str, second: str) -> Any:
    if not isinstance(value, dict):
        return value
    return list(zip(value.get(first, ()), value.get(second, ()), strict=True))


def import_hotpotqa(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The questions, each over its own corpus of paragraphs."""
    draft = Draft("hotpotqa")
    for row in read_records(source, _Row, "*.jsonl", "*.json"):
        draft.ask(_question(draft, row))
    return draft.finish(folder, limit=limit, seed=seed, store=store)


def _question(draft: Draft, row: _Row) -> Question:
    sentences = {
        title: draft.pieces(
            row.id, title, texts, between="", before=f"{title}\n\n", after="\n"
        ).spans
        for title, texts in row.context
    }
    gold = _gold(sentences, row.supporting_facts)
    return Question(
        id=f"hotpotqa-{row.id}",
        question=row.question,
        corpus=row.id,
        kind="lookup",
        gold=gold,
        answer=typed_answer(row.answer),
        answerable=True,
        documents=tuple(
            dict.fromkeys(span.source for fact in gold for each in fact for span in each)
        ),
        tags=tuple(each for each in (row.type, row.level) if each),
    )


def _gold(
    sentences: Mapping[str, tuple[GoldSpan, ...]], supporting: Sequence[tuple[str, int]]
) -> tuple[Fact, ...]:
    """A fact for each sentence, in the order of the data; an empty one for a sentence that is not there."""
    facts: dict[Fact, None] = {}
    for title, number in supporting:
        there = sentences.get(title, ())
        facts[((there[number],),) if 0 <= number < len(there) else ()] = None
    return tuple(facts)
