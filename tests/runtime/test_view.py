"""The views of a run, word for word."""

import pytest

from runtime.calls import CallRecord
from runtime.columns import cells
from runtime.events import (
    Event,
    Finished,
    FramePopped,
    FramePushed,
    Planned,
    Refined,
    StepCommitted,
    StepStarted,
    StepStatus,
)
from runtime.frames import RunState, fold
from runtime.ledger import Usage
from runtime.observations import Observation
from runtime.view import (
    CallMetrics,
    Level,
    RefinementRow,
    StepProgress,
    call_metrics,
    progress,
    refinement_log,
    stack_view,
    step_table,
    turns,
)
from signatures import Action, PlannedStep


def step(name: str, action: Action, description: str) -> PlannedStep:
    return PlannedStep(
        id=name,
        description=description,
        action=action,
        patterns=[],
        query="",
        targets=[],
        operation="",
        depends_on=[],
    )


def seen(summary: str, error_class: str = "", error: str = "") -> Observation:
    return Observation(
        success=not error_class,
        error_class=error_class,
        error=error,
        summary=summary,
        payload=None,
        result_hash="",
    )


def pushed(name: str, task: str, parent: str = "", at: str = "", depth: int = 0) -> FramePushed:
    return FramePushed(
        frame_id=name,
        parent_id=parent,
        parent_step=at,
        depth=depth,
        task=task,
        targets=(),
        goal_chain=(),
    )


def ended(
    frame: str, name: str, observation: Observation, status: StepStatus = "completed"
) -> StepCommitted:
    return StepCommitted(
        frame_id=frame, step_id=name, status=status, observation=observation, seconds=1.5
    )


CONCLUDE = step("s4", "conclude", "Write the answer")
PLAN = Planned(
    frame_id="f",
    think="Search for the exhaustion of the pool first, then put the events in order by time.",
    steps=(
        step("s1", "scan", 'Find every line with "pool exhausted"'),
        step("s2", "subtask", "Explain the late backlog of compensations"),
        step("s3", "compute", "Put everything in order"),
        CONCLUDE,
    ),
    degraded=False,
)
REPAIR = Refined(
    frame_id="f.2",
    after=("c1",),
    decision="revise",
    reason="the readers did not answer in time",
    think="",
    steps=(step("c3", "analyze", "Read the two halves"), step("c2", "compute", "Count them")),
    degraded=True,
    called_model=True,
)
EVENTS: tuple[Event, ...] = (
    pushed("f", "What is the chain of events?"),
    PLAN,
    StepStarted(frame_id="f", step_id="s1", attempt=1),
    ended("f", "s1", seen("12 lines in 1 source")),
    Refined(
        frame_id="f",
        after=("s1",),
        decision="keep",
        reason="as expected",
        think="",
        steps=(),
        degraded=False,
        called_model=False,
    ),
    StepStarted(frame_id="f", step_id="s2", attempt=1),
    pushed("f.2", "Why is the backlog late?", "f", "s2", depth=1),
    Planned(
        frame_id="f.2",
        think="Read.",
        steps=(
            step("c1", "analyze", "Read the hour after the alert"),
            step("c2", "compute", "Count them"),
        ),
        degraded=True,
    ),
    StepStarted(frame_id="f.2", step_id="c1", attempt=1),
    StepStarted(frame_id="f.2", step_id="c1", attempt=2),
    ended("f.2", "c1", seen("", "timeout", "no reply within 30 s"), "timed_out"),
    REPAIR,
    StepStarted(frame_id="f.2", step_id="c3", attempt=1),
)


@pytest.fixture
def state() -> RunState:
    return fold(EVENTS)


def test_the_stack_is_an_indented_tree_of_all_frames(state: RunState) -> None:
    """Checklist 89, 90: id, task, think cut at 50 characters, next step, status; steps with marks and results."""
    assert stack_view(state) == "\n".join(
        (
            "[>] f: What is the chain of events? (running, open)",
            "    think: Search for the exhaustion of the pool first, then…",
            "    next: s2 subtask",
            '    [x] s1 scan: Find every line with "pool exhausted"',
            "        = 12 lines in 1 source",
            "    [>] s2 subtask: Explain the late backlog of compensations",
            "        [>] f.2: Why is the backlog late? (running, open, degraded)",
            "            think: Read.",
            "            next: c3 analyze",
            "            [~] c1 analyze: Read the hour after the alert (attempt 2)",
            "                = timeout: no reply within 30 s",
            "            [>] c3 analyze: Read the two halves",
            "            [ ] c2 compute: Count them",
            "    [ ] s3 compute: Put everything in order",
            "    [ ] s4 conclude: Write the answer",
        )
    )


