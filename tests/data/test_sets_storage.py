"""A set on the disk: both forms, as a dataset, and what is told when it is damaged."""

import json
from pathlib import Path

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.corpus import Corpus
from data.questions import GoldSpan, Question, TypedAnswer
from data.sets.rows import dataset_of_rows, features, questions_of, rows_of
from data.sets.storage import (
    Form,
    dataset_of,
    from_dataset,
    load_header,
    load_set,
    open_set_corpus,
    save_set,
    stream_questions,
)
from runtime.errors import CorpusError, QuestionSetError
from tests.data.sets_desk import house_set, lamp, rain, write_house


@pytest.fixture
def house(tmp_path: Path) -> Corpus:
    return write_house(tmp_path)


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_set_that_is_saved_and_loaded_is_the_same(
    form: Form, house: Corpus, tmp_path: Path
) -> None:
    made = house_set(house, lamp(house), rain())
    save_set(made, tmp_path, form=form)
    loaded = load_set(tmp_path)
    assert loaded == made
    assert loaded.version == made.version
    assert open_set_corpus(loaded, tmp_path, "house").version == house.version


def test_saving_in_the_other_form_leaves_one_file_of_questions(
    house: Corpus, tmp_path: Path
) -> None:
    made = house_set(house, lamp(house))
    save_set(made, tmp_path, form="parquet")
    save_set(made, tmp_path)
    assert [path.name for path in tmp_path.glob("questions.*")] == ["questions.jsonl"]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_the_same_set_gives_the_same_bytes(form: Form, house: Corpus, tmp_path: Path) -> None:
    made = house_set(house, lamp(house), rain())
    written = []
    for name in ("a", "b"):
        save_set(made, tmp_path / name, form=form)
        written.append([p.read_bytes() for p in sorted((tmp_path / name).iterdir())])
    assert written[0] == written[1]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("streaming", [False, True])
def test_datasets_loads_the_file_of_questions(
    form: Form, streaming: bool, house: Corpus, tmp_path: Path
) -> None:
    """A set is a `datasets.Dataset`, loaded by path, streamed or not."""
    made = house_set(house, lamp(house), rain())
    save_set(made, tmp_path, form=form)
    datasets.disable_progress_bars()
    rows = datasets.load_dataset(
        {"jsonl": "json", "parquet": "parquet"}[form],
        data_files=str(tmp_path / f"questions.{form}"),
        features=features(),
        split="train",
        streaming=streaming,
        cache_dir=str(tmp_path / "cache"),
    )
    assert from_dataset(rows, name="house", corpora=made.corpora, made_by="hand") == made  # type: ignore[arg-type]


def test_a_dataset_has_typed_columns_though_nothing_is_in_them(house: Corpus) -> None:
    empty = house_set(house, lamp(house, gold=(), allowed=(), tags=(), required_partitions=()))
    assert dataset_of(empty).features == dataset_of(house_set(house, rain())).features == features()


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_SPANS = st.builds(
    GoldSpan, source=_TEXTS, start=st.integers(0, 99), end=st.integers(0, 99), quote=_TEXTS
)
_QUESTIONS = st.builds(
    Question,
    id=_TEXTS,
    question=_TEXTS,
    corpus=_TEXTS,
    kind=st.sampled_from(["lookup", "aggregate"]),
    gold=st.lists(st.lists(st.lists(_SPANS, max_size=2), max_size=2), max_size=2),
    answer=st.builds(TypedAnswer, type=st.just("set"), values=st.lists(_TEXTS, max_size=3)),
    answerable=st.booleans(),
    allowed=st.lists(_SPANS, max_size=2),
)


@settings(max_examples=25)
@given(st.lists(_QUESTIONS, max_size=3))
def test_any_question_survives_the_dataset(questions: list[Question]) -> None:
    """CJK and astral characters, line separators, empty lists: langextract#334, InfiniteBench#18."""
    rows = dataset_of_rows(rows_of(questions))
    assert list(questions_of(rows, "rows")) == questions  # type: ignore[arg-type]


def test_questions_can_be_read_one_after_the_other(house: Corpus, tmp_path: Path) -> None:
    save_set(house_set(house, lamp(house), rain()), tmp_path)
    stream = stream_questions(tmp_path)
    assert next(stream).id == "lamp"
    assert next(stream).id == "rain"


def test_a_malformed_line_is_named(house: Corpus, tmp_path: Path) -> None:
    save_set(house_set(house, lamp(house), rain()), tmp_path)
    path = tmp_path / "questions.jsonl"
    lines = path.read_bytes().splitlines()
    broken = json.loads(lines[1])
    broken["answer"]["type"] = "number"
    path.write_bytes(lines[0] + b"\n\n" + json.dumps(broken).encode() + b"\n")
    with pytest.raises(QuestionSetError, match=r"questions\.jsonl, line 3: answer\.type") as raised:
        load_set(tmp_path)
    assert raised.value.hint


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b'{"id": "x"}', b'"\\ud800"'])
def test_no_line_makes_anything_but_a_question_set_error(
    content: bytes, house: Corpus, tmp_path: Path
) -> None:
    save_set(house_set(house, lamp(house)), tmp_path)
    (tmp_path / "questions.jsonl").write_bytes(content + b"\n")
    with pytest.raises(QuestionSetError, match="line 1"):
        load_set(tmp_path)


def test_parquet_that_is_cut_off_is_told(house: Corpus, tmp_path: Path) -> None:
    save_set(house_set(house, lamp(house)), tmp_path, form="parquet")
    path = tmp_path / "questions.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(QuestionSetError, match="cannot be read"):
        load_set(tmp_path)


def test_a_folder_without_a_set_is_told(tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError, match="not a question set"):
        load_set(tmp_path)
    with pytest.raises(QuestionSetError, match="not a question set"):
        load_set(tmp_path / "nowhere")


def test_a_set_without_questions_or_with_two_files_of_them_is_told(
    house: Corpus, tmp_path: Path
) -> None:
    save_set(house_set(house, lamp(house)), tmp_path)
    (tmp_path / "questions.parquet").write_bytes(b"")
    with pytest.raises(QuestionSetError, match="both"):
        load_set(tmp_path)
    for path in tmp_path.glob("questions.*"):
        path.unlink()
    with pytest.raises(QuestionSetError, match="neither"):
        load_set(tmp_path)


def test_a_set_of_another_schema_is_refused(house: Corpus, tmp_path: Path) -> None:
    save_set(house_set(house, lamp(house)), tmp_path)
    header = json.loads((tmp_path / "set.json").read_text())
    assert header["schema"] == 1
    (tmp_path / "set.json").write_text(json.dumps({**header, "schema": 2}))
    with pytest.raises(QuestionSetError, match="schema 2"):
        load_header(tmp_path)


def test_a_corpus_that_changed_is_refused(house: Corpus, tmp_path: Path) -> None:
    made = house_set(house, lamp(house))
    (tmp_path / "corpora" / "house" / "rules.txt").write_text("The lamp is gone.\n")
    with pytest.raises(CorpusError, match="its gold was made for"):
        open_set_corpus(made, tmp_path, "house")
    with pytest.raises(QuestionSetError, match="no corpus 'attic'"):
        open_set_corpus(made, tmp_path, "attic")
