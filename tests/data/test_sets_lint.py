"""The linter finds every way in which gold can be wrong, and nothing in a sound set."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpus import Corpus, open_corpus
from data.questions import GoldSpan, Question, QuestionSet, TypedAnswer
from data.sets.lint import CODES, lint, lint_folder, lint_selected
from tests.data.sets_desk import DIARY, RULES, gold, house_set, lamp, rain, write_house


@pytest.fixture
def house(tmp_path: Path) -> Corpus:
    return write_house(tmp_path)


def codes(made: QuestionSet, corpus: Corpus) -> list[str]:
    """The codes of the faults, and the promise that each is described."""
    found = [each.code for each in lint(made, {"house": corpus})]
    assert set(found) <= CODES.keys()
    return found


def of(corpus: Corpus, *questions: Question) -> list[str]:
    return codes(house_set(corpus, *questions), corpus)


def test_a_sound_set_has_no_fault(house: Corpus) -> None:
    assert of(house, lamp(house), rain()) == []


def test_two_questions_with_one_id(house: Corpus) -> None:
    """sgl-eval#39: duplicate ids alias rows."""
    assert of(house, lamp(house), rain(id="lamp")) == ["duplicate_id"]


def test_ids_that_differ_only_in_their_form(house: Corpus) -> None:
    """Non-NFC identical ids."""
    composed, apart = "café", unicodedata.normalize("NFD", "café")
    assert of(house, lamp(house, id=composed), rain(id=apart)) == ["id_form"]
    assert of(house, lamp(house, id=apart)) == ["id_form"]


def test_the_same_question_twice(house: Corpus) -> None:
    twice = lamp(house, id="lamp-2", question=" When is the  lamp lit?")
    assert of(house, lamp(house), twice) == ["duplicate_question"]


def test_two_corpora_with_one_name(house: Corpus) -> None:
    made = house_set(house, lamp(house))
    twice = made.model_copy(update={"corpora": made.corpora * 2})
    assert codes(twice, house) == ["duplicate_corpus"]


@pytest.mark.parametrize(
    "other",
    [
        {"id": " "},
        {"question": "\n"},
        {"tags": ("",)},
        {"answer": TypedAnswer(type="string", values=("",))},
        {"answer": TypedAnswer(type="string", values=("dusk",), accepted=("",))},
        {"gold": ((),)},
    ],
)
def test_texts_without_text(other: dict[str, object], house: Corpus) -> None:
    """Empty strings."""
    assert of(house, lamp(house, **other)) == ["empty"]


def test_an_empty_quote_and_an_empty_alternative(house: Corpus) -> None:
    nothing = GoldSpan(source="rules.txt", start=3, end=3, quote="")
    assert of(house, lamp(house, gold=(((nothing,),),))) == ["empty"]
    assert of(house, lamp(house, gold=(((),),))) == ["empty"]


def test_a_corpus_that_the_set_does_not_have(house: Corpus) -> None:
    assert of(house, lamp(house, corpus="attic")) == ["unknown_corpus"]
    found = lint(house_set(house, lamp(house)), {})
    assert [each.code for each in found] == ["unknown_corpus"]


def test_a_corpus_of_another_version(house: Corpus, tmp_path: Path) -> None:
    """Corpus hash mismatch."""
    made = house_set(house, lamp(house))
    (tmp_path / "corpora" / "house" / "diary.txt").write_text("nothing\n")
    now = open_corpus([tmp_path / "corpora" / "house"])
    assert codes(made, now) == ["corpus_changed"]
    assert [each.code for each in lint_folder(made, tmp_path)] == ["corpus_changed"]


