"""Plans: read from a reply, put in order, cut without losing the closing step, replaced when there is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.planning import conclusion, fallback, ordered, rescued, step
from signatures import PlannedStep


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
