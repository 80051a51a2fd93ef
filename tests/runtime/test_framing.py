"""Framing: what a question is about, without the words that only ask."""

import pytest

from runtime.lexicon import stems
from runtime.questions.framing import exceptions, unframed


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("List everything that was said about the buttons.", ["button"]),
        ("What was said about the battery?", ["batteri"]),
        ("How did the price evolve from the start to the end?", ["price"]),
        ("How did the remote control evolve over the meetings?", ["remot", "control"]),
        ("Is there any talk about recycling the plastic?", ["recycl", "plastic"]),
        ("Is there any mention of solar cells?", ["solar", "cell"]),
        ("Please list the pumps. Show me the valves, too.", ["pump", "valv"]),
    ],
)
def test_words_that_only_ask_are_left_out(question: str, about: list[str]) -> None:
    assert stems(unframed(question)) == about


@pytest.mark.parametrize(
    "question",
    [
        "Who developed the plan?",
        "Which progress was made with the list of pumps?",
        "Did the talk about pumps start on time?",
        "What is the first word of the manual?",
        "Which meetings were held over the weeks before the fire?",
        "有多少行提到“battery”？",
        "List everything.",
        "?",
        "",
    ],
)
def test_words_that_say_something_stay(question: str) -> None:
    assert unframed(question).split() == question.split()


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Did any user other than root log in?", ["root"]),
        ("Which hosts except db-1.local failed, apart from the db-2?", ["db-1.local", "db-2"]),
        ("除了root以外还有谁登录？", ["root"]),
        ("Was there another user than root?", []),
        ("", []),
    ],
)
def test_what_a_question_names_as_an_exception(question: str, named: list[str]) -> None:
    assert exceptions(question) == named


def test_an_exception_is_not_what_a_question_is_about() -> None:
    assert stems(unframed("Did any user other than root log in?")) == ["user", "log"]
