"""Closing: what a plan left out is made up for by code before a run concludes. The plans are those of a small model."""

from typing import Any

import pytest

from programs.closing import STUCK
from programs.planning import placed, step

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


def actions(ran: Any) -> list[str]:
    return [each.planned.action for each in ran.state.frames["root"].steps]


@pytest.mark.parametrize("search", ["scan", "rank", "read"])
def test_what_was_found_is_read_before_it_is_concluded_from(
    lab: Any, say: Any, search: str
) -> None:
    """Else the answer would be that there is nothing, after a search that found it."""
    found = say.step("s1", search, patterns=['"FACT"'], query="the FACT", targets=["a.txt"])
    ran = lab.ask(lab.model(steps=[found]), lab.corpus(TWO))
    assert actions(ran) == [search, "analyze", "conclude"]
    assert "It says: FACT the valve is open" in [each.text for each in ran.answer.claims]
    assert not ran.answer.degraded


def test_a_selection_is_no_answer_to_a_question_about_everything(lab: Any, say: Any) -> None:
    """S1: a ranking is followed by the plan by kind of question, and that is told."""
    model = lab.model(kind="list", steps=[say.step("s1", "rank", query="valve")])
    ran = lab.ask(model, lab.corpus(TWO), "List all facts.")
    assert actions(ran) == ["rank", "analyze", "conclude"]
    assert (ran.answer.outcome, ran.answer.coverage.ratio) == ("answered", 1.0)
    assert (ran.answer.degraded, ran.warned) == (True, ["plan_fallback"])


def test_a_search_that_settles_the_question_needs_no_more(lab: Any, say: Any) -> None:
    steps = [say.step("s1", "scan", patterns=['"gasket"'])]
    model = lab.model(kind="existence", patterns=['"gasket"'], steps=steps)
    ran = lab.ask(model, lab.corpus(TWO), 'Is there any "gasket"?')
    assert (ran.answer.outcome, ran.answer.degraded) == ("not_found", False)
    assert not ran.asked("AnalyzeLeaf")
    assert not ran.asked("Conclude"), "a writer that is given nothing can only make something up"


def test_a_search_for_the_wrong_words_does_not_end_the_run(lab: Any, say: Any) -> None:
    """That the words which a model thought of are not there says nothing about the question."""
    steps = [say.step("s1", "scan", patterns=["first", "2026"])]
    model = lab.model(kind="existence", patterns=["first", "2026"], steps=steps)
    ran = lab.ask(model, lab.corpus(TWO), "Is there any open valve?")
    assert ran.answer.outcome == "answered"
    assert ran.answer.degraded


@pytest.mark.parametrize("reader", ["faithful", "prose"])
def test_a_plan_of_which_nothing_can_be_done_is_replaced_once(
    lab: Any, say: Any, reader: str
) -> None:
    """A small model keeps such a plan: the plan by kind of question takes its place, and is told apart."""
    handlers = {} if reader == "faithful" else {"AnalyzeLeaf": reader}
    model = lab.model(steps=[say.step("s1", "read", targets=["nowhere.txt"])], **handlers)
    ran = lab.ask(model, lab.corpus(TWO))
    assert actions(ran)[:3] == ["read", "rank", "analyze"]
    assert ran.warned.count("plan_fallback") == 1
    assert ran.answer.degraded
    assert ran.answer.outcome == ("answered" if reader == "faithful" else "failed")


def test_the_line_of_the_overview_is_the_whole_corpus(lab: Any, say: Any) -> None:
    steps = [say.step("s1", "analyze", targets=["corpus: 2 sources, 4 lines"])]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert (ran.statuses()["s1"], ran.answer.coverage.ratio) == ("completed", 1.0)


@pytest.mark.parametrize("name", ["source a.txt", "source a.txt | text | 2 lines | 27 chars"])
def test_the_line_of_a_source_is_the_source(lab: Any, say: Any, name: str) -> None:
    ran = lab.ask(lab.model(steps=[say.step("s1", "analyze", targets=[name])]), lab.corpus(TWO))
    assert [each.text for each in ran.answer.claims] == ["It says: FACT the valve is open"]


def test_what_is_called_like_that_is_what_is_meant() -> None:
    steps = [
        step("all", "Scan", "scan", targets=["corpus"]),
        step("s2", "Count", "compute", targets=["all", "x"]),
    ]
    assert [each.targets for each in placed(steps, {"corpus"}.__contains__)] == [
        ["corpus"],
        ["all", "x"],
    ]


@pytest.mark.parametrize(("decision", "asked"), [("keep", 1), ("finish", 1), ("revise", 2)])
def test_a_list_that_is_not_used_may_be_miscounted(
    lab: Any, say: Any, decision: str, asked: int
) -> None:
    steps = [say.step("s1", "analyze", targets=["a.txt"]), say.step("s2", "conclude")]
    reply = {**say.refine(decision, say.step("s3", "conclude")), "step_count": 2}
    ran = lab.ask(lab.model(steps=steps, Refine=reply), lab.corpus(TWO))
    assert len(ran.asked("Refine")) == asked


def test_a_plan_that_never_works_is_not_discussed_for_ever(lab: Any, say: Any) -> None:
    """Each refinement is as bad as the plan: the plan by kind of question answers after a few of them."""
    broken = say.step("again", "scan")
    model = lab.model(
        steps=[broken], Refine=say.refine("revise", broken, say.step("end", "conclude"))
    )
    ran = lab.ask(model, lab.corpus(TWO))
    assert len(ran.asked("Refine")) == STUCK - 1
    assert actions(ran) == ["scan"] * STUCK + ["rank", "analyze", "conclude"]
    assert (ran.answer.outcome, ran.answer.degraded) == ("answered", True)
