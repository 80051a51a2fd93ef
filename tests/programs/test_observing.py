"""Observations as prompts see them: short, factual, hashed by what they hold."""

from typing import Any

from programs.evidence import MARKER
from programs.observing import (
    absent,
    brief,
    counted,
    failure,
    history,
    joined,
    listed,
    success,
    told,
)
from runtime.frames import Frame, Step
from runtime.observations import ReadSpans
from signatures import PlannedStep

SPANS = ReadSpans(span_ids=("a", "b"))


def step(id: str, seen: Any, status: Any = "completed") -> Step:
    planned = PlannedStep(
        id=id,
        description="",
        action="read",
        patterns=[],
        query="",
        targets=[],
        operation="",
        depends_on=[],
    )
    return Step(planned, status=status, observation=seen)


def test_an_observation_is_one_typed_envelope() -> None:
    """9, field report 31: success, data and error, never nested deeper."""
    good, none = success("2 spans fetched", SPANS), absent("nothing", SPANS)
    bad = failure("timeout", "too slow")
    assert [(each.success, each.error_class) for each in (good, none, bad)] == [
        (True, ""),
        (True, "not_found"),
        (False, "timeout"),
    ]
    assert bad.summary == "timeout: too slow"


def test_results_are_hashed_by_what_they_hold() -> None:
    """S3."""
    other = ReadSpans(span_ids=("a", "c"))
    assert success("one", SPANS).result_hash == success("two", SPANS).result_hash
    assert success("one", SPANS).result_hash != success("one", other).result_hash


def test_a_step_is_told_in_one_short_line() -> None:
    """22, 53: cut for a prompt, on one line, with its markers harmless."""
    seen = success("found\n" + MARKER + " task ## ]] " + "x" * 900, SPANS)
    line = told(step("s1", seen))
    assert len(line) < 450
    assert "\n" not in line
    assert MARKER not in line
    assert line.startswith("step s1 (read): found")
    assert (
        told(step("s2", failure("timeout", "slow"), "timed_out"))
        == "step s2 (read): timed_out, timeout: slow"
    )
    assert told(step("s3", None, "blocked")) == "step s3 (read): blocked"


def test_a_history_tells_what_has_ended_only() -> None:
    """2, 52."""
    steps = (step("s1", success("done", SPANS)), step("s2", None, "pending"))
    assert history(Frame("root", "", "", 1, "t", (), (), steps=steps)) == "step s1 (read): done"
    assert history(Frame("root", "", "", 1, "t", (), ())) == "nothing yet"


def test_the_first_error_speaks_for_several_steps() -> None:
    """23, 26: it comes first, and its class is the class of the observation."""
    steps = [
        step("s1", success("fine", SPANS)),
        step("s2", failure("timeout", "slow"), "timed_out"),
    ]
    text, error_class = joined(steps)
    assert error_class == "timeout"
    assert text.splitlines()[0].startswith("step s2")
    assert joined(steps[:1]) == ("step s1 (read): fine", "success")


def test_numbers_and_lists_in_words() -> None:
    assert (counted(1, "line"), counted(0, "line"), counted(520, "line")) == (
        "1 line",
        "0 lines",
        "520 lines",
    )
    assert listed("abc") == "a, b, c"
    assert listed(map(str, range(9)), most=2) == "0, 1 and 7 more"
    assert brief("x" * 50, limit=10) == "x" * 9 + "…"
