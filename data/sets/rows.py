"""Rows: the questions of a set as rows of a `datasets.Dataset`, and back.

Every column has its type spelled out: a column that happens to be empty in a set has the same type as in any other.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from data.questions import Question
from runtime.errors import QuestionSetError

if TYPE_CHECKING:
    import datasets

_HINT = "mend that question; spantree sets --help says where the columns are described"


def features() -> "datasets.Features":
    """The columns of a set."""
    from datasets import Features, List, Value

    text = Value("string")
    span = {"source": text, "start": Value("int64"), "end": Value("int64"), "quote": text}
    return Features(
        {
            "id": text,
            "question": text,
            "corpus": text,
            "kind": text,
            "gold": List(List(List(span))),
            "answer": {"type": text, "values": List(text), "accepted": List(text)},
            "answerable": Value("bool"),
            "required_partitions": List(text),
            "allowed": List(span),
            "documents": List(text),
            "tags": List(text),
            "split": text,
        }
    )


def rows_of(questions: Iterable[Question]) -> list[dict[str, Any]]:
    """The rows of some questions."""
    return [each.model_dump(mode="json") for each in questions]


def dataset_of_rows(rows: list[dict[str, Any]]) -> "datasets.Dataset":
    """The rows as a dataset, held in memory."""
    from datasets import Dataset

    typed = features()
    columns = {name: [row[name] for row in rows] for name in typed}
    return Dataset.from_dict(columns, features=typed)


def questions_of(rows: Iterable[Mapping[str, Any]], origin: str) -> Iterator[Question]:
    """The questions of some rows. Raises QuestionSetError, which names `origin` and the row, from 1."""
    for number, row in enumerate(rows, 1):
        try:
            yield Question.model_validate(row)
        except ValidationError as error:
            raise malformed(origin, f"row {number}", error) from error


def question_of_line(line: bytes, origin: str, number: int) -> Question:
    """The question of one line of JSON. Raises QuestionSetError, which names `origin` and the line."""
    try:
        return Question.model_validate_json(line)
    except ValidationError as error:
        raise malformed(origin, f"line {number}", error) from error


def malformed(origin: str, where: str, error: ValidationError) -> QuestionSetError:
    """What is wrong with a record, in words: the first of its faults."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    column = ".".join(map(str, fault["loc"]))
    what = f"{column}: {fault['msg']}" if column else fault["msg"]
    return QuestionSetError(f"{origin}, {where}: {what}", _HINT)


def line_of(question: Question) -> bytes:
    """A question as one line of JSON, the same bytes for the same question."""
    return json.dumps(question.model_dump(mode="json"), ensure_ascii=False).encode() + b"\n"
