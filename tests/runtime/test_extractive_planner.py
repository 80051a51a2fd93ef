import json
from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.extractive.engine import AsyncExtractiveEngine, ExtractiveEngine
from signatures import Plan, PlannedStep

HEAD = "corpus: {n} sources, 9000 lines, 900000 characters, {p} partitions (by time)\n"
SOURCE = "source {id} | log | 3000 lines | 300000 chars | {p} partitions | 2026-03-10T00:00:01 .. 2026-03-10T23:59:58\n"
SERVICES = ("order.log", "stock.log", "pay.log")


def overview(names: tuple[str, ...] = SERVICES, partitions: int = 10, tail: str = "") -> str:
    lines = "".join(SOURCE.format(id=name, p=partitions) for name in names)
    return HEAD.format(n=len(names), p=len(names) * partitions) + lines + tail


def ask(task: str, kind: str, patterns: tuple[str, ...] = (), **changes: Any) -> dspy.Prediction:
    inputs = {
        "task": task,
        "kind": kind,
        "patterns": list(patterns),
        "goal_chain": [],
        "constraints": "the whole corpus",
        "overview": overview(),
        "visited": "nothing yet",
        "history": "nothing yet",
        "budget": "calls: 0 of 200",
        "depth_left": 2,
        "max_steps": 12,
    }
    lm = dspy.LM(
        "spantree/extractive",
        engine=ExtractiveEngine(),
        async_engine=AsyncExtractiveEngine(),
        cache=False,
    )
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        return dspy.Predict(Plan)(**(inputs | changes))


def shape(steps: list[PlannedStep]) -> list[tuple[str, str, list[str]]]:
    return [(step.action, step.operation, step.targets) for step in steps]


def check(steps: list[PlannedStep], max_steps: int) -> None:
    """What holds for every plan."""
    ids = [step.id for step in steps]
    assert len(steps) <= max_steps
    assert steps[-1].action == "conclude"
    assert [step.action for step in steps].count("conclude") == 1
    assert len(set(ids)) == len(ids)
    for at, step in enumerate(steps):
        assert set(step.depends_on) <= set(ids[:at])
        assert not set(step.targets) & set(ids[at:])
        assert step.description


def test_a_count_is_scanned_and_computed() -> None:
    plan = ask('How many lines mention "Failed password"?', "count", ('"Failed password"',))

    assert shape(plan.steps) == [
        ("scan", "", []),
        ("compute", "count", ["s1"]),
        ("conclude", "", []),
    ]
    assert plan.steps[0].patterns == ['"Failed password"']
    assert plan.steps[0].description == 'Scan all sources for "Failed password"'
    assert plan.step_count == 3
    assert plan.think


def test_a_count_without_patterns_scans_for_its_words() -> None:
    assert ask("How many errors are there?", "count").steps[0].patterns == ["error"]
    assert ask("How many lines are there?", "count").steps[0].patterns == ["/^/"]


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ('How many lines per file mention "refused"?', "count_by_source"),
        ('How many "refused" per hour?', "count_by_time"),
        ('Which hour has the most lines with "refused"?', "count_by_time"),
        ("每小时有多少行提到“refused”？", "count_by_time"),
        ("按文件统计“refused”有多少行", "count_by_source"),
        ("How many files mention a timeout?", "count_by_source"),
        ("有多少个文件提到超时？", "count_by_source"),
        ("How many errors were there between 09:00 and 10:00?", "count_by_time"),
        ("11:00之后有多少错误？", "count_by_time"),
    ],
)
def test_counts_can_be_asked_for_by_source_and_by_time(question: str, operation: str) -> None:
    assert ask(question, "count", ('"refused"',)).steps[1].operation == operation


@pytest.mark.parametrize("kind", ["lookup", "existence", "cause", "summary"])
def test_with_patterns_the_matching_lines_are_read(kind: str) -> None:
    plan = ask("What happened to blk_1?", kind, ("blk_1",))

    assert shape(plan.steps) == [
        ("scan", "", []),
        ("analyze", "", ["s1"]),
        ("conclude", "", []),
    ]
    assert plan.steps[1].query == "What happened to blk_1?"


