"""The planner: a frame gets its steps from the model, from a rescued reply, or from the kind of question."""

import json
from typing import Any

import pytest

from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param("I would first scan the log and then conclude.", id="prose"),
        pytest.param("", id="nothing"),
        pytest.param({"think": "t", "steps": "scan, conclude", "step_count": 2}, id="string"),
        pytest.param({"think": "t", "steps": [], "step_count": 0}, id="empty"),
        pytest.param({"think": "t", "steps": ["scan"], "step_count": 1}, id="strings"),
        pytest.param({"think": "", "step_count": 3}, id="no steps"),
        pytest.param(Reply('{"think": "t", "steps": [', finish_reason="length"), id="truncated"),
        pytest.param(Reply(error="context"), id="overflow"),
    ],
)
def test_without_a_usable_plan_the_run_goes_on_with_a_fallback_that_says_so(
    lab: Any, plan: Any
) -> None:
    """43, 44, 45, 94, 4.1 (002): the run is not killed, and the plan cannot be mistaken for the model's."""
    model = lab.model(kind="existence", Plan=plan)
    ran = lab.ask(model, lab.corpus(TWO))
    assert ran.answer.outcome == "answered"
    assert ran.answer.degraded
    assert ran.state.frames["root"].degraded
    assert "plan_fallback" in ran.warned
    assert [each.planned.action for each in ran.state.frames["root"].steps] == [
        "analyze",
        "conclude",
    ]
    assert len(ran.answer.claims) == 2


def test_only_blank_steps_are_an_empty_plan(lab: Any, say: Any) -> None:
    """43, 4.1 (002): an empty plan does not go straight to a conclusion from nothing."""
    blank = say.step("s1", "analyze", description=" ")
    ran = lab.ask(lab.model(kind="existence", steps=[blank]), lab.corpus(TWO))
    assert "plan_fallback" in ran.warned
    assert len(ran.answer.claims) == 2


def test_a_model_that_asks_to_conclude_at_once_gets_a_fallback(lab: Any, say: Any) -> None:
    """4.1 (000): a task is not passed as done without anything having been done."""
    ran = lab.ask(lab.model(kind="existence", steps=[say.step("s1", "conclude")]), lab.corpus(TWO))
    assert ran.answer.degraded
    assert ran.statuses() == {"s1": "completed", "s2": "completed"}
    assert [call.signature for call in ran.engine.log].count("AnalyzeLeaf") == 2


def test_a_rescued_plan_is_the_models_and_flagged(lab: Any, say: Any) -> None:
    """42: after one retry with the error spelled out; flagged degraded, but not a fallback."""
    plan = say.plan(say.step("mine", "analyze"), say.step("end", "conclude"))
    lenient = json.dumps({**plan, "steps": [{**plan["steps"][0], "extra": 1}]})
    ran = lab.ask(lab.model(Plan=f"Sure!\n```json\n{lenient}\n```"), lab.corpus(TWO))
    assert "mine" in ran.statuses()
    assert ran.answer.degraded
    assert ran.warned == ["plan_rescued"]
    assert len(ran.asked("Plan")) == 2
    assert "retry_feedback" in ran.asked("Plan")[1].prompt


def test_a_list_that_is_shorter_than_it_says_is_asked_for_again(lab: Any, say: Any) -> None:
    """4: the number of steps tells a cut list from a short one."""
    cut = {**say.plan(say.step("cut", "analyze")), "step_count": 5}
    rule = Rule(signature="Plan", times=1, reply=cut)
    ran = lab.ask(lab.model(rule), lab.corpus(TWO))
    assert "cut" not in ran.statuses()
    assert not ran.answer.degraded
    assert ran.warned == []
    assert ran.answer.receipt.retries == 1


def test_a_hundred_steps_are_cut_to_the_cap_and_never_look_like_the_whole(
    lab: Any, say: Any
) -> None:
    """32 to 37, bar 5: in the prompt, after generation and at routing; the result is partial and says why."""
    steps = [
        say.step(f"s{n}", "analyze", query=f"Part {n}?", targets=["a.txt"]) for n in range(100)
    ]
    model = lab.model(steps=[*steps, say.step("end", "conclude")])
    ran = lab.ask(model, lab.corpus(TWO), limits=Limits(steps_per_frame=5))
    assert list(ran.statuses()) == ["s0", "s1", "s2", "s3", "end"]
    assert set(ran.statuses().values()) == {"completed"}
    assert ran.warned == ["plan_cut"]
    assert ran.answer.outcome == "partial"
    assert any("96 of 101" in warning for warning in ran.answer.warnings)
    prompt = ran.asked("Plan")[0].prompt
    assert "[[ ## max_steps ## ]]\n5" in prompt


