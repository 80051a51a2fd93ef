"""Storage: a question set as a folder, in two forms, and as a `datasets.Dataset`.

SET/set.json                     name, how it was made, and its corpora with their versions
SET/questions.jsonl              one question a line, or
SET/questions.parquet            the same columns
SET/corpora/NAME/...             the files of a corpus
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from data.corpus import Corpus, open_corpus
from data.questions import CorpusEntry, Question, QuestionSet, Row
from data.sets.rows import (
    dataset_of_rows,
    line_of,
    malformed,
    question_of_line,
    questions_of,
    rows_of,
)
from data.store import replace_atomically, temporary_name, write_atomically
from runtime.errors import CorpusError, QuestionSetError

if TYPE_CHECKING:
    import datasets

Form = Literal["jsonl", "parquet"]

SET_FILE = "set.json"
SCHEMA = 1
_FILES: dict[Form, str] = {"jsonl": "questions.jsonl", "parquet": "questions.parquet"}
_BATCH = 256
"""Rows that are decoded at a time: a question may bring much gold."""


class Header(Row):
    """What a set says of itself in set.json."""

    name: str
    made_by: str
    schema_version: int = Field(alias="schema")
    corpora: tuple[CorpusEntry, ...]


def save_set(made: QuestionSet, folder: Path, *, form: Form = "jsonl") -> None:
    """Write set.json and the questions. The files of the corpora are in the folder already."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _FILES[form]
    temporary = temporary_name(path)
    try:
        if form == "parquet":
            _write_parquet(dataset_of(made), temporary)
        else:
            with temporary.open("wb") as file:
                file.writelines(line_of(each) for each in made.questions)
        replace_atomically(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    for other in _FILES.values():
        if other != path.name:
            (folder / other).unlink(missing_ok=True)
    header = Header(name=made.name, made_by=made.made_by, schema=SCHEMA, corpora=made.corpora)
    text = header.model_dump_json(indent=1, by_alias=True)
    write_atomically(folder / SET_FILE, text.encode() + b"\n")


def load_set(folder: Path) -> QuestionSet:
    """A set. Raises QuestionSetError for what is missing or malformed; `lint` tells whether its gold holds."""
    header = load_header(folder)
    return QuestionSet(
        name=header.name,
        made_by=header.made_by,
        corpora=header.corpora,
        questions=tuple(stream_questions(folder)),
    )


def load_header(folder: Path) -> Header:
    """What a set says of itself. Raises QuestionSetError."""
    path = folder / SET_FILE
    try:
        header = Header.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise QuestionSetError(
            f"{folder} is not a question set: it has no {SET_FILE}",
            "spantree sets list shows the sets; spantree sets build makes one",
        ) from error
    except OSError as error:
        raise QuestionSetError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        raise malformed(str(path), "the header", error) from error
    if header.schema_version != SCHEMA:
        raise QuestionSetError(
            f"{path}: schema {header.schema_version}, and this version reads schema {SCHEMA}",
            "build the set again with this version",
        )
    return header


def stream_questions(folder: Path) -> Iterator[Question]:
    """The questions of a set one after the other, without holding all of them. Raises QuestionSetError."""
    path = questions_path(folder)
    if path.suffix == ".parquet":
        yield from _of_parquet(path)
        return
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield question_of_line(line, path.name, number)
    except OSError as error:
        raise QuestionSetError(f"{path} cannot be read: {error.strerror or error}") from error


def questions_path(folder: Path) -> Path:
    """The file with the questions of a set. Raises QuestionSetError if there is none, or there are two."""
    found = [folder / name for name in _FILES.values() if (folder / name).is_file()]
    if len(found) != 1:
        what = "both" if found else "neither"
        raise QuestionSetError(
            f"{folder} has {what} of {' and '.join(_FILES.values())}",
            "a set has one of the two: build it again, or remove the one that is old",
        )
    return found[0]


def open_set_corpus(
    made: QuestionSet, folder: Path, name: str, *, store: Path | None = None
) -> Corpus:
    """A corpus of a set. Raises CorpusError if its files are no longer those that the gold was made for."""
    try:
        entry = made.corpus(name)
    except KeyError as error:
        raise QuestionSetError(
            f"the set {made.name} has no corpus {name!r}",
            f"it has: {', '.join(each.name for each in made.corpora) or 'none'}",
        ) from error
    corpus = open_corpus([folder / path for path in entry.paths], store=store)
    if corpus.version != entry.version:
        raise CorpusError(
            f"the corpus {name} of {made.name} has version {corpus.version}; its gold was made for {entry.version}",
            "restore its files, or build the set again",
        )
    return corpus


def dataset_of(made: QuestionSet) -> "datasets.Dataset":
    """The questions as a dataset."""
    return dataset_of_rows(rows_of(made.questions))


def from_dataset(
    rows: Iterable[Mapping[str, Any]],
    *,
    name: str,
    corpora: Iterable[CorpusEntry],
    made_by: str = "a dataset",
) -> QuestionSet:
    """A set of the rows of a `datasets.Dataset`, streamed or not. Raises QuestionSetError for a malformed row."""
    questions = tuple(questions_of(rows, name))
    return QuestionSet(name=name, made_by=made_by, corpora=tuple(corpora), questions=questions)


def _write_parquet(rows: "datasets.Dataset", path: Path) -> None:
    """The rows with what `datasets` needs to know of their types. Its own writer draws a progress bar."""
    from pyarrow import parquet

    typed = rows.features.arrow_schema.metadata
    parquet.write_table(rows.data.table.replace_schema_metadata(typed), path)


def _of_parquet(path: Path) -> Iterator[Question]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            batches = file.iter_batches(batch_size=_BATCH)
            rows = (row for batch in batches for row in batch.to_pylist())
            yield from questions_of(rows, path.name)
    except (OSError, pa.ArrowInvalid) as error:
        raise QuestionSetError(
            f"{path} cannot be read: {error}", "build the set again, or restore the file"
        ) from error
