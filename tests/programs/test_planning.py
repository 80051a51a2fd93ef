"""Plans: read from a reply, put in order, cut without losing the closing step, replaced when there is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.planning import conclusion, fallback, ordered, rescued, step, with_count
from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule
from signatures import PlannedStep

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


def planned(id: str, action: Any = "analyze", **fields: Any) -> PlannedStep:
    return step(id, f"Do {id}", action).model_copy(update=fields)


def ids(steps: Any) -> list[str]:
    return [each.id for each in steps]


def test_a_plan_ends_with_its_closing_step_wherever_the_model_put_it() -> None:
    """38, 40: one ordered list; the closing step comes last, once."""
    plan = ordered([conclusion("c1"), planned("a"), conclusion("c2"), planned("b")], max_steps=9)
    assert ids(plan.steps) == ["a", "b", "c2"]
    assert plan.warnings == ()


def test_a_plan_without_a_closing_step_gets_one() -> None:
    assert [each.action for each in ordered([planned("a")], max_steps=9).steps] == [
        "analyze",
        "conclude",
    ]


def test_truncation_never_cuts_the_closing_step() -> None:
    """33, 4.1 (002): the last step is the one that writes the answer."""
    plan = ordered([*(planned(f"s{n}") for n in range(100)), conclusion("end")], max_steps=4)
    assert ids(plan.steps) == ["s0", "s1", "s2", "end"]
    assert [code for code, _ in plan.warnings] == ["plan_cut"]
    assert "97 of 101" in plan.warnings[0][1]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_cut_is_reported_only_when_something_was_cut(count: int) -> None:
    """94, 4.1 (002): "limit triggered" is no comment on short plans."""
    plan = ordered([*(planned(f"s{n}") for n in range(count)), conclusion()], max_steps=4)
    assert len(plan.steps) == count + 1
    assert plan.warnings == ()


def test_blank_steps_are_left_out() -> None:
    """43."""
    blank = planned("x", description=" \n", query="")
    assert ids(ordered([blank, planned("a"), blank], max_steps=9).steps) == ["a", "conclude"]


def test_a_search_needs_no_description() -> None:
    """43: what is executable is not blank."""
    bare = planned("x", "scan", description="", patterns=["error"])
    assert ids(ordered([bare], max_steps=9).steps) == ["x", "conclude"]


def test_ids_are_unique_and_references_follow_the_nearest_step_above() -> None:
    """46: a step is an object with an id of its own."""
    plan = ordered(
        [
            planned("s", "scan"),
            planned("s", "analyze", targets=["s"], depends_on=["s"]),
            planned("t", "compute", targets=["s"], depends_on=["s"]),
            planned("", "rank"),
            planned(" ", "rank"),
        ],
        max_steps=9,
    )
    assert ids(plan.steps) == ["s", "s.2", "t", "step", "step.2", "conclude"]
    assert plan.steps[1].targets == ["s"]
    assert plan.steps[2].targets == plan.steps[2].depends_on == ["s.2"]


def test_steps_that_have_ended_are_not_named_again() -> None:
    """83: a finished step keeps its id; a new one gets another, and may depend on it."""
    plan = ordered([planned("s1", depends_on=["s0"])], max_steps=9, taken=["s0", "s1"])
    assert ids(plan.steps) == ["s1.2", "conclude"]
    assert plan.steps[0].depends_on == ["s0"]


def test_dependencies_point_backwards() -> None:
    """40: earlier outputs are later inputs; unknown and later steps are no dependencies."""
    plan = ordered(
        [planned("a", depends_on=["b", "a", "x"]), planned("b", depends_on=["a"])], max_steps=9
    )
    assert [each.depends_on for each in plan.steps[:2]] == [[], ["a"]]
    assert [code for code, _ in plan.warnings] == ["dependency"]


def test_out_of_depth_a_subtask_is_analyzed_in_place() -> None:
    """30."""
    plan = ordered([planned("a", "subtask")], max_steps=9, depth_left=0)
    assert [each.action for each in plan.steps] == ["analyze", "conclude"]
    assert [code for code, _ in plan.warnings] == ["depth"]
    assert ordered([planned("a", "subtask")], max_steps=9, depth_left=1).warnings == ()


names = st.sampled_from(["a", "b", "a.2", "", "conclude", "s1~1"])
any_step = st.builds(
    PlannedStep,
    id=names,
    description=st.sampled_from(["", " ", "Do it"]),
    action=st.sampled_from(["scan", "rank", "read", "analyze", "compute", "conclude", "subtask"]),
    patterns=st.lists(st.just("x"), max_size=1),
    query=st.sampled_from(["", "q"]),
    targets=st.lists(names, max_size=2),
    operation=st.just(""),
    depends_on=st.lists(names, max_size=2),
)


@given(
    steps=st.lists(any_step, max_size=12),
    cap=st.integers(2, 8),
    taken=st.lists(names.filter(bool), max_size=3, unique=True),
    depth=st.integers(0, 2),
)
def test_whatever_a_model_plans_is_made_runnable(
    steps: list[PlannedStep], cap: int, taken: list[str], depth: int
) -> None:
    """30, 33, 40, 46: within the cap, closing step last, ids of its own, dependencies backwards."""
    plan = ordered(steps, max_steps=cap, taken=taken, depth_left=depth)
    assert len(plan.steps) <= cap
    assert [each.action for each in plan.steps].count("conclude") == 1
    assert plan.steps[-1].action == "conclude"
    assert len({*ids(plan.steps), *taken}) == len(plan.steps) + len(taken)
    known = set(taken)
    for each in plan.steps:
        assert set(each.depends_on) <= known
        assert depth or each.action != "subtask"
        known.add(each.id)


STEP = {"id": "s1", "action": "scan", "description": "Scan", "patterns": ["x"]}
GOOD = {"think": "t", "steps": [STEP]}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD, indent=1)}\n```",
        f"Here is my plan:\n\n{json.dumps(GOOD)}\n\nI hope it helps {{really}}.",
        f"```\n{json.dumps(GOOD)}\n``` and more",
        json.dumps({"reply": GOOD}),
    ],
)
def test_a_plan_is_rescued_from_fences_prose_and_one_wrapper(reply: str) -> None:
    """42: strip fences, parse directly, extract the object. Plans only; evidence is never rescued (S7)."""
    think, steps = rescued(reply) or ("", [])
    assert think == "t"
    assert [(each.id, each.action, each.patterns, each.targets) for each in steps] == [
        ("s1", "scan", ["x"], [])
    ]


def test_a_rescue_never_spans_two_objects() -> None:
    """4.1 (002): a greedy brace expression joins two objects into one that is no JSON."""
    first, second = {"think": "none", "note": "{"}, {"think": "two", "steps": [STEP]}
    reply = f"{json.dumps(first)} then {json.dumps(second)} or {json.dumps(GOOD)}"
    assert (rescued(reply) or ("", []))[0] == "two"


@pytest.mark.parametrize(
    "steps",
    [
        "scan the log, then conclude",
        {"1": "scan"},
        ["scan the log", "conclude"],
        [],
        [None, 7, []],
        [{"id": "s1", "action": "sing", "description": "La"}],
        [{"id": "s1", "description": "no action"}],
    ],
)
def test_what_is_no_list_of_steps_is_no_plan(steps: Any) -> None:
    """43, 4.1 (002): steps given as a string are not iterated character by character."""
    assert rescued(json.dumps({"think": "t", "steps": steps})) is None


def test_a_truncated_list_is_not_rescued() -> None:
    """4: a cut list would parse as a valid shorter one."""
    whole = json.dumps({"think": "t", "steps": [STEP, {**STEP, "id": "s2"}]})
    assert all(rescued(whole[:at]) is None for at in range(len(whole)))


@pytest.mark.parametrize(
    ("kind", "patterns", "actions"),
    [
        ("count", ["x"], ["scan", "compute", "conclude"]),
        ("count", [], ["analyze", "conclude"]),
        ("lookup", ["x"], ["scan", "analyze", "conclude"]),
        ("lookup", [], ["rank", "analyze", "conclude"]),
        ("existence", [], ["analyze", "conclude"]),
        ("list", [], ["analyze", "conclude"]),
        ("timeline", ["x"], ["analyze", "compute", "conclude"]),
        ("conflict", [], ["analyze", "compute", "conclude"]),
        ("summary", [], ["rank", "analyze", "conclude"]),
    ],
)
def test_the_fallback_plan_follows_from_the_kind_of_question(
    kind: Any, patterns: list[str], actions: list[str]
) -> None:
    """44: and never ranks for a question that needs everything."""
    steps = fallback(kind, "Why?", patterns, ["a.txt"])
    assert [each.action for each in steps] == actions
    assert ordered(steps, max_steps=9).warnings == ()
    assert steps[0].targets == ["a.txt"]


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


def test_a_plan_for_a_count_that_only_searches_counts_what_it_finds() -> None:
    """A small model plans a search and leaves the counting to the writer, who must not count."""
    search = planned("s1", "scan", patterns=["error"])
    assert [each.action for each in with_count([search, conclusion()])] == [
        "scan",
        "compute",
        "conclude",
    ]
    counted = with_count([search, planned("s2", "rank"), planned("s3", "scan")])
    assert [each.action for each in counted] == ["scan", "rank", "scan", "compute"]
    assert counted[-1].targets == counted[-1].depends_on == ["s1", "s3"]


@pytest.mark.parametrize("action", ["analyze", "compute", "subtask"])
def test_a_plan_for_a_count_that_does_more_is_left_as_it_is(action: Any) -> None:
    plan = [planned("s1", "scan"), planned("s2", action), conclusion()]
    assert with_count(plan) == plan


def test_a_count_is_counted_by_code_though_the_plan_forgot_it(lab: Any, say: Any) -> None:
    steps = [say.step("s1", "scan", patterns=['"FACT"'], targets=["corpus"])]
    model = lab.model(steps=steps, kind="count", patterns=['"FACT"'])
    ran = lab.ask(model, lab.corpus(TWO), 'How many lines mention "FACT"?')
    assert (ran.answer.value, ran.answer.outcome) == (2, "answered")
    assert ran.statuses() == {"s1": "completed", "count": "completed", "conclude": "completed"}


@pytest.mark.parametrize("name", ["corpus", "The whole corpus", "all", "*"])
def test_the_whole_corpus_may_be_named_in_words(lab: Any, say: Any, name: str) -> None:
    ran = lab.ask(lab.model(steps=[say.step("s1", "analyze", targets=[name])]), lab.corpus(TWO))
    assert (ran.statuses()["s1"], ran.answer.coverage.ratio) == ("completed", 1.0)


def test_a_source_with_such_a_name_is_the_source(lab: Any, say: Any) -> None:
    corpus = lab.corpus({"all": "FACT the valve is open\n", "b.txt": "FACT the pump is off\n"})
    ran = lab.ask(lab.model(steps=[say.step("s1", "analyze", targets=["all"])]), corpus)
    assert [each.text for each in ran.answer.claims] == ["It says: FACT the valve is open"]