def test_a_plan_that_fits_the_cap_exactly_is_no_limit(lab: Any, say: Any) -> None:
    """37, 94: nothing is flagged at the boundary itself."""
    steps = [say.step(f"s{n}", "analyze", query=f"Part {n}?") for n in range(4)]
    model = lab.model(steps=[*steps, say.step("end", "conclude")])
    ran = lab.ask(model, lab.corpus(TWO), limits=Limits(steps_per_frame=5))
    assert set(ran.statuses().values()) == {"completed"}
    assert (ran.warned, ran.answer.outcome, ran.answer.degraded) == ([], "answered", False)


def test_a_count_is_counted_by_code_though_the_plan_forgot_it(lab: Any, say: Any) -> None:
    """A small model plans a search and leaves the counting to the writer, who must not count."""
    steps = [say.step("s1", "scan", patterns=['"FACT"']), say.step("s2", "rank", query="facts")]
    model = lab.model(steps=steps, kind="count", patterns=['"FACT"'])
    ran = lab.ask(model, lab.corpus(TWO), 'How many lines mention "FACT"?')
    assert (ran.answer.value, ran.answer.outcome, ran.answer.degraded) == (2, "answered", False)
    assert [*ran.statuses()] == ["s1", "s2", "count", "conclude"]


def test_a_count_of_everything_found_is_one_of_the_searches(lab: Any, say: Any) -> None:
    scan = say.step("s1", "scan", patterns=['"FACT"'], targets=["all"])
    count = say.step("s2", "compute", operation="count", targets=["all"], depends_on=["s1"])
    model = lab.model(steps=[scan, count], kind="count", patterns=['"FACT"'])
    ran = lab.ask(model, lab.corpus(TWO), 'How many lines mention "FACT"?')
    assert ran.answer.value == 2
    assert set(ran.statuses()) == {"s1", "s2", "conclude"}


def test_a_count_that_the_plan_got_wrong_is_made_up_for(lab: Any, say: Any) -> None:
    scan = say.step("s1", "scan", patterns=['"FACT"'])
    wrong = say.step("s2", "compute", targets=["s1"])
    model = lab.model(steps=[scan, wrong], kind="count", patterns=['"FACT"'])
    ran = lab.ask(model, lab.corpus(TWO), 'How many lines mention "FACT"?')
    assert ran.answer.value == 2
    assert ran.statuses()["s2"] == "failed"


@pytest.mark.parametrize("action", ["analyze", "compute"])
def test_a_count_of_something_else_than_lines_is_left_to_the_plan(
    lab: Any, say: Any, action: str
) -> None:
    scan = say.step("s1", "scan", patterns=['"FACT"'])
    other = say.step(
        "s2", action, targets=["s1"], operation="distinct" if action == "compute" else ""
    )
    model = lab.model(steps=[scan, other], kind="count", patterns=['"FACT"'])
    ran = lab.ask(model, lab.corpus(TWO), 'How many different facts has "FACT"?')
    assert "count" not in ran.statuses()


@pytest.mark.parametrize("name", ["corpus", "The whole corpus", "all", "*"])
def test_the_whole_corpus_may_be_named_in_words(lab: Any, say: Any, name: str) -> None:
    ran = lab.ask(lab.model(steps=[say.step("s1", "analyze", targets=[name])]), lab.corpus(TWO))
    assert (ran.statuses()["s1"], ran.answer.coverage.ratio) == ("completed", 1.0)


def test_a_source_with_such_a_name_is_the_source(lab: Any, say: Any) -> None:
    corpus = lab.corpus({"all": "FACT the valve is open\n", "b.txt": "FACT the pump is off\n"})
    ran = lab.ask(lab.model(steps=[say.step("s1", "analyze", targets=["all"])]), corpus)
    assert [each.text for each in ran.answer.claims] == ["It says: FACT the valve is open"]
