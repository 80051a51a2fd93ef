from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.extractive.engine import AsyncExtractiveEngine, ExtractiveEngine
from signatures import Plan, PlannedStep, Refine

QUESTION = "What happened to blk_1?"
OVERVIEW = """\
corpus: 2 sources, 9000 lines, 900000 characters, 20 partitions (by time)
source order.log | log | 3000 lines | 300000 chars | 10 partitions | 2026-03-10T00:00:01 .. 2026-03-10T23:59:58
source stock.log | log | 3000 lines | 300000 chars | 10 partitions | 2026-03-10T00:00:01 .. 2026-03-10T23:59:58
"""
ERRORS = (
    "success",
    "timeout",
    "rate_limit",
    "permission",
    "missing_input",
    "parse_failure",
    "context_overflow",
    "truncated",
    "sandbox",
    "not_found",
    "unavailable",
    "repeat",
)


def predict(signature: type[dspy.Signature], **inputs: Any) -> dspy.Prediction:
    lm = dspy.LM(
        "spantree/extractive",
        engine=ExtractiveEngine(),
        async_engine=AsyncExtractiveEngine(),
        cache=False,
    )
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        return dspy.Predict(signature)(**inputs)


def planned(task: str, kind: str, patterns: tuple[str, ...]) -> list[PlannedStep]:
    return predict(
        Plan,
        task=task,
        kind=kind,
        patterns=list(patterns),
        goal_chain=[],
        constraints="the whole corpus",
        overview=OVERVIEW,
        visited="nothing yet",
        history="nothing yet",
        budget="",
        depth_left=2,
        max_steps=12,
    ).steps


def refine(
    observation: str,
    error_class: str,
    remaining: list[PlannedStep],
    *,
    task: str = QUESTION,
    kind: str = "lookup",
    patterns: tuple[str, ...] = ("blk_1",),
    think: str = "The strings are searched for.",
    completed: str = "nothing yet",
    max_steps: int = 12,
) -> dspy.Prediction:
    return predict(
        Refine,
        task=task,
        kind=kind,
        patterns=list(patterns),
        think=think,
        completed=completed,
        observation=observation,
        error_class=error_class,
        remaining=remaining,
        overview=OVERVIEW,
        budget="",
        depth_left=2,
        max_steps=max_steps,
    )


def test_success_keeps_the_plan() -> None:
    steps = planned(QUESTION, "lookup", ("blk_1",))

    reply = refine("step s1 (scan): 12 lines match blk_1", "success", steps[1:])

    assert (reply.decision, reply.steps, reply.step_count) == ("keep", [], 0)
    assert "12 lines match blk_1" in reply.think_next


@pytest.mark.parametrize("error", ["timeout", "rate_limit", "unavailable"])
def test_the_original_action_comes_first_again_not_the_next_one(error: str) -> None:
    """Checklist 27; the seed retried `remaining[0]`, the next step."""
    steps = planned(QUESTION, "lookup", ("blk_1",))

    reply = refine(f"step s1 (scan): failed, {error}: after 30 s", error, steps[1:])

    assert reply.decision == "revise"
    assert [(step.id, step.action) for step in reply.steps] == [
        ("s1r1", "scan"),
        ("s2", "analyze"),
        ("s3", "conclude"),
    ]
    assert reply.steps[0].patterns == ["blk_1"]
    assert reply.steps[1].targets == ["s1r1"]
    assert reply.steps[2].depends_on == ["s1r1", "s2"]


def test_a_second_failure_is_tried_once_more_and_a_third_is_not() -> None:
    steps = planned(QUESTION, "lookup", ("blk_1",))
    second = refine("step s1r1 (scan): timed_out, timeout: 30 s", "timeout", steps[1:])
    third = refine("step s1r2 (scan): timed_out, timeout: 30 s", "timeout", steps[1:])

    assert second.steps[0].id == "s1r2"
    assert third.decision == "keep"


def test_a_retried_step_uses_the_inputs_that_were_obtained_at_last() -> None:
    steps = planned(QUESTION, "lookup", ("blk_1",))
    done = "step s1 (scan): failed, timeout: 30 s\nstep s1r1 (scan): 12 lines match"

    reply = refine("step s2 (analyze): failed, timeout: 30 s", "timeout", steps[2:], completed=done)

    assert reply.steps[0].id == "s2r1"
    assert reply.steps[0].targets == ["s1r1"]


def test_of_several_steps_only_those_that_failed_are_tried_again() -> None:
    question = "How did the incident evolve?"
    steps = planned(question, "timeline", ())
    told = "step s2 (subtask): failed, timeout: 30 s\nstep s1 (subtask): 12 claims returned"

    reply = refine(told, "timeout", steps[2:], task=question, kind="timeline", patterns=())

    assert [step.id for step in reply.steps] == ["s2r1", "s3", "s4"]
    assert reply.steps[0].targets == ["stock.log"]
    assert reply.steps[1].targets == ["s1", "s2r1"]


@pytest.mark.parametrize("kind", ["lookup", "cause", "summary"])
def test_a_lookup_that_finds_nothing_is_widened_once(kind: str) -> None:
    steps = planned(QUESTION, kind, ("blk_1",))
    nothing = "step s1 (scan): 0 lines match blk_1"

    reply = refine(nothing, "not_found", steps[1:], kind=kind)

    assert reply.decision == "revise"
    assert [step.action for step in reply.steps] == ["rank", "analyze", "conclude"]
    assert not {step.id for step in reply.steps} & {"s1", "s2", "s3"}
    assert reply.steps[1].targets == [reply.steps[0].id]
    assert reply.steps[0].query == QUESTION

    again = refine(nothing, "not_found", steps[1:], kind=kind, think=reply.think_next)
    assert again.decision == "keep"
    ranked = refine(
        nothing, "not_found", steps[1:], kind=kind, completed="step s4 (rank): 5 passages"
    )
    assert ranked.decision == "keep"