@pytest.mark.parametrize("kind", ["lookup", "cause", "summary"])
def test_without_patterns_the_most_relevant_passages_are_read(kind: str) -> None:
    plan = ask("What did the chair propose?", kind)

    assert shape(plan.steps) == [
        ("rank", "", []),
        ("analyze", "", ["s1"]),
        ("conclude", "", []),
    ]
    assert plan.steps[0].query == "What did the chair propose?"


@pytest.mark.parametrize("kind", ["existence", "list", "conflict", "timeline", "count"])
def test_a_question_about_everything_is_never_answered_from_a_ranking(kind: str) -> None:
    for patterns in ((), ("blk_1",)):
        plan = ask("Is there anything about a dark mode?", kind, patterns)
        assert "rank" not in [step.action for step in plan.steps]


def test_a_list_of_values_is_made_distinct() -> None:
    with_patterns = ask('Which users got "Accepted"?', "list", ('"Accepted"',))
    without = ask("Which services complained?", "list")

    assert shape(with_patterns.steps)[:3] == [
        ("scan", "", []),
        ("analyze", "", ["s1"]),
        ("compute", "distinct", ["s2"]),
    ]
    assert shape(without.steps)[:2] == [("analyze", "", []), ("compute", "distinct", ["s1"])]
    assert [step.action for step in ask("List the decisions", "list").steps] == [
        "analyze",
        "conclude",
    ]


def test_a_timeline_over_sources_becomes_one_subtask_for_each() -> None:
    plan = ask("How did the incident evolve?", "timeline")

    assert [step.action for step in plan.steps] == ["subtask"] * 3 + ["compute", "conclude"]
    assert [step.targets for step in plan.steps[:3]] == [[name] for name in SERVICES]
    assert plan.steps[3].targets == ["s1", "s2", "s3"]
    assert plan.steps[3].operation == "timeline"
    assert "order.log" in plan.steps[0].description


@pytest.mark.parametrize(
    "changes",
    [
        {"depth_left": 0},
        {"max_steps": 4},
        {"overview": overview(("order.log",))},
        {"overview": overview(tail="... 12 more sources (a, b, c)\n")},
        {"overview": ""},
    ],
)
def test_a_timeline_that_cannot_be_split_reads_everything_at_once(changes: dict[str, Any]) -> None:
    plan = ask("How did the incident evolve?", "timeline", **changes)

    assert shape(plan.steps) == [
        ("analyze", "", []),
        ("compute", "timeline", ["s1"]),
        ("conclude", "", []),
    ]


def test_the_child_of_a_timeline_reads_its_source_for_the_question_of_the_parent() -> None:
    question = "How did the incident evolve?"
    query = ask(question, "timeline").steps[1].query
    child = ask(
        query,
        "timeline",
        goal_chain=[question],
        constraints='targets: ["stock.log"]\nresult: claims with evidence',
        overview=overview(("stock.log",)),
        depth_left=1,
    )

    assert shape(child.steps) == [
        ("analyze", "", ["stock.log"]),
        ("compute", "timeline", ["s1"]),
        ("conclude", "", []),
    ]
    assert child.steps[0].query == question


def test_a_timeline_of_an_identifier_scans_for_it() -> None:
    plan = ask("How did blk_1 evolve?", "timeline", ("blk_1",))

    assert [step.action for step in plan.steps] == ["scan", "analyze", "compute", "conclude"]


def test_conflicts_are_computed_over_everything() -> None:
    plan = ask("Which decisions contradict each other?", "conflict")

    assert shape(plan.steps) == [
        ("analyze", "", []),
        ("compute", "conflicts", ["s1"]),
        ("conclude", "", []),
    ]


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ('When did "refused" first appear?', "earliest"),
        ('When was the last "refused" written?', "latest"),
        ("“refused”最早出现在什么时候？", "earliest"),
        ("“refused”最后一次出现是什么时候？", "latest"),
    ],
)
def test_an_extreme_is_computed(question: str, operation: str) -> None:
    plan = ask(question, "lookup", ('"refused"',))

    assert shape(plan.steps)[:2] == [("scan", "", []), ("compute", operation, ["s1"])]


