"""Classification: what the model says of the question, with a floor that code sees in it."""

from typing import Any

import pytest

from programs.classification import scope
from runtime.models.scripted import Reply

TWO = {"a.log": "FACT the valve is open\nnoise\n", "sub/b.log": "nothing\nFACT the pump is off\n"}


@pytest.mark.parametrize(
    ("question", "kind", "requires_all"),
    [
        ("How many lines mention the pump?", "count", True),
        ("Is there any pump?", "existence", True),
        ("List all pumps.", "list", True),
        ("Do the reports contradict each other?", "conflict", True),
        ("How did the incident evolve from start to end?", "timeline", True),
        ("Who opened the valve?", "lookup", False),
    ],
)
def test_a_question_about_everything_is_one_whatever_the_model_says(
    lab: Any, question: str, kind: str, requires_all: bool
) -> None:
    """S1, DESIGN 3: full-quantifier questions may never be answered from a top-k."""
    ran = lab.ask(lab.model(kind="lookup", requires_all=False), lab.corpus(TWO), question)
    assert ran.state.classified.question_kind == kind
    assert ran.state.classified.requires_all is requires_all
    assert ran.state.classified.signals


def test_the_model_may_ask_for_more(lab: Any) -> None:
    """S1: structural signals are a floor, not a ceiling."""
    ran = lab.ask(lab.model(requires_all=True), lab.corpus(TWO), "Who opened the valve?")
    assert ran.state.classified.requires_all
    assert lab.ask(lab.model(kind="list"), lab.corpus(TWO), "Valves?").state.classified.requires_all


def test_quoted_text_is_searched_for_as_it_is(lab: Any) -> None:
    """Bar 2: literal and case-sensitive, also when the model forgets or rewrites it."""
    for patterns in ([], ["failed login"], ['"Failed"', "failed"]):
        ran = lab.ask(lab.model(patterns=patterns), lab.corpus(TWO), 'Who has a "Failed login"?')
        assert '"Failed login"' in ran.state.classified.patterns


def test_a_string_that_the_question_does_not_hold_is_not_one_of_its_own(lab: Any) -> None:
    """A small model takes strings from the overview, or from the headings of the prompt."""
    patterns = ["## question", "2026-03-10", "open  Valve", "/valves?/", "first"]
    ran = lab.ask(lab.model(patterns=patterns), lab.corpus(TWO), "Where is an open valve?")
    assert ran.state.classified.patterns == ("open  Valve", "/valves?/")


@pytest.mark.parametrize(
    "reply",
    [
        "It is a lookup.",
        {"kind": "riddle"},
        Reply("{", finish_reason="length"),
        Reply(error="context"),
    ],
    ids=["prose", "unknown kind", "truncated", "overflow"],
)
def test_without_a_classification_the_structural_signals_decide(lab: Any, reply: Any) -> None:
    """45, 94: the run goes on, and says so."""
    model = lab.model(ClassifyQuestion=reply)
    ran = lab.ask(model, lab.corpus(TWO), 'How many lines mention "pump"?')
    assert ran.state.classified.question_kind == "count"
    assert ran.state.classified.patterns == ('"pump"',)
    assert "classify_failed" in ran.warned


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What happened in a.log?", ("a.log",)),
        ("What happened in A.LOG?", ("a.log",)),
        ("Compare a.log with b.log.", ("a.log", "sub/b.log")),
        ("What is in sub/b.log?", ("sub/b.log",)),
        ("What happened?", ()),
        ("What is in data.log?", ()),
        ("What is in a.log.gz?", ()),
        ("What is in a.log and elsewhere?", ()),
        ("Which errors are not in a.log?", ()),
        ("What is in the files other than a.log?", ()),
        ("a.log 以外还有什么？", ()),
        ("a.log里有什么？", ("a.log",)),
    ],
)
def test_a_question_is_limited_to_the_sources_it_names(
    lab: Any, question: str, named: tuple[str, ...]
) -> None:
    """Unless it asks beyond them."""
    assert scope(question, lab.corpus(TWO)) == named


def test_the_root_keeps_to_the_named_sources(lab: Any) -> None:
    ran = lab.ask(lab.model(), lab.corpus(TWO), "What are the facts of b.log?")
    assert ran.state.frames["root"].targets == ("sub/b.log",)
    assert [claim.citations[0].source for claim in ran.answer.claims] == ["sub/b.log"]
    assert len(ran.asked("AnalyzeLeaf")) == 1
    assert "source a.log" not in ran.asked("Plan")[0].prompt
