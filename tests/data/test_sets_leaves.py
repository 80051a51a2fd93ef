"""Single readings: what their gold says is found again in their text by other means."""

import re
from pathlib import Path

import pytest

from data.questions import Question, QuestionSet
from data.sets.drafts import Order
from data.sets.shipped import build_family

LONGEST = 1_200
PLACE = re.compile(r"\b[A-Z][a-z]+(?:den|wick|rel|mark|holt|by|ford|stead|mere|low)\b")
NUMBER = re.compile(r"\b(?:order|request) (\d+)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[QuestionSet, Path]:
    folder = tmp_path_factory.mktemp("leaves")
    made = build_family("leaves", Order(questions=48, store=folder / "store"), folder / "set")
    return made, folder / "set"


def text_of(built: tuple[QuestionSet, Path], question: Question) -> str:
    """The one document that a question is about."""
    made, folder = built
    (path,) = (folder / made.corpus(question.corpus).paths[0]).iterdir()
    return path.read_text(encoding="utf-8")


def test_every_question_has_a_short_document_of_its_own(
    built: tuple[QuestionSet, Path],
) -> None:
    """No longer than one reading, a log and a page of minutes by turns, one in four of each kind without an answer."""
    made, _ = built
    assert len({each.corpus for each in made.questions}) == len(made.questions) == 48
    assert all(len(text_of(built, each)) < LONGEST for each in made.questions)
    for form in ("form:log", "form:minutes"):
        mine = [each for each in made.questions if form in each.tags]
        assert len(mine) == 24
        assert sum(not each.answerable for each in mine) == 6


def test_what_a_log_says_of_a_number_or_an_event_is_what_gold_says(
    built: tuple[QuestionSet, Path],
) -> None:
    """One line has the number that is asked for, and its value; of an event all lines are gold; others look alike."""
    for question in (each for each in built[0].questions if "form:log" in each.tags):
        lines = text_of(built, question).splitlines()
        asked = NUMBER.search(question.question)
        wanted = f" {asked[1]}" if asked else "login failed for "
        meant = [line for line in lines if wanted in line]
        quotes = {span.quote for fact in question.gold for one in fact for span in one}
        assert quotes == set(meant)
        assert all(any(value in line for line in meant) for value in question.answer.values)
        if asked and question.answerable:
            event = re.split(r"[:\d]", meant[0].split("] ")[1])[0].split()[:2]
            assert sum(" ".join(event) in line for line in lines) == 3


def test_what_minutes_say_of_a_subject_is_what_gold_says(built: tuple[QuestionSet, Path]) -> None:
    """The subject stands in one paragraph, which is gold, or in none; another one of its kind stands there too."""
    for question in (each for each in built[0].questions if "form:minutes" in each.tags):
        paragraphs = text_of(built, question).splitlines()
        (subject,) = PLACE.findall(question.question)
        meant = [each for each in paragraphs if subject in each and not each.startswith("#")]
        assert len(meant) == question.answerable
        for fact in question.gold:
            assert all(span.quote in meant[0] for one in fact for span in one)
