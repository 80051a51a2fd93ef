"""Routing: the next move follows from the committed state alone."""

import asyncio
from typing import Any

import pytest

from programs.routing import is_blocked, over_cap, route
from runtime.errors import ModelError
from runtime.events import FramePopped, FramePushed, Planned, Refined, StepCommitted, StepStarted
from runtime.frames import Frame, RunState, Step, fold
from runtime.limits import Limits
from runtime.models.scripted import Reply
from runtime.observations import Observation
from signatures import PlannedStep


def planned(id: str, action: Any = "analyze", targets: Any = (), **fields: Any) -> PlannedStep:
    values = {
        "description": f"Do {id}",
        "patterns": [],
        "query": "",
        "operation": "",
        "depends_on": [],
        **fields,
    }
    return PlannedStep(id=id, action=action, targets=list(targets), **values)


def seen(success: bool = True) -> Observation:
    return Observation(
        success=success,
        error_class="" if success else "timeout",
        error="",
        summary="seen",
        payload=None,
        result_hash="",
    )


def pushed(id: str = "root", parent: str = "", step: str = "") -> FramePushed:
    return FramePushed(
        frame_id=id,
        parent_id=parent,
        parent_step=step,
        depth=1,
        task="t",
        targets=(),
        goal_chain=(),
    )


def plan(*steps: PlannedStep, frame: str = "root") -> Planned:
    return Planned(frame_id=frame, think="", steps=steps, degraded=False)


def started(id: str, frame: str = "root") -> StepStarted:
    return StepStarted(frame_id=frame, step_id=id, attempt=1)


def ended(id: str, status: Any = "completed", frame: str = "root") -> StepCommitted:
    observation = seen(status == "completed")
    return StepCommitted(
        frame_id=frame, step_id=id, status=status, observation=observation, seconds=0.0
    )


def moved(state: RunState, in_flight: int = 8) -> tuple[str, str, list[str]]:
    move = route(state, in_flight)
    return move.move, move.frame.id if move.frame else "", [step.id for step in move.steps]


def test_there_are_three_moves() -> None:
    """17, 19: end, plan a frame, execute at its cursor: the control flow is the runtime's."""
    assert moved(fold([])) == ("end", "", [])
    assert moved(fold([pushed()])) == ("plan", "root", [])
    state = fold([pushed(), plan(planned("a", "compute"), planned("b", "conclude"))])
    assert moved(state) == ("execute", "root", ["a"])


def test_a_stopped_step_is_the_next_one_again() -> None:
    """60, 63, 4.1 (000): the cursor does not pass an action that has begun and not ended."""
    state = fold([pushed(), plan(planned("a", "compute"), planned("b", "conclude")), started("a")])
    assert state.frames["root"].cursor == 0
    assert moved(state) == ("execute", "root", ["a"])


def test_the_parent_is_not_planned_again_after_a_child() -> None:
    """12, 17, 4.1 (000): after a pop the parent goes on behind the step of its child."""
    events = [
        pushed(),
        plan(planned("a", "subtask"), planned("b", "compute"), planned("c", "conclude")),
        pushed("root.a", "root", "a"),
        plan(planned("x", "conclude"), frame="root.a"),
        ended("x", frame="root.a"),
        FramePopped(frame_id="root.a", status="completed", observation=seen()),
    ]
    state = fold(events)
    assert state.stack == ("root",)
    assert state.frames["root"].cursor == 1
    assert moved(state) == ("execute", "root", ["b"])


def test_after_a_refinement_the_remaining_steps_go_on() -> None:
    """17: refinement leads to routing, not to planning."""
    refined = Refined(
        frame_id="root",
        after=("a",),
        decision="revise",
        reason="",
        think="",
        steps=(planned("n", "compute"), planned("c", "conclude")),
        degraded=False,
        called_model=True,
    )
    state = fold(
        [pushed(), plan(planned("a"), planned("b"), planned("c", "conclude")), ended("a"), refined]
    )
    assert [step.id for step in state.frames["root"].steps] == ["a", "n", "c"]
    assert moved(state) == ("execute", "root", ["n"])


@pytest.mark.parametrize(
    ("steps", "together"),
    [
        ([planned("a", "scan"), planned("b", "rank"), planned("c")], ["a", "b", "c"]),
        ([planned("a", "scan"), planned("b", targets=["a"])], ["a"]),
        ([planned("a", "scan"), planned("b", depends_on=["a"])], ["a"]),
        (
            [planned("a", "scan"), planned("b", targets=["x.txt"]), planned("c", targets=["a"])],
            ["a", "b"],
        ),
        ([planned("a", "compute"), planned("b", "scan")], ["a"]),
        ([planned("a", "scan"), planned("b", "compute"), planned("c", "scan")], ["a"]),
        ([planned("a", "subtask"), planned("b", "subtask")], ["a"]),
        ([planned("a", "scan"), planned("b", "conclude")], ["a"]),
        ([planned("a", targets=["c"]), planned("c", "scan")], ["a"]),
    ],
)
def test_only_steps_that_are_certainly_independent_run_together(
    steps: list[PlannedStep], together: list[str]
) -> None:
    """85, 86."""
    assert moved(fold([pushed(), plan(*steps)]))[2] == together