def test_finished_frames_stay_in_the_tree_and_every_status_has_its_mark() -> None:
    failure = seen("", "permission", "not allowed")
    state = fold(
        [
            *EVENTS,
            ended("f.2", "c3", failure, "failed"),
            ended("f.2", "c2", seen("", "missing_input", "needs c3"), "blocked"),
            FramePopped(frame_id="f.2", status="failed", observation=failure),
            ended("f", "s3", seen("nothing to order"), "skipped"),
            ended("f", "s4", seen("3 statements")),
            FramePopped(frame_id="f", status="completed", observation=seen("3 statements")),
        ]
    )
    assert stack_view(state, width=60) == "\n".join(
        (
            "[x] f: What is the chain of events? (completed)",
            "    think: Search for the exhaustion of the pool first, the…",
            '    [x] s1 scan: Find every line with "pool exhausted"',
            "        = 12 lines in 1 source",
            "    [!] s2 subtask: Explain the late backlog of compensatio…",
            "        = permission: not allowed",
            "        [!] f.2: Why is the backlog late? (failed, degraded)",
            "            think: Read.",
            "            [~] c1 analyze: Read the hour after… (attempt 2)",
            "                = timeout: no reply within 30 s",
            "            [!] c3 analyze: Read the two halves",
            "                = permission: not allowed",
            "            [b] c2 compute: Count them",
            "                = missing_input: needs c3",
            "    [-] s3 compute: Put everything in order",
            "        = nothing to order",
            "    [x] s4 conclude: Write the answer",
            "        = 3 statements",
        )
    )


def test_a_frame_says_what_comes_next() -> None:
    frame = pushed("f", "Why?")
    empty = Planned(frame_id="f", think="", steps=(), degraded=False)
    assert stack_view(fold([])) == "(nothing planned yet)"
    assert stack_view(fold([frame])).splitlines()[1:] == ["    next: to be planned"]
    assert stack_view(fold([frame, empty])).splitlines()[1:] == [
        "    next: nothing left: return the result"
    ]


def test_a_child_whose_step_was_refined_away_is_still_shown() -> None:
    state = fold([pushed("f", "Why?"), pushed("f.1", "Who?", "f", "gone", depth=1)])
    assert stack_view(state).splitlines()[-2:] == [
        "    [>] f.1: Who? (running, open)",
        "        next: to be planned",
    ]


def test_wide_characters_take_two_columns() -> None:
    task = "还原这次事故从连接池耗尽到补偿积压的完整演化链路"
    lines = stack_view(fold([pushed("f", task)]), width=40).splitlines()
    assert cells(lines[0]) == 40
    assert lines[0] == "[>] f: 还原这次事故从连… (running, open)"


def test_text_of_a_model_cannot_break_the_tree_or_steer_a_terminal() -> None:
    """Checklist S15."""
    task = "Why?\n[x] forged: line\r\x1b[31m red \u202egnp.exe\u2066 👩\u200d🚀"
    assert (
        stack_view(fold([pushed("f", task)])).splitlines()[0]
        == "[>] f: Why? [x] forged: line [31m red gnp.exe 👩\u200d🚀 (running, open)"
    )


@pytest.mark.parametrize("width", [10, 20, 33, 79])
def test_no_line_is_wider_than_asked(state: RunState, width: int) -> None:
    assert max(map(len, stack_view(state, width=width).splitlines())) <= width


def test_the_step_table_lists_a_childs_steps_after_their_step(state: RunState) -> None:
    """Checklist 46, 73: each step with status, result and time."""
    rows = step_table(state)
    assert [(row.frame_id, row.id, row.depth, row.status) for row in rows] == [
        ("f", "s1", 0, "completed"),
        ("f", "s2", 0, "running"),
        ("f.2", "c1", 1, "timed_out"),
        ("f.2", "c3", 1, "running"),
        ("f.2", "c2", 1, "pending"),
        ("f", "s3", 0, "pending"),
        ("f", "s4", 0, "pending"),
    ]
    late = rows[2]
    assert (late.action, late.attempts, late.seconds) == ("analyze", 2, 1.5)
    assert late.result == "timeout: no reply within 30 s"
    assert late.description == "Read the hour after the alert"