@pytest.mark.parametrize(
    ("question", "patterns"),
    [
        ('When was the first "Failed password" for root?', ['"Failed password"', "root"]),
        ('When was the first "Failed password" from 1.2.3.4?', ['"Failed password"', "1.2.3.4"]),
        ('When was the last "Failed password" recorded?', ['"Failed password"']),
    ],
)
def test_an_extreme_keeps_what_the_question_limits_it_to(
    question: str, patterns: list[str]
) -> None:
    named = ('"Failed password"', *(("1.2.3.4",) if "1.2.3.4" in question else ()))
    assert ask(question, "lookup", named).steps[0].patterns == patterns


def test_last_week_is_no_extreme() -> None:
    plan = ask('Who wrote "refused" last week?', "lookup", ('"refused"',))

    assert plan.steps[1].action == "analyze"


def test_a_source_named_in_the_question_limits_the_search() -> None:
    plan = ask('How many lines of stock.log mention "refused"?', "count", ('"refused"',))

    assert plan.steps[0].targets == ["stock.log"]
    assert plan.steps[0].description == 'Scan stock.log for "refused"'


def test_two_separable_questions_become_two_subtasks() -> None:
    first = 'How many lines mention "Failed password"'
    second = 'how many lines mention "Accepted password"'
    plan = ask(f"{first} and {second}?", "count", ('"Failed password"', '"Accepted password"'))

    assert [step.action for step in plan.steps] == ["subtask", "subtask", "conclude"]
    assert [step.query for step in plan.steps[:2]] == [f"{first}?", f"{second}?"]

    child = ask(
        plan.steps[1].query,
        "count",
        ('"Failed password"', '"Accepted password"'),
        goal_chain=[f"{first} and {second}?"],
    )
    assert child.steps[0].patterns == ['"Accepted password"']


@pytest.mark.parametrize(
    "question",
    [
        'Which user logged in successfully ("Accepted password") and when?',
        'How many lines mention "refused" and how many of these mention 10.0.0.1?',
        "What is the budget and who owns the checkout service?",
    ],
)
def test_questions_that_lean_on_each_other_stay_together(question: str) -> None:
    plan = ask(question, "lookup", ('"refused"',))

    assert "subtask" not in [step.action for step in plan.steps]


def test_a_plan_after_history_gives_new_ids() -> None:
    plan = ask(
        "What is the budget?",
        "lookup",
        history="step s1 (rank): 10 passages\nstep s2r1 (analyze): failed, timeout: 30 s",
    )

    assert [step.id for step in plan.steps] == ["s3", "s4", "s5"]
    check(plan.steps, 12)


def test_a_chinese_question_gets_chinese_descriptions() -> None:
    plan = ask("有多少行提到“登录失败”？", "count", ('"登录失败"',))

    assert plan.steps[0].description == '扫描全部来源，查找 "登录失败"'


@settings(max_examples=60)
@given(
    question=st.text(max_size=300),
    kind=st.sampled_from(
        ["lookup", "count", "existence", "list", "timeline", "conflict", "cause", "summary", "?"]
    ),
    patterns=st.lists(st.text(max_size=20), max_size=3),
    max_steps=st.integers(1, 20),
    depth_left=st.integers(-1, 3),
    sources=st.integers(0, 12),
    constraints=st.text(max_size=60),
)
def test_every_plan_ends_with_conclude_within_the_cap(
    question: str,
    kind: str,
    patterns: list[str],
    max_steps: int,
    depth_left: int,
    sources: int,
    constraints: str,
) -> None:
    names = tuple(f"{n}.log" for n in range(sources))
    plan = ask(
        question,
        kind,
        tuple(patterns),
        overview=overview(names),
        constraints=constraints,
        max_steps=max_steps,
        depth_left=depth_left,
    )

    check(plan.steps, max_steps)
    assert plan.step_count == len(plan.steps)
    assert json.loads(json.dumps([step.model_dump() for step in plan.steps]))
