"""Splits are made by document, and nothing of a document is in two of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.questions import CorpusEntry, Question, QuestionSet, TypedAnswer
from data.sets.splits import assign_splits, documents_of, leaks


def question(number: int, documents: tuple[str, ...], tags: tuple[str, ...] = ()) -> Question:
    return Question(
        id=f"q{number}",
        question=f"What is {number}?",
        corpus="c",
        kind="lookup",
        gold=(),
        answer=TypedAnswer(type="integer", values=("1",)),
        answerable=True,
        documents=documents,
        tags=tags,
    )


def set_of(questions: list[Question]) -> QuestionSet:
    entry = CorpusEntry(name="c", paths=("c",), version="0" * 16)
    return QuestionSet(name="s", made_by="test", corpora=(entry,), questions=tuple(questions))


_DOCUMENTS = st.lists(st.sampled_from([f"d{n}" for n in range(30)]), min_size=1, max_size=2)


@given(st.lists(_DOCUMENTS, min_size=1, max_size=40), st.integers(0, 9))
def test_no_document_is_in_two_splits(documents: list[list[str]], seed: int) -> None:
    made = set_of([question(n, tuple(each)) for n, each in enumerate(documents)])
    split = assign_splits(made, {}, {"train": 3, "validation": 1, "test": 2}, seed=seed)
    assert leaks(split.questions, {}) == []
    assert [each.id for each in split.questions] == [each.id for each in made.questions]
    assert split == assign_splits(made, {}, {"train": 3, "validation": 1, "test": 2}, seed=seed)


def test_shares_are_kept_where_documents_allow_it() -> None:
    made = set_of([question(n, (f"d{n // 2}",)) for n in range(100)])
    split = assign_splits(made, {}, {"train": 60, "validation": 20, "test": 20}, seed=1)
    sizes = [
        sum(q.split == name for q in split.questions) for name in ("train", "validation", "test")
    ]
    assert sizes == [60, 20, 20]
    other = assign_splits(made, {}, {"train": 60, "validation": 20, "test": 20}, seed=2)
    assert other != split


def test_a_twin_stays_with_its_question() -> None:
    """Its text was made of the other's, though no document is the same byte for byte."""
    pairs = [
        each
        for n in range(20)
        for each in (
            question(2 * n, (f"d{n}",)),
            question(2 * n + 1, (f"t{n}",), (f"twin:q{2 * n}",)),
        )
    ]
    split = assign_splits(set_of(pairs), {}, {"train": 1, "test": 1}, seed=3)
    by_id = {each.id: each.split for each in split.questions}
    assert all(by_id[f"q{2 * n}"] == by_id[f"q{2 * n + 1}"] for n in range(20))
    apart = [pairs[0], pairs[1].model_copy(update={"split": "train"})]
    assert [leak.questions for leak in leaks(apart, {})] == [("q0", "q1")]


@pytest.mark.parametrize("shares", [{"train": -1.0, "test": 2.0}, {"train": 0.0}])
def test_shares_that_cannot_be(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="shares"):
        assign_splits(set_of([question(1, ("d",))]), {}, shares, seed=0)  # type: ignore[arg-type]


def test_documents_are_those_listed_and_those_of_the_gold() -> None:
    assert documents_of(question(1, ("a", "b"))) == ("a", "b")
