"""chunking_evaluation: long documents, and questions with the excerpts that answer them, by offsets of code points.

Every excerpt is a fact: all of them are needed for the whole answer. The data have no answers in words.
"""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from data.questions import GoldSpan, Question, QuestionSet
from data.sets.importers.answers import NO_ANSWER
from data.sets.importers.draft import Draft
from data.sets.importers.records import Record, data_files, read_file

FILE = "questions_df.csv"


class _Reference(Record):
    content: str
    start_index: int
    end_index: int


def _listed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


class _Row(Record):
    question: str
    references: Annotated[list[_Reference], BeforeValidator(_listed)] = Field(min_length=1)
    corpus_id: str


def import_chunking(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The questions about the documents that are there: a corpus a document."""
    draft = Draft("chunking")
    (table,) = data_files(source, FILE)[:1]
    documents = {path.stem: path for path in sorted((table.parent / "corpora").glob("*.md"))}
    names: dict[str, str] = {}
    for number, row in enumerate(read_file(table, _Row), 1):
        path = documents.get(row.corpus_id)
        if path is None:
            draft.leave_out(f"questions about {row.corpus_id}, whose text is not there")
            continue
        if row.corpus_id not in names:
            names[row.corpus_id] = draft.document(row.corpus_id, path.name, path.read_bytes())
        draft.ask(_question(number, row, names[row.corpus_id]))
    return draft.finish(folder, limit=limit, seed=seed, store=store)


def _question(number: int, row: _Row, document: str) -> Question:
    spans = (
        GoldSpan(source=document, start=each.start_index, end=each.end_index, quote=each.content)
        for each in row.references
    )
    return Question(
        id=f"chunking-{number:04}",
        question=row.question,
        corpus=row.corpus_id,
        kind="local",
        gold=tuple(((span,),) for span in dict.fromkeys(spans)),
        answer=NO_ANSWER,
        answerable=True,
        documents=(document,),
        tags=(row.corpus_id,),
    )
