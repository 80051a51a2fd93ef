"""The fold of events into frames: what is finished is never rewritten, the cursor never leaves the plan."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.events import (
    Classified,
    Event,
    Finished,
    FramePopped,
    FramePushed,
    Planned,
    Refined,
    StepCommitted,
    StepStarted,
    StepStatus,
    Warned,
)
from runtime.frames import ENDED, RunState, apply, fold
from runtime.journal import Journal, RunRecord
from runtime.observations import Observation
from signatures import Action, Decision, PlannedStep


def step(name: str, action: Action = "scan", description: str = "") -> PlannedStep:
    return PlannedStep(
        id=name,
        description=description or f"do {name}",
        action=action,
        patterns=[],
        query="",
        targets=[],
        operation="",
        depends_on=[],
    )


def seen(summary: str, error_class: str = "") -> Observation:
    return Observation(
        success=not error_class,
        error_class=error_class,
        error="it failed" if error_class else "",
        summary=summary,
        payload=None,
        result_hash=summary,
    )


def pushed(name: str, parent: str = "", parent_step: str = "", depth: int = 0) -> FramePushed:
    return FramePushed(
        frame_id=name,
        parent_id=parent,
        parent_step=parent_step,
        depth=depth,
        task=f"task {name}",
        targets=(),
        goal_chain=(),
    )


def planned(name: str, *steps: str) -> Planned:
    return Planned(
        frame_id=name, think="first", steps=tuple(step(each) for each in steps), degraded=False
    )


def begun(name: str, step_id: str, attempt: int = 1) -> StepStarted:
    return StepStarted(frame_id=name, step_id=step_id, attempt=attempt)


def committed(name: str, step_id: str, status: StepStatus = "completed") -> StepCommitted:
    error = "" if status == "completed" else "timeout"
    return StepCommitted(
        frame_id=name, step_id=step_id, status=status, observation=seen(step_id, error), seconds=0.5
    )


def refined(
    name: str, after: str, *steps: PlannedStep, decision: Decision = "revise", think: str = ""
) -> Refined:
    return Refined(
        frame_id=name,
        after=(after,),
        decision=decision,
        reason="because",
        think=think,
        steps=steps,
        degraded=False,
        called_model=True,
    )


def popped(name: str, status: StepStatus = "completed") -> FramePopped:
    return FramePopped(frame_id=name, status=status, observation=seen(f"result of {name}"))


ROOT_PLANNED: tuple[Event, ...] = (pushed("f"), planned("f", "s1", "s2", "s3"))


def statuses(state: RunState, name: str = "f") -> dict[str, str]:
    return {each.id: each.status for each in state.frames[name].steps}


# The root


def test_a_root_frame_is_on_the_stack_and_in_the_registry() -> None:
    """Checklist 4, 5, 16."""
    state = fold([pushed("f")])
    assert state.top is state.frames["f"]
    assert state.stack == ("f",)
    assert not state.frames["f"].planned
    assert (state.frames["f"].task, state.frames["f"].cursor) == ("task f", 0)


def test_the_cursor_is_the_first_step_that_has_not_ended() -> None:
    """Checklist 6, 48, 54: position, status and result change together."""
    state = fold([*ROOT_PLANNED, begun("f", "s1")])
    assert (state.frames["f"].cursor, statuses(state)["s1"]) == (0, "running")
    state = apply(state, committed("f", "s1"))
    assert (state.frames["f"].cursor, statuses(state)["s1"]) == (1, "completed")
    assert state.last_observation == seen("s1")
    assert [each.id for each in state.frames["f"].remaining] == ["s2", "s3"]
    assert state.frames["f"].unrefined == ("s1",)


@pytest.mark.parametrize("status", ["failed", "timed_out", "blocked", "skipped"])
def test_an_outcome_that_is_no_success_keeps_its_name(status: StepStatus) -> None:
    """Checklist 47, 57, 58: a failed step is never recorded as completed; its error is no result."""
    state = fold([*ROOT_PLANNED, committed("f", "s1", status)])
    first = state.frames["f"].steps[0]
    assert first.status == status
    assert first.observation is not None
    assert not first.observation.success


def test_a_second_attempt_is_counted_and_the_step_stays_the_same() -> None:
    """Checklist 27 and section 4.1: the failed action itself is tried again, not the next one."""
    state = fold([*ROOT_PLANNED, begun("f", "s1"), begun("f", "s1", attempt=2)])
    assert [(each.id, each.attempts) for each in state.frames["f"].remaining] == [
        ("s1", 2),
        ("s2", 0),
        ("s3", 0),
    ]


# Refinement


def test_refinement_replaces_the_pending_steps_only() -> None:
    """Checklist 10, 29, 83: what is finished stays, with its result."""
    state = fold([*ROOT_PLANNED, committed("f", "s1")])
    state = apply(state, refined("f", "s1", step("s4"), step("s3"), think="second"))
    assert statuses(state) == {"s1": "completed", "s4": "pending", "s3": "pending"}
    frame = state.frames["f"]
    assert frame.steps[0].observation == seen("s1")
    assert (frame.think, frame.unrefined, len(frame.refinements)) == ("second", (), 1)
    [change] = state.plan_changes
    assert (change.added, change.removed, change.kept, change.changed) == (
        ("s4",),
        ("s2",),
        ("s3",),
        (),
    )


def test_a_step_with_the_same_id_and_other_content_is_a_changed_one() -> None:
    state = fold([*ROOT_PLANNED, committed("f", "s1")])
    state = apply(state, refined("f", "s1", step("s2", description="otherwise"), step("s3")))
    assert state.plan_changes[0].changed == ("s2",)
    assert state.plan_changes[0].kept == ("s3",)


def test_to_keep_the_plan_with_an_empty_list_is_not_to_wipe_it() -> None:
    """Field report 25."""
    state = fold([*ROOT_PLANNED, committed("f", "s1")])
    kept = apply(state, refined("f", "s1", decision="keep"))
    assert kept.frames["f"].steps == state.frames["f"].steps
    assert kept.plan_changes[0].kept == ("s2", "s3")
    assert kept.frames["f"].think == "first"  # an empty think does not erase the former


def test_a_plan_that_is_kept_can_lose_the_steps_that_are_blocked() -> None:
    state = fold([*ROOT_PLANNED, committed("f", "s1", "failed")])
    kept = apply(state, refined("f", "s1", step("s3"), decision="keep"))
    assert statuses(kept) == {"s1": "failed", "s3": "pending"}
    assert (kept.plan_changes[0].kept, kept.plan_changes[0].removed) == (("s3",), ("s2",))


def test_a_refinement_that_names_a_finished_step_neither_doubles_nor_reopens_it() -> None:
    state = fold([*ROOT_PLANNED, committed("f", "s1", "failed")])
    state = apply(state, refined("f", "s1", step("s1"), step("s1", description="new"), step("s2")))
    assert statuses(state) == {"s1": "failed", "s2": "pending"}
    assert len(state.frames["f"].steps) == 2


def test_a_step_that_is_running_is_not_refined_away() -> None:
    state = fold([*ROOT_PLANNED, committed("f", "s1"), begun("f", "s2")])
    state = apply(state, refined("f", "s1", step("s4")))
    assert statuses(state) == {"s1": "completed", "s2": "running", "s4": "pending"}


def test_a_second_plan_of_a_frame_does_not_clear_what_is_finished() -> None:
    """Checklist 83 and section 4.1: a return to planning does not start from scratch."""
    state = fold([*ROOT_PLANNED, committed("f", "s1"), planned("f", "s1", "s5")])
    assert statuses(state) == {"s1": "completed", "s5": "pending"}
    assert state.frames["f"].cursor == 1


def test_an_empty_revision_leaves_only_what_is_finished() -> None:
    state = fold([*ROOT_PLANNED, committed("f", "s1"), refined("f", "s1", decision="finish")])
    assert state.frames["f"].remaining == ()
    assert state.frames["f"].cursor == 1 == len(state.frames["f"].steps)


# Children


CHILD: tuple[Event, ...] = (
    *ROOT_PLANNED,
    begun("f", "s1"),
    pushed("f.1", "f", "s1", depth=1),
    planned("f.1", "c1"),
)


def test_a_child_is_pushed_once_and_its_parents_step_runs() -> None:
    """Checklist 4, 7 and section 4.1: the stack does not double; the work is at its top."""
    state = fold(CHILD)
    assert state.stack == ("f", "f.1")
    assert state.top is state.frames["f.1"]
    parent = state.frames["f"].steps[0]
    assert (parent.status, parent.attempts, state.frames["f"].cursor) == ("running", 1, 0)


def test_a_child_without_a_started_step_counts_as_an_attempt() -> None:
    state = fold([*ROOT_PLANNED, pushed("f.1", "f", "s1", depth=1)])
    assert state.frames["f"].steps[0].attempts == 1


def test_a_child_that_ends_hands_its_result_up_and_the_parent_goes_on() -> None:
    """Checklist 12, 13, 14: popped, result in the parent's step, cursor on, refinement due."""
    state = fold([*CHILD, committed("f.1", "c1"), popped("f.1")])
    frame = state.frames["f"]
    assert state.stack == ("f",)
    assert (frame.cursor, frame.steps[0].status) == (1, "completed")
    assert frame.steps[0].observation == seen("result of f.1") == state.frames["f.1"].result
    assert frame.unrefined == ("s1",)
    assert frame.planned  # section 4.1: not planned anew after a return
    assert set(state.frames) == {"f", "f.1"}  # checklist 16: finished frames stay known