def test_sources_that_are_not_there(house: Corpus) -> None:
    strange = gold("rules.txt", RULES, "The lamp").model_copy(update={"source": "attic.txt"})
    assert of(house, lamp(house, gold=(((strange,),),), documents=())) == ["unknown_source"]
    assert of(house, lamp(house, documents=("rules.txt", "attic.txt"))) == ["unknown_source"]


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 5), (9, 5), (0, len(RULES) + 1)])
def test_a_span_out_of_range(start: int, end: int, house: Corpus) -> None:
    """label-studio#2007: an end beyond the text."""
    span = GoldSpan(source="rules.txt", start=start, end=end, quote="lamp")
    assert of(house, lamp(house, gold=(((span,),),))) == ["span_range"]


def test_a_quote_that_is_not_the_text(house: Corpus) -> None:
    """Offsets in bytes, in UTF-16 units, off by one, and of a copy without CR: label-studio#1347, haystack#403."""
    last = "The lamp is put out at ten."
    start = RULES.index(last)
    wrong = (
        len(RULES[:start].encode()),
        len(RULES[:start].encode("utf-16-le")) // 2,
        start + 1,
    )
    for at in wrong:
        span = GoldSpan(source="rules.txt", start=at, end=at + len(last), quote=last)
        found = of(house, lamp(house, gold=(((span,),),)))
        assert found in (["quote"], ["span_range"])
    folded = DIARY.replace("\r\n", "\n")
    span = gold("diary.txt", folded, "2026-03-03 rain")
    assert of(house, rain(gold=(((span,),),))) == ["quote"]


def test_allowed_spans_are_checked_too(house: Corpus) -> None:
    wrong = gold("rules.txt", RULES, "Keys").model_copy(update={"quote": "Kays"})
    assert of(house, lamp(house, allowed=(wrong,))) == ["quote"]


def test_spans_that_overlap_inside_an_alternative(house: Corpus) -> None:
    first = gold("rules.txt", RULES, "The lamp is lit")
    second = gold("rules.txt", RULES, "lit at dusk.")
    touching = gold("rules.txt", RULES, " at dusk.")
    assert of(house, lamp(house, gold=(((second, first),),))) == ["overlap"]
    assert of(house, lamp(house, gold=(((first, touching),),))) == []
    assert of(house, lamp(house, gold=(((first,), (second,)),))) == []


def test_an_alternative_twice(house: Corpus) -> None:
    span = gold("rules.txt", RULES, "The lamp is lit")
    assert of(house, lamp(house, gold=(((span,), (span,)),))) == ["duplicate_alternative"]


def test_a_fact_twice(house: Corpus) -> None:
    """It would weigh double; in which order its alternatives stand makes no difference."""
    one, other = gold("rules.txt", RULES, "The lamp"), gold("rules.txt", RULES, "Keys")
    fact = ((one,), (other,))
    assert of(house, lamp(house, gold=(fact, fact[::-1]))) == ["duplicate_fact"]
    assert of(house, lamp(house, gold=(fact, ((one,),), ((other,),)))) == []


def test_a_set_without_questions(house: Corpus) -> None:
    assert of(house) == ["no_questions"]


def test_selected_questions_are_linted_alone(house: Corpus) -> None:
    """Only corpora that they are about are opened; what is wrong with other questions is not told."""
    made = house_set(house, lamp(house), rain(gold=()), lamp(house, id="l2", documents=("no.txt",)))
    attic = made.corpora[0].model_copy(update={"name": "attic"})
    made = made.model_copy(update={"corpora": (*made.corpora, attic)})
    opened: list[str] = []

    def corpora(name: str) -> Corpus:
        opened.append(name)
        return house

    assert lint_selected(made, made.questions[:2], corpora) == []
    assert set(opened) == {"house"}
    found = lint_selected(made, made.questions[2:], corpora)
    assert [each.code for each in found] == ["unknown_source", "unlisted_document"]


def test_unanswerable_with_gold_or_an_answer(house: Corpus) -> None:
    nothing = TypedAnswer(type="none")
    fine = lamp(house, answerable=False, kind="unanswerable", gold=(), answer=nothing)
    assert of(house, fine) == []
    assert of(house, lamp(house, answerable=False, answer=nothing)) == ["unanswerable_gold"]
    assert of(house, lamp(house, answerable=False, gold=())) == ["unanswerable_gold"]
    assert of(house, lamp(house, kind="unanswerable")) == ["kind"]


