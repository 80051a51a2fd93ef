"""What instructions and demos hold of documents and of test gold is found, however it is wrapped; nothing else is."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.harmless import harmless
from evals.leakage import LONGEST_RUN, MOST_TEXT, PASSAGE, check_leaks
from evals.shared_runs import LEAST, shared_runs
from evals.state_texts import Place, bare, forms
from programs.catalog import PROGRAMS
from programs.program_state import state_of
from runtime.errors import BundleError
from runtime.untrusted import neutralize
from tests.evals.leakage_set import SHARED, SPLITS, LeakageSet, prose, spans, state, turns

Wrap = Callable[[str], str]
WRAPS: dict[str, Wrap] = {
    "as it is": lambda text: text,
    "neutralized": neutralize,
    "harmless": harmless,
    "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON of harmless text": lambda text: json.dumps({"a": harmless(text)}, ensure_ascii=False),
}
wrapped = pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> LeakageSet:
    return LeakageSet(tmp_path_factory.mktemp("leakage") / "docs")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_as_it_is_holds_nothing(desk: LeakageSet, name: str) -> None:
    assert desk.leaks(state_of(PROGRAMS[name].build({}))) == []


def test_a_few_lines_of_train_documents_are_no_leak(desk: LeakageSet) -> None:
    """That is what demos are for."""
    demo = spans(*(desk.train[at : at + 300] for at in (0, 400, 800, 1_200)))
    assert desk.leaks(state(demo, instructions=f"Quote as: {desk.train[:200]}")) == []


@wrapped
@pytest.mark.parametrize("at", [0, 1, 31, 32, 500])
def test_a_long_run_of_any_document_is_found(desk: LeakageSet, wrap: Wrap, at: int) -> None:
    """dspy.md: bootstrapped demos hold whole chunks, labeled ones whole documents."""
    for text in (desk.train, desk.other):
        piece = text[at : at + LONGEST_RUN + 1]
        short = text[at : at + LONGEST_RUN]
        assert "run" in desk.kinds(state(spans(wrap(piece))))
        assert "run" in desk.kinds(state(instructions=f"As in: {wrap(piece)}. Be brief."))
        assert "run" not in desk.kinds(state(spans(f"<{wrap(short)}>")))


def test_a_run_goes_on_from_span_to_span(desk: LeakageSet) -> None:
    """A document that is shown as spans of a few hundred characters is a document all the same."""
    pieces = [desk.train[at : at + 200] for at in (0, 200, 400)]
    (found,) = desk.leaks(state(spans(*pieces)))
    assert (found.kind, found.place, found.subject) == (
        "run",
        Place("analyze_leaf", 1),
        "docs/train.txt",
    )
    assert "600 characters on end of docs/train.txt" in found.message
    assert "run" in desk.kinds(state(spans(*(each.strip() for each in pieces))))
    assert desk.leaks(state(*(spans(each) for each in pieces))) == []
    apart = [desk.train[at : at + 200] for at in (0, 300, 600)]
    assert desk.leaks(state(spans(*apart))) == []


@wrapped
def test_too_much_text_in_all_is_found(desk: LeakageSet, wrap: Wrap) -> None:
    """In pieces of which none is long, of several sources; what a demo repeats counts once."""
    pieces = [
        text[at : at + 150] for text in (desk.train, desk.other) for at in range(0, 1_500, 200)
    ]
    enough = MOST_TEXT // 150
    assert "total" in desk.kinds(state(spans(*map(wrap, pieces[: enough + 1]))))
    assert desk.leaks(state(spans(*map(wrap, pieces[:enough])))) == []
    assert desk.leaks(state(spans(*map(wrap, pieces[:enough] * 2)))) == []
    assert desk.leaks(state(*(spans(*map(wrap, pieces[:enough])) for _ in range(3)))) == []


@wrapped
def test_a_whole_document_is_found_however_short(tmp_path: Any, wrap: Wrap) -> None:
    short = prose("short", 20)
    desk = LeakageSet(tmp_path / "docs", other=f"\n{short}\n\n")
    assert LEAST <= len(short) < LONGEST_RUN
    assert desk.kinds(state(spans(wrap(short.strip())))) == {"whole"}
    assert desk.leaks(state(spans(wrap(short[10:])))) == []


@wrapped
def test_a_passage_of_a_test_document_is_found(desk: LeakageSet, wrap: Wrap) -> None:
    piece = desk.test[300 : 300 + PASSAGE]
    assert desk.kinds(state(spans(wrap(piece)))) == {"passage"}
    assert desk.leaks(state(spans(wrap(piece[:-5])))) == []


def test_what_also_stands_in_a_train_document_is_no_passage(desk: LeakageSet) -> None:
    """Logs and forms repeat themselves across documents."""
    shared = SHARED * 2
    assert len(shared) >= PASSAGE
    assert shared in desk.train
    assert shared in desk.test
    assert desk.leaks(state(spans(shared))) == []
    beyond = desk.test[desk.test.index(SHARED) - 30 :][: len(shared)]
    assert desk.kinds(state(spans(beyond))) == {"passage"}


@wrapped
def test_a_gold_quote_of_a_test_question_is_found(desk: LeakageSet, wrap: Wrap) -> None:
    quote = desk.test[40:90]
    for held in (state(spans(wrap(quote))), state(turns(wrap(quote))), state(instructions=quote)):
        (found,) = desk.leaks(held)
        assert (found.kind, found.subject) == ("quote", "q-test")
        assert quote not in found.message
    assert desk.leaks(state(spans(wrap(desk.train[40:90])))) == []


@wrapped
def test_an_answer_of_a_test_question_is_found(desk: LeakageSet, wrap: Wrap) -> None:
    (found,) = desk.leaks(state(instructions=wrap(f"It was {desk.answer}, as ever.")))
    assert (found.kind, found.subject) == ("answer", "q-test")
    assert found.place == Place("analyze_leaf")
    assert desk.leaks(state(instructions="It was Lieutenant Moss.")) == []


@pytest.mark.parametrize("answer", ["true", "1234567"])
def test_an_answer_that_stands_everywhere_is_none(tmp_path: Any, answer: str) -> None:
    desk = LeakageSet(tmp_path / "docs", answer=answer)
    assert desk.leaks(state(instructions=f"Say {answer} or not.")) == []


def test_an_answer_that_a_train_question_tells_is_no_leak(tmp_path: Any) -> None:
    desk = LeakageSet(tmp_path / "docs", answer="the harbor of Oldenmark")
    desk.made = desk.made.model_copy(
        update={
            "questions": (
                desk.made.questions[0].model_copy(
                    update={"question": "When was the harbor of Oldenmark closed?"}
                ),
                desk.made.questions[1],
            )
        }
    )
    assert desk.leaks(state(instructions="Names such as the harbor of Oldenmark.")) == []


def test_what_was_known_before_is_no_leak(desk: LeakageSet) -> None:
    """A corpus may hold the very instructions, as that of this repository does."""
    held = state(instructions=desk.test[:500] + desk.answer)
    assert {"run", "passage", "quote", "answer"} == {each.kind for each in desk.leaks(held)}
    assert desk.leaks(held, known=held) == []


def test_a_leak_is_told_once_a_place_and_in_order(desk: LeakageSet) -> None:
    piece = desk.test[:500]
    found = desk.leaks(state(spans(piece, piece), spans(piece)))
    told = [(each.kind, each.place.demo) for each in found]
    assert told == [(kind, demo) for demo in (1, 2) for kind in ("passage", "quote", "run")]


def test_leaks_are_refused_in_one_message(desk: LeakageSet) -> None:
    check_leaks(state(), desk.made, desk.corpora, SPLITS)
    held = state(*(spans(desk.test[:500]) for _ in range(3)))
    with pytest.raises(BundleError, match="demo 1 of analyze_leaf holds a passage") as caught:
        check_leaks(held, desk.made, desk.corpora, SPLITS)
    assert "and 4 more" in caught.value.message
    assert caught.value.hint


@given(st.data())
def test_every_run_of_the_least_length_is_found(data: st.DataObject) -> None:
    """Against the plain way to look for them: also where a text repeats itself."""
    letters = st.text(st.sampled_from("ab"), min_size=0, max_size=260)
    source = data.draw(letters)
    start = data.draw(st.integers(0, len(source)))
    piece = source[start : start + data.draw(st.integers(0, 200))]
    text = data.draw(letters) + piece + data.draw(letters)
    found = {(e.at, e.start, e.length) for e in shared_runs([text], [(("c", "s"), source)])}
    for at, begin, length in found:
        assert text[at : at + length] == source[begin : begin + length]
        assert at == 0 or begin == 0 or text[at - 1] != source[begin - 1]
    if len(piece) >= LEAST:
        at = text.index(piece)
        assert any(a <= at and at + len(piece) <= a + n for a, _, n in found)


@given(
    st.integers(0, 900),
    st.integers(LONGEST_RUN + 1, 900),
    st.sampled_from(list(WRAPS)),
    st.integers(),
)
def test_a_planted_run_is_always_found(
    desk: LeakageSet, start: int, length: int, wrap: str, seed: int
) -> None:
    piece = desk.other[start : start + length]
    around = random.Random(seed)
    held = prose(str(around.random()), 30) + WRAPS[wrap](piece) + prose(str(around.random()), 30)
    found = {each.kind for each in desk.leaks(state(spans("Other text.", held)))}
    assert found >= {"run"}


@given(st.text(st.characters(exclude_categories=("Cs",))), st.sampled_from(list(WRAPS)))
def test_every_wrap_is_undone(text: str, wrap: str) -> None:
    assert any(bare(text) in each for each in forms(WRAPS[wrap](text)))


def test_a_large_corpus_of_lines_that_repeat_is_searched_in_time() -> None:
    """A log says the same thing a hundred thousand times, and a demo quotes it: linear in both."""
    line = "2026-03-10 07:00:00 INFO checkout: heartbeat of worker 7 was received in time, all is well\n"
    source = line * 20_000
    found = list(shared_runs([f"A demo: {line}"], [(("logs", "a.log"), source)]))
    assert len(found) >= 1
    assert all(each.length >= len(line) for each in found)