def test_a_child_that_fails_is_no_success_of_the_parents_step() -> None:
    """Section 4.1: a child's result is not always a success."""
    state = fold([*CHILD, popped("f.1", "failed")])
    assert statuses(state)["s1"] == "failed"
    assert state.frames["f.1"].status == "failed"


def test_a_child_does_not_touch_its_parents_plan() -> None:
    """Field report 13; checklist 20."""
    state = fold([*CHILD, committed("f.1", "c1"), refined("f.1", "c1", step("s2"), step("c2"))])
    assert statuses(state) == {"s1": "running", "s2": "pending", "s3": "pending"}
    assert statuses(state, "f.1") == {"c1": "completed", "s2": "pending", "c2": "pending"}


def test_when_the_root_ends_the_stack_is_empty() -> None:
    """Checklist 15."""
    state = fold([*ROOT_PLANNED, popped("f"), Finished(outcome="partial", answer={})])
    assert (state.stack, state.top) == ((), None)
    assert state.finished is not None
    assert state.last_observation == seen("result of f")


def test_what_is_about_the_run_is_kept_beside_the_frames() -> None:
    kind = Classified(
        question_kind="count", requires_all=True, patterns=("x",), signals=(), reason=""
    )
    warning = Warned(frame_id="f", code="limit", message="steps")
    state = fold([kind, pushed("f"), warning, warning])
    assert state.classified == kind
    assert state.warnings == (warning, warning)


