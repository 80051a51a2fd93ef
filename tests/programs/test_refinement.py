"""Refinement: observations are digested, errors by their class; only the remaining steps are rewritten."""

from typing import Any

import pytest

from programs.refinement import accepted, asks_model, by_class
from runtime.frames import Frame, Step
from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule
from runtime.observations import Observation
from signatures import PlannedStep

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


def planned(id: str, action: Any = "analyze", needs: tuple[str, ...] = ()) -> PlannedStep:
    return PlannedStep(
        id=id,
        description=f"Do {id}",
        action=action,
        patterns=[],
        query="",
        targets=list(needs),
        operation="",
        depends_on=list(needs),
    )


def step(id: str, error: str = "", status: Any = None, **fields: Any) -> Step:
    """An ended step: completed, or failed with an error of a class."""
    seen = Observation(
        success=not error,
        error_class=error,
        error=error,
        summary=error or "done",
        payload=None,
        result_hash="",
    )
    ended = status or ("failed" if error else "completed")
    return Step(planned(id, **fields), status=ended, attempts=1, observation=seen)


def frame(*steps: Step | PlannedStep) -> Frame:
    made = tuple(each if isinstance(each, Step) else Step(each) for each in steps)
    return Frame("root", "", "", 1, "Why?", (), (), planned=True, steps=made)


CLOSE = planned("end", "conclude")


@pytest.mark.parametrize("error", ["timeout", "rate_limit", "unavailable"])
def test_the_original_action_is_tried_again_and_not_the_next(error: str) -> None:
    """27, 4.1 (000): a "retry" built from the next step loses the failed one."""
    failed = step("s1", error, action="scan")
    following = planned("s2", "analyze", needs=("s1",))
    found = by_class(frame(failed, following, CLOSE), [failed], retries=2)
    assert found.decision == "revise"
    assert [each.id for each in found.steps] == ["s1~1", "s2", "end"]
    assert found.steps[0].model_copy(update={"id": "s1"}) == failed.planned
    assert found.steps[1].targets == found.steps[1].depends_on == ["s1~1"]


def test_retries_of_an_action_are_bounded() -> None:
    """80: never unlimited."""
    tried = [step("s1", "timeout"), step("s1~1", "timeout"), step("s1~2", "timeout")]
    for retries, expected in ((3, ["s1~3", "end"]), (2, ["end"]), (0, ["end"])):
        found = by_class(frame(*tried, CLOSE), [tried[-1]], retries=retries)
        assert [each.id for each in found.steps] == expected


def test_a_retry_that_is_due_already_is_not_added_twice() -> None:
    failed = step("s1", "timeout")
    found = by_class(frame(failed, planned("s1~1"), CLOSE), [failed], retries=2)
    assert [each.id for each in found.steps] == ["s1~1", "end"]


@pytest.mark.parametrize("error", ["", "permission", "not_found", "parse_failure", "truncated"])
def test_other_classes_are_not_retried_blindly(error: str) -> None:
    """26, 28: success goes on as planned; what waiting cannot mend is not repeated."""
    seen = step("s1", error)
    found = by_class(frame(seen, planned("s2"), CLOSE), [seen], retries=2)
    assert (found.decision, [each.id for each in found.steps]) == ("keep", ["s2", "end"])


@pytest.mark.parametrize("error", ["permission", "missing_input"])
def test_what_needs_a_permission_or_an_input_is_not_tried_again(error: str) -> None:
    """28: its dependents stay in the plan, to be blocked when their turn comes."""
    refused = step("s1", error)
    found = by_class(frame(refused, planned("s2", needs=("s1",)), CLOSE), [refused], retries=2)
    assert (found.decision, [each.id for each in found.steps]) == ("keep", ["s2", "end"])


def test_finished_steps_cannot_be_changed() -> None:
    """10, 83: a step that reuses the id of a finished one is a new step."""
    now = frame(step("s1"), planned("s2"), CLOSE)
    asked = [planned("s1", "scan"), planned("s3"), CLOSE]
    found = accepted("revise", asked, now, max_steps=9, depth_left=0)
    assert [each.id for each in found.steps] == ["s1.2", "s3", "end"]


def test_an_empty_refinement_keeps_the_plan() -> None:
    """Field report 25: a reply with nothing in it does not wipe the plan."""
    now = frame(step("s1"), planned("s2"), CLOSE)
    blank = planned("x").model_copy(update={"description": " "})
    for asked in ([], [blank], [blank, blank]):
        found = accepted("revise", asked, now, max_steps=9, depth_left=0)
        assert [each.id for each in found.steps] == ["s2", "end"]


def test_finishing_keeps_only_the_closing_step() -> None:
    now = frame(step("s1"), planned("s2"), CLOSE)
    found = accepted("finish", [planned("s3")], now, max_steps=9, depth_left=0)
    assert [each.id for each in found.steps] == ["end"]


def test_a_refinement_cannot_exceed_the_cap_of_the_frame() -> None:
    """33: what has ended counts."""
    now = frame(step("s1"), step("s2"), CLOSE)
    found = accepted("revise", [planned(f"n{i}") for i in range(9)], now, max_steps=4, depth_left=0)
    assert [each.id for each in found.steps] == ["n0", "conclude"]


