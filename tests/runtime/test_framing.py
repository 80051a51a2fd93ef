"""Framing: what a question is about, without the words that only ask."""

import pytest

from runtime.lexicon import stems
from runtime.questions.framing import unframed


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