def test_no_more_run_together_than_may_be_in_flight() -> None:
    state = fold([pushed(), plan(*(planned(f"s{n}") for n in range(9)))])
    assert moved(state, in_flight=3)[2] == ["s0", "s1", "s2"]


def frame_of(*steps: tuple[PlannedStep, str]) -> Frame:
    made = tuple(Step(each, status=status) for each, status in steps)  # type: ignore[arg-type]
    return Frame("root", "", "", 1, "t", (), (), planned=True, steps=made)


@pytest.mark.parametrize(
    ("action", "operation", "statuses", "blocked"),
    [
        ("compute", "count", ("completed", "completed"), False),
        ("compute", "count", ("completed", "failed"), True),
        ("compute", "difference", ("completed", "timed_out"), True),
        ("compute", "timeline", ("completed", "failed"), False),
        ("compute", "timeline", ("failed", "blocked"), True),
        ("analyze", "", ("completed", "failed"), False),
        ("analyze", "", ("failed", "failed"), True),
        ("analyze", "", ("completed", "pending"), False),
        ("conclude", "", ("failed", "failed"), False),
    ],
)
def test_a_step_without_what_it_needs_is_blocked(
    action: Any, operation: Any, statuses: tuple[str, str], blocked: bool
) -> None:
    """52, field reports 26, 30 and 38: dependents do not run on failures; those that gather run on what there is."""
    wanted = planned("c", action, targets=["a", "b"], operation=operation)
    now = frame_of((planned("a"), statuses[0]), (planned("b"), statuses[1]), (wanted, "pending"))
    assert is_blocked(now, wanted) is blocked


def test_the_cap_leaves_room_for_the_closing_step() -> None:
    """34: checked where steps are run, whatever was planned."""
    for count in range(6):
        now = frame_of(*((planned(f"s{n}"), "completed") for n in range(count)))
        assert over_cap(now, 4) is (count >= 3)
    skipped = frame_of(*((planned(f"s{n}"), "skipped") for n in range(9)))
    assert not over_cap(skipped, 4)


def test_independent_steps_really_run_at_the_same_time(lab: Any, say: Any) -> None:
    """85: each reader waits for the other; one after the other they would wait for ever."""
    seen: list[str] = []

    def leaf(request: Any) -> Any:
        seen.append(request.inputs["question"])
        return lab.facts(request)

    steps = [say.step("s1", "analyze", query="One?"), say.step("s2", "analyze", query="Two?")]
    ran = lab.ask(lab.model(steps=steps, AnalyzeLeaf=leaf), lab.corpus({"a.txt": "FACT x\n"}))
    kinds = [event.kind for event in ran.events]
    at = kinds.index("step_started")
    assert kinds[at : at + 4] == [
        "step_started",
        "step_started",
        "step_committed",
        "step_committed",
    ]
    refined = [event for event in ran.events if isinstance(event, Refined)]
    assert refined[0].after in (("s1", "s2"), ("s2", "s1"))


def test_dependent_steps_run_one_a_turn(lab: Any, say: Any) -> None:
    """7, 49: exactly one step, then its refinement, then the next."""
    steps = [
        say.step("s1", "scan", patterns=["FACT"]),
        say.step("s2", "analyze", targets=["s1"]),
        say.step("s3", "conclude"),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus({"a.txt": "FACT x\n"}), limits=Limits())
    kinds = [event.kind for event in ran.events]
    assert kinds == [
        "classified",
        "frame_pushed",
        "planned",
        *(["step_started", "step_committed", "refined"] * 3),
        "frame_popped",
        "finished",
    ]


def test_what_ends_one_step_for_good_leaves_no_other_running(lab: Any, say: Any) -> None:
    """DESIGN 4: no call starts after cancel; nothing goes on behind the caller's back."""

    def leaf(request: Any) -> Any:
        if "One?" in request.inputs["question"]:
            return Reply(error="auth")
        return Reply(lab.facts(request), latency=5.0)

    steps = [say.step("s1", "analyze", query="One?"), say.step("s2", "analyze", query="Two?")]
    corpus = lab.corpus({f"{n}.txt": f"FACT {n}\n" for n in range(20)})
    engine = lab.model(steps=steps, AnalyzeLeaf=leaf)
    program = lab.program(engine, limits=Limits(in_flight=4))

    async def run() -> tuple[int, set[Any]]:
        with pytest.raises(ModelError):
            await program.acall(question="What are the facts?", corpus=corpus)
        calls = len(engine.log)
        await asyncio.sleep(0.05)
        return calls, asyncio.all_tasks() - {asyncio.current_task()}

    calls, running = asyncio.run(run())
    assert len(engine.log) == calls
    assert running == set()
    assert lab.runs() == ["interrupted"]


@pytest.mark.parametrize("kind", ["scan", "rank", "analyze"])
def test_the_same_step_twice_in_one_turn_is_done_once(lab: Any, say: Any, kind: str) -> None:
    """S3, 86: doubles are not independent of each other."""
    same = {"patterns": ["FACT"], "query": "What?"}
    steps = [say.step("s1", kind, **same), say.step("s2", kind, **same)]
    ran = lab.ask(lab.model(steps=steps), lab.corpus({"a.txt": "FACT x\n"}))
    assert (ran.statuses()["s1"], ran.statuses()["s2"]) == ("completed", "skipped")