@pytest.mark.parametrize(
    ("policy", "after_success", "after_failure", "before_the_end"),
    [
        ("always", True, True, True),
        ("on_change", True, True, False),
        ("on_failure", False, True, False),
    ],
)
def test_the_policy_decides_when_the_model_is_asked(
    policy: Any, after_success: bool, after_failure: bool, before_the_end: bool
) -> None:
    """18: always, after what is new, or after failures."""
    good, bad = step("s1"), step("s1", "not_found", status="completed")
    more = (planned("s2"), CLOSE)
    assert asks_model(policy, frame(good, *more), [good], False) is after_success
    assert asks_model(policy, frame(bad, *more), [bad], False) is after_failure
    assert asks_model(policy, frame(good, CLOSE), [good], False) is before_the_end


@pytest.mark.parametrize(("policy", "calls"), [("always", 3), ("on_change", 2), ("on_failure", 0)])
def test_what_a_policy_costs(lab: Any, say: Any, policy: str, calls: int) -> None:
    """18, 71: three steps before the closing one; every policy gives the same answer here."""
    steps = [
        say.step(f"q{n}", "analyze", query=f"Part {n}?", depends_on=[f"q{n - 1}"]) for n in range(3)
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO), refine=policy)
    assert len(ran.asked("Refine")) == calls
    assert ran.answer.receipt.calls == 1 + 1 + 3 * 2 + calls + 1
    assert [each.after for each in ran.state.frames["root"].refinements] == [
        ("q0",),
        ("q1",),
        ("q2",),
        ("conclude",),
    ]
    assert len(ran.answer.claims) == 2


def test_a_failure_is_refined_under_every_policy(lab: Any, say: Any) -> None:
    """11, 18: errors are information for the rest of the plan, not its end."""
    steps = [
        say.step("s1", "scan", patterns=['"absent"']),
        say.step("s2", "analyze"),
        CLOSE.model_dump(),
    ]
    for policy in ("always", "on_change", "on_failure"):
        ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO), refine=policy)
        assert "no line matches" in ran.asked("Refine")[0].prompt
        assert "[[ ## error_class ## ]]\nnot_found" in ran.asked("Refine")[0].prompt


def test_a_revision_replaces_the_remaining_steps(lab: Any, say: Any) -> None:
    """10, 29, 91: delete, add, reorder; the reason is kept; think is updated."""
    steps = [
        say.step("s1", "rank"),
        say.step("s2", "analyze", depends_on=["s1"]),
        CLOSE.model_dump(),
    ]
    new = [say.step("s4", "analyze", targets=["s1"]), say.step("s5", "conclude")]
    rule = Rule(
        signature="Refine",
        times=1,
        reply=say.refine("revise", *new, reason="Too wide.", think_next="Narrow it."),
    )
    ran = lab.ask(lab.model(rule, steps=steps), lab.corpus(TWO), "What of the valve?")
    assert ran.statuses() == {"s1": "completed", "s4": "completed", "s5": "completed"}
    change = ran.state.plan_changes[0]
    assert (change.added, change.removed, change.kept) == (("s4", "s5"), ("s2", "end"), ())
    assert change.refined.reason == "Too wide."
    assert "[[ ## think ## ]]\nNarrow it." in ran.asked("Refine")[1].prompt


def test_a_refinement_that_rewrites_history_only_adds(lab: Any, say: Any) -> None:
    """83, bar 5: the finished step keeps its result; its double is recognized as a repeat."""
    rule = Rule(
        signature="Refine",
        times=1,
        reply=say.refine("revise", say.step("s1", "analyze"), say.step("s2", "conclude")),
    )
    ran = lab.ask(lab.model(rule), lab.corpus(TWO))
    assert ran.statuses() == {"s1": "completed", "s1.2": "skipped", "s2": "completed"}
    assert len(ran.answer.claims) == 2
    assert len(ran.asked("AnalyzeLeaf")) == 2


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("No change, I would say.", id="prose"),
        pytest.param(Reply('{"think_next": "', finish_reason="length"), id="truncated"),
        pytest.param({"think_next": "", "decision": "stop"}, id="unknown decision"),
        pytest.param(Reply(error="context"), id="overflow"),
    ],
)
def test_without_a_usable_refinement_the_plan_stands(lab: Any, reply: Any) -> None:
    """82, field report 25: flagged and warned about, and the attempt counts as one."""
    ran = lab.ask(lab.model(Refine=reply), lab.corpus(TWO))
    assert set(ran.statuses().values()) == {"completed"}
    first = ran.state.frames["root"].refinements[0]
    assert (first.decision, first.degraded, first.called_model) == ("keep", True, True)
    assert ran.warned == ["refine_failed"]
    assert ran.answer.outcome == "answered"


def test_refinements_are_bounded_and_failed_ones_count(lab: Any, say: Any) -> None:
    """80, field report 22: attempts are counted, not successes; the plan is then carried out as it stands."""
    steps = [
        say.step(f"q{n}", "analyze", query=f"Part {n}?", depends_on=[f"q{n - 1}"]) for n in range(5)
    ]
    for reply in (say.refine(), "prose"):
        model = lab.model(steps=steps, Refine=reply)
        ran = lab.ask(model, lab.corpus(TWO), limits=Limits(refinements_per_frame=2))
        asked = [each.called_model for each in ran.state.frames["root"].refinements]
        assert asked.count(True) == 2
        assert ran.warned.count("limit_refinements") == 1
        assert set(ran.statuses().values()) == {"completed"}