def test_applying_an_event_changes_nothing_in_place() -> None:
    """Checklist 55; field report 49."""
    before = fold(ROOT_PLANNED)
    frame, steps = before.frames["f"], before.frames["f"].steps
    after = apply(before, committed("f", "s1"))
    assert before.frames["f"] is frame
    assert frame.steps is steps
    assert statuses(before) == {"s1": "pending", "s2": "pending", "s3": "pending"}
    assert after.frames["f"] is not frame
    with pytest.raises(TypeError):
        before.frames["f"] = frame  # pyright: ignore[reportIndexIssue]


# Any run


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    """The events of a run as a program would make them, from random decisions."""
    events: list[Event] = [pushed("f0")]
    names = iter(range(1, 10_000))
    for _ in range(draw(st.integers(0, 40))):
        state = fold(events)
        frame = state.top
        if frame is None:
            break
        fresh = [f"s{next(names)}" for _ in range(draw(st.integers(0, 3)))]
        if not frame.planned:
            events.append(planned(frame.id, *fresh))
        elif frame.unrefined and draw(st.booleans()):
            old = [each.planned for each in frame.remaining]
            new = draw(st.permutations([*old, *map(step, fresh), *map(step, ["s1", "s2"])]))
            decision: Decision = draw(st.sampled_from(("keep", "revise", "finish")))
            kept = new[: draw(st.integers(0, len(new)))]
            events.append(refined(frame.id, frame.unrefined[-1], *kept, decision=decision))
        elif not frame.remaining:
            events.append(popped(frame.id, draw(st.sampled_from(["completed", "failed"]))))
        elif len(state.stack) < 4 and draw(st.integers(0, 3)) == 0:
            name, at = f"f{next(names)}", frame.steps[frame.cursor].id
            events.append(pushed(name, frame.id, at, depth=frame.depth + 1))
        else:
            at = frame.steps[frame.cursor]
            events.append(begun(frame.id, at.id, at.attempts + 1))
            if draw(st.booleans()):
                events.append(committed(frame.id, at.id, draw(st.sampled_from(sorted(ENDED)))))
    return events


def history(events: list[Event]) -> list[RunState]:
    return list(accumulate(events, apply, initial=RunState()))


@given(runs())
@settings(max_examples=150, deadline=None)
def test_in_any_run_the_cursor_stays_in_the_plan_and_the_stack_is_a_path(
    events: list[Event],
) -> None:
    """Checklist 7, 37, 92 and section 4.1."""
    for state in history(events):
        assert len(set(state.stack)) == len(state.stack)
        parents = [state.frames[each].parent_id for each in state.stack]
        assert parents == (["", *state.stack[:-1]] if state.stack else [])
        for frame in state.frames.values():
            ids = [each.id for each in frame.steps]
            assert len(set(ids)) == len(ids)
            assert 0 <= frame.cursor <= len(frame.steps)
            assert all(each.ended for each in frame.steps[: frame.cursor])


@given(runs())
@settings(max_examples=150, deadline=None)
def test_in_any_run_what_has_ended_stays_as_it_is(events: list[Event]) -> None:
    """Checklist 55, 83."""
    states = history(events)
    for before, after in pairwise(states):
        for name, frame in before.frames.items():
            now = {each.id: each for each in after.frames[name].steps}
            for each in frame.steps:
                if each.ended:
                    assert now[each.id] == each
            assert after.frames[name].refinements[: len(frame.refinements)] == frame.refinements


@given(runs())
@settings(max_examples=60, deadline=None)
def test_in_any_run_the_fold_of_what_was_read_back_is_the_fold_of_what_was_committed(
    events: list[Event],
) -> None:
    """Checklist 48, 59: the state is what the journal says, nothing else has to be remembered."""
    record = RunRecord(
        run_id="r",
        created="",
        program="p",
        program_version=1,
        question="q",
        corpus_version="v",
        corpus_paths=(),
        store="",
        config={},
    )
    with Journal.open(None) as journal:
        journal.admit(record)
        with journal.lease("r") as lease:
            for at in range(0, len(events), 2):
                journal.commit(lease, events[at : at + 2])
        assert journal.events("r") == events
        assert fold(journal.events("r")) == fold(events)