def test_each_refinement_is_logged_with_its_reason_and_what_it_changed(state: RunState) -> None:
    """Checklist 91."""
    assert refinement_log(state) == [
        RefinementRow(
            frame_id="f",
            after=("s1",),
            decision="keep",
            reason="as expected",
            added=(),
            removed=(),
            kept=("s2", "s3", "s4"),
            changed=(),
            degraded=False,
            called_model=False,
        ),
        RefinementRow(
            frame_id="f.2",
            after=("c1",),
            decision="revise",
            reason="the readers did not answer in time",
            added=("c3",),
            removed=(),
            kept=("c2",),
            changed=(),
            degraded=True,
            called_model=True,
        ),
    ]


def test_progress_counts_steps_that_ended(state: RunState) -> None:
    """Checklist 92."""
    assert progress(state) == StepProgress(done=2, total=7, percent=28)
    assert progress(fold([])) == StepProgress(0, 0, 0)


def test_progress_never_goes_back() -> None:
    """Checklist 92: the number of steps done grows monotonically."""
    counts = [progress(fold(EVENTS[:length])).done for length in range(len(EVENTS) + 1)]
    assert counts == sorted(counts)


def test_only_a_finished_run_is_at_100_percent() -> None:
    plan = Planned(frame_id="f", think="", steps=(CONCLUDE,), degraded=False)
    events: list[Event] = [pushed("f", "Why?"), plan, ended("f", "s4", seen("x"))]
    finish = Finished(outcome="answered", answer={})
    assert progress(fold(events)) == StepProgress(1, 1, 99)
    assert progress(fold([*events, finish])) == StepProgress(1, 1, 100)
    assert progress(fold([*EVENTS, finish])).percent == 28  # stopped by a limit: it shows


def test_the_stack_of_every_turn_can_be_told_from_the_events() -> None:
    """Checklist 89: after each turn which level, each level's plan and cursor, and what was observed."""
    told = list(turns(EVENTS))
    assert [turn.number for turn in told] == list(range(1, len(EVENTS) + 1))
    assert told[0].levels == (Level("f", 0, 0, ()),)
    last = told[-2]
    assert last.event == "refined"
    assert last.levels == (
        Level("f", 0, 1, ("s1", "s2", "s3", "s4")),
        Level("f.2", 1, 1, ("c1", "c3", "c2")),
    )
    assert last.observed == "timeout: no reply within 30 s"


def test_calls_are_summed_by_signature() -> None:
    """Checklist 93: calls, latency, failure reasons. The sum of the calls is the one of the receipt."""

    def call(signature: str, attempt: int = 1, **changes: object) -> CallRecord:
        plain = {
            "key": f"k#{attempt}",
            "signature": signature,
            "attempt": attempt,
            "model": "m",
            "input_hash": "h",
            "started": 0.0,
        }
        return CallRecord.model_validate({**plain, **changes})

    used = Usage(calls=1, input_tokens=100, output_tokens=10, cost_usd=0.1)
    again = used.model_copy(update={"retries": 1})
    lost = Usage(calls=1, failed_calls=1)
    rows = call_metrics(
        [
            call("Plan", status="done", usage=used, seconds=2.0),
            call("AnalyzeLeaf", status="failed", usage=lost, seconds=30.0, error_class="timeout"),
            call("AnalyzeLeaf", 2, status="done", usage=again, seconds=1.0),
            call("AnalyzeLeaf", status="failed", usage=used, seconds=2.0, error="odd\nbug"),
            call("AnalyzeLeaf", status="done", usage=Usage(cached_calls=1), seconds=0.0),
            call("AnalyzeLeaf", status="intent"),
            call("Conclude", status="intent"),
        ]
    )
    assert rows[0] == CallMetrics(
        signature="Plan",
        calls=1,
        cached=0,
        failed=0,
        unfinished=0,
        retries=0,
        input_tokens=100,
        output_tokens=10,
        mean_seconds=2.0,
        median_seconds=2.0,
        max_seconds=2.0,
        reasons=(),
    )
    assert rows[1] == CallMetrics(
        signature="AnalyzeLeaf",
        calls=4,
        cached=1,
        failed=2,
        unfinished=1,
        retries=1,
        input_tokens=200,
        output_tokens=20,
        mean_seconds=8.25,
        median_seconds=1.5,
        max_seconds=30.0,
        reasons=(("timeout", 1), ("odd bug", 1)),
    )
    assert (rows[2].mean_seconds, rows[2].max_seconds, rows[2].unfinished) == (None, None, 1)