def test_a_widened_reading_that_times_out_reads_the_ranking_again() -> None:
    steps = planned(QUESTION, "lookup", ("blk_1",))
    widened = refine("step s1 (scan): 0 lines match blk_1", "not_found", steps[1:])
    analyze, closing = widened.steps[1:]

    reply = refine(
        f"step {analyze.id} (analyze): failed, timeout: 30 s",
        "timeout",
        [closing],
        think=widened.think_next,
        completed="step s1 (scan): 0 lines match blk_1\nstep s4 (rank): 5 passages",
    )

    assert reply.steps[0].id == f"{analyze.id}r1"
    assert reply.steps[0].targets == ["s4"]


@pytest.mark.parametrize("kind", ["existence", "count", "list"])
def test_where_absence_is_the_answer_the_search_is_not_widened(kind: str) -> None:
    question = "Is there any blk_1?"
    steps = planned(question, kind, ("blk_1",))

    reply = refine("step s1 (scan): 0 lines", "not_found", steps[1:], task=question, kind=kind)

    assert reply.decision == "keep"


def test_a_ranking_without_hits_is_accepted() -> None:
    steps = planned("What is the budget?", "lookup", ())

    reply = refine("step s1 (rank): nothing is relevant", "not_found", steps[1:], patterns=())

    assert reply.decision == "keep"


@pytest.mark.parametrize("error", ["parse_failure", "context_overflow", "truncated"])
def test_what_the_runtime_has_split_already_is_kept(error: str) -> None:
    steps = planned(QUESTION, "lookup", ("blk_1",))

    assert refine(f"step s2 (analyze): failed, {error}: x", error, steps[2:]).decision == "keep"


@pytest.mark.parametrize("error", ["permission", "missing_input"])
def test_only_what_depends_on_a_blocked_step_is_dropped(error: str) -> None:
    """Checklist 28."""
    steps = [
        step("s2", "analyze", ["s1"]),
        step("s3", "compute", ["s2"]),
        step("s4", "scan", []),
        step("s5", "compute", ["s3", "s4"]),
        step("s6", "conclude", []).model_copy(update={"depends_on": ["s1", "s3", "s5"]}),
    ]

    reply = refine(f"step s1 (scan): failed, {error}: not allowed", error, steps)

    assert reply.decision == "revise"
    assert [each.id for each in reply.steps] == ["s4", "s5", "s6"]
    assert reply.steps[1].targets == ["s4"]
    assert reply.steps[2].depends_on == ["s5"]


def test_a_blocked_step_that_nothing_needs_changes_nothing() -> None:
    steps = [step("s2", "scan", []), step("s3", "conclude", [])]

    assert refine("step s1 (scan): failed, permission: no", "permission", steps).decision == "keep"


def step(id: str, action: Any, targets: list[str]) -> PlannedStep:
    return PlannedStep(
        id=id,
        description=f"Do {action}",
        action=action,
        patterns=["x"] if action == "scan" else [],
        query="",
        targets=targets,
        operation="sort" if action == "compute" else "",
        depends_on=targets,
    )


@pytest.mark.parametrize(
    ("observation", "error"),
    [
        ("step s2 (scan): skipped, repeat: the same as s1", "repeat"),
        ("step s2 (scan): 12 lines\nwarning: repeated action, same result", "success"),
    ],
)
def test_a_repeated_action_finishes(observation: str, error: str) -> None:
    assert refine(observation, error, [step("s3", "conclude", [])]).decision == "finish"


def test_text_of_a_log_about_repeats_is_not_a_warning() -> None:
    told = "step s1 (scan): 3 lines: message repeated 5 times: [ Failed password ]"

    assert refine(told, "success", [step("s3", "conclude", [])]).decision == "keep"


def test_the_thinking_does_not_grow() -> None:
    think = "A plan. " * 20
    for number in range(50):
        think = refine(
            f"step s{number} (scan): {'x' * 300}", "success", [step("s99", "conclude", [])],
            think=think,
        ).think_next  # fmt: skip

    assert len(think) < 800
    assert think.count("Latest:") == 1


@settings(max_examples=40)
@given(
    observation=st.text(max_size=200)
    | st.from_regex(r"step s\d{1,2}(r\d)? \((scan|rank|analyze)\): .*"),
    error=st.sampled_from(ERRORS) | st.text(max_size=10),
    kind=st.sampled_from(["lookup", "count", "timeline", "conflict", "existence"]),
    question=st.text(max_size=100),
    at=st.integers(0, 3),
    max_steps=st.integers(1, 12),
)
def test_every_refinement_ends_with_conclude(
    observation: str, error: str, kind: str, question: str, at: int, max_steps: int
) -> None:
    steps = planned(question, kind, ())
    remaining = [*steps[:-1][at:], steps[-1]]

    reply = refine(
        observation, error, remaining, task=question, kind=kind, patterns=(), max_steps=max_steps
    )

    assert reply.step_count == len(reply.steps)
    assert bool(reply.steps) == (reply.decision == "revise")
    if reply.steps:
        ids = [each.id for each in reply.steps]
        assert reply.steps[-1].action == "conclude"
        assert len(set(ids)) == len(ids) <= max(max_steps, len(remaining))
