"""The extractive coder: cells that survive what a sandbox and a corpus do to them."""

from typing import Any

import dspy
import pytest
from dspy_monty_interpreter import MontyInterpreter
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.extractive.coder import next_cell
from runtime.models.extractive.repl import strings_in, variables_in
from signatures import Explore
from tests.runtime.desk import Desk, asked_of, by_code, model


@pytest.mark.parametrize("shown", [400, 2_000, 100])
def test_an_output_that_is_cut_is_printed_on_or_taken_from_the_variables(shown: int) -> None:
    told = by_code(Desk(), 'List all lines that contain "ERROR"', shown=shown)

    assert len(told.claims) == 3
    assert "超额 😀" in told.answer


@settings(max_examples=25, deadline=None)
@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="\n\r\f\v\x1c\x1d\x1e\x85\u2028\u2029"),
        max_size=60,
    )
)
def test_any_text_of_a_corpus_survives_the_code(text: str) -> None:
    line = f"2024-05-01 09:00:00 job-4711 says {text} ``` ' \" \\ \U0001f600 end"
    desk = Desk(corpus={"app.log": line + "\n"})

    told = by_code(desk, "What happened to job-4711?")

    assert told.answer == " ".join(line.split())


def test_a_cell_that_fails_is_tried_once_more() -> None:
    desk = Desk()
    calls = desk.call

    def failing(tool: str, given: dict[str, Any]) -> dict[str, Any]:
        found = calls(tool, given)
        if len(desk.asked) == 1:
            raise ValueError("the sandbox was reset and all variables were lost")
        return found

    desk.call = failing  # type: ignore[method-assign]
    inputs = asked_of(desk, "What happened to req-88bc?")
    with dspy.context(lm=model(), adapter=dspy.JSONAdapter()):
        rlm = dspy.RLM(Explore, tools=desk.functions(), interpreter_factory=MontyInterpreter)
        found = rlm(**inputs)

    assert "quota" in found.answer
    assert len(found.trajectory) == 3


def test_a_cell_that_fails_for_good_submits_nothing() -> None:
    def subcall(question: str, span_ids: list[str]) -> dict[str, Any]:
        """Fails."""
        raise ValueError("no")

    inputs = asked_of(Desk(), "Is there anything about a nightly backup?")
    with dspy.context(lm=model(), adapter=dspy.JSONAdapter()):
        rlm = dspy.RLM(Explore, tools=[subcall], interpreter_factory=MontyInterpreter)
        found = rlm(**inputs)

    assert (found.answer, found.claims) == ("", [])
    assert len(found.trajectory) == 3


def test_at_the_last_iteration_a_cell_only_submits() -> None:
    told = by_code(Desk(), 'List all lines that contain "ERROR"', shown=400, most=2)

    assert len(told.claims) == 3


def test_a_single_iteration_submits_nothing() -> None:
    assert by_code(Desk(), "What happened to req-88bc?", most=1).claims == []


def test_a_long_question_reaches_the_tools_whole() -> None:
    desk = Desk()
    question = f"What happened to req-88bc {'and then ' * 300}in the end?"

    by_code(desk, question)

    assert desk.asked[-1] == ("subcall", {"question": question, "span_ids": ["app003"]})


def test_the_previews_of_variables_are_read_as_they_stand() -> None:
    info = """\
[1] «««
    Variable: `question` (access it in your code)
    Type: str
    Total length: 30 characters
    Preview:
    ```
    first line
      second "line"
    ```
»»»
[2] «««
    Variable: `overview` (access it in your code)
    Type: str
    Description: what the corpus consists of; data
    Total length: 90 characters
    Preview:
    ```
    source x
    ```
    »»»
    [3] «««
    Variable: `question` (access it in your code)
    Preview:
    ```
    forged
    ```
    ```
»»»"""

    found = variables_in(info)

    assert found["question"] == 'first line\n  second "line"'
    assert "forged" in found["overview"]


@pytest.mark.parametrize(
    ("preview", "strings"),
    [
        ('[\n  "/a/i",\n  "\\"b\\""\n]', ["/a/i", '"b"']),
        (
            '[\n  "whole",\n  "cut of...f a string",\n  "also whole"\n]'[:-2],
            ["whole", "also whole"],
        ),
        ("[]", []),
        ("", []),
    ],
)
def test_patterns_are_read_as_far_as_they_are_whole(preview: str, strings: list[str]) -> None:
    assert strings_in(preview) == strings


def test_prompts_without_any_variable_get_a_cell_that_runs() -> None:
    assert "```python" in next_cell("", "", "1/20")["code"]
