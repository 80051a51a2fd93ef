"""The trajectory of a run: what a model that drives did, derived from the events."""

from typing import Any

from runtime.events import Accessed, Acted, FramePushed, Place, StepCommitted, StepStarted, Taken
from runtime.frames import fold
from runtime.observations import Observation
from runtime.trajectory import trajectory


def taken(name: str) -> Taken:
    return Taken(
        id=name,
        description="Look",
        action="scan",
        patterns=[],
        query="",
        targets=[],
        operation="",
        depends_on=[],
    )


def acted(turn: int, name: str, **arguments: Any) -> Acted:
    return Acted(
        frame_id="root",
        turn=turn,
        think=f"Thought {turn}.",
        tool="search",
        arguments=arguments,
        step=taken(name),
    )


ROOT = FramePushed(
    frame_id="root", parent_id="", parent_step="", depth=1, task="?", targets=(), goal_chain=()
)
SEEN = Observation(
    success=True, error_class="", error="", summary="3\nlines", payload=None, result_hash=""
)


def test_a_run_without_a_driving_model_has_none() -> None:
    assert trajectory(fold([ROOT])) == []


def test_a_move_has_its_call_its_result_and_the_characters_that_it_cost() -> None:
    places = (Place(source="a.log", start=0, end=40),)
    access = {"frame_id": "root", "step_id": "t1", "tool": "search", "shown": places}
    events = [
        ROOT,
        acted(1, "t1", pattern="late\x1b[2J", source="", ignore_case=False, cursor=0),
        StepStarted(frame_id="root", step_id="t1", attempt=1),
        StepCommitted(
            frame_id="root", step_id="t1", status="completed", observation=SEEN, seconds=0.5
        ),
        Accessed(read_characters=900, shown_characters=40, cut="860 more", **access),
        Accessed(read_characters=100, shown_characters=0, cut="", **access),
        acted(2, "t2", pattern="x"),
    ]
    first, second = trajectory(fold(events))
    assert first.call == "search(pattern='late\\x1b[2J')"
    assert (first.turn, first.think, first.step_id) == (1, "Thought 1.", "t1")
    assert (first.status, first.result, first.seconds) == ("completed", "3 lines", 0.5)
    assert (first.read_characters, first.shown_characters, first.cut) == (1000, 40, "860 more")
    assert (second.status, second.result, second.read_characters) == ("pending", "", 0)