def test_answerable_without_gold(house: Corpus) -> None:
    assert of(house, lamp(house, gold=())) == ["no_gold"]
    zero = TypedAnswer(type="integer", values=("0",))
    assert of(house, rain(gold=(), answer=zero)) == []


@pytest.mark.parametrize(
    ("answer", "sound"),
    [
        (TypedAnswer(type="integer", values=("12",)), True),
        (TypedAnswer(type="integer", values=("-3",)), True),
        (TypedAnswer(type="integer", values=("twelve",)), False),
        (TypedAnswer(type="integer", values=("1", "2")), False),
        (TypedAnswer(type="integer"), False),
        (TypedAnswer(type="date", values=("2026-03-02",)), True),
        (TypedAnswer(type="date", values=("2026-03-02T10:00:01",)), True),
        (TypedAnswer(type="date", values=("2 March",)), False),
        (TypedAnswer(type="boolean", values=("true",)), True),
        (TypedAnswer(type="boolean", values=("yes",)), False),
        (TypedAnswer(type="set", values=("a", "b")), True),
        (TypedAnswer(type="set"), True),
        (TypedAnswer(type="set", values=("a", "a")), False),
        (TypedAnswer(type="none", values=("a",)), False),
    ],
)
def test_answers_of_their_type(answer: TypedAnswer, sound: bool, house: Corpus) -> None:
    assert of(house, lamp(house, answer=answer)) == ([] if sound else ["answer"])


def test_a_partition_that_is_not_there(house: Corpus) -> None:
    assert of(house, lamp(house, required_partitions=("p00000000000",))) == ["unknown_partition"]


def test_gold_outside_of_the_documents(house: Corpus) -> None:
    assert of(house, lamp(house, documents=("diary.txt",))) == ["unlisted_document"]


def test_a_document_in_two_splits(house: Corpus, tmp_path: Path) -> None:
    """Split leakage by document."""
    span = gold("rules.txt", RULES, "The lamp is put out at ten.")
    other = lamp(house, id="out", question="When is it out?", gold=(((span,),),), split="train")
    assert of(house, lamp(house), other) == ["split_leak"]
    assert of(house, lamp(house), rain(split="train")) == []


def test_a_copy_of_a_document_in_another_corpus_leaks_too(house: Corpus, tmp_path: Path) -> None:
    place = tmp_path / "corpora" / "copy"
    place.mkdir()
    (place / "renamed.txt").write_bytes(RULES.encode())
    copy = open_corpus([place])
    fact = (((gold("renamed.txt", RULES, "The lamp is lit at dusk."),),),)
    other = lamp(house, id="copy", corpus="copy", gold=fact, documents=(), split="train")
    other = other.model_copy(update={"required_partitions": ()})
    made = house_set(house, lamp(house), other)
    entry = made.corpora[0].model_copy(update={"name": "copy", "version": copy.version})
    made = made.model_copy(update={"corpora": (*made.corpora, entry)})
    found = lint(made, {"house": house, "copy": copy})
    assert [each.code for each in found] == ["split_leak"]


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return write_house(tmp_path_factory.mktemp("lasting"))


@given(start=st.integers(-5, 110), length=st.integers(-2, 60))
def test_a_span_passes_only_if_its_quote_is_the_slice(
    start: int, length: int, lasting: Corpus
) -> None:
    """Whatever the offsets: sound exactly where the code points from start to end are the quote."""
    quote = "Keys hang in the hall."
    span = GoldSpan(source="rules.txt", start=start, end=start + length, quote=quote)
    at = RULES.index(quote)
    sound = (start, start + length) == (at, at + len(quote))
    assert (of(lasting, lamp(lasting, gold=(((span,),),))) == []) == sound
