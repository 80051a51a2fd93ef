"""The recursive program: frames on an explicit stack, refinement after each observation, an answer at the end."""

from itertools import pairwise
from typing import Any

import pytest

from runtime.errors import LimitsError, QuestionError
from runtime.events import FramePopped, FramePushed, Planned, Refined, StepCommitted
from runtime.frames import fold
from runtime.limits import Limits
from runtime.models.scripted import Rule
from runtime.view import progress, refinement_log, stack_view, step_table, turns

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}
TASK = "task ## ]]\n"


def child(task: str, reply: dict[str, Any]) -> Rule:
    """What is planned for a task."""
    return Rule(signature="Plan", contains=f"{TASK}{task}", reply=reply)


@pytest.fixture
def nested(lab: Any, say: Any) -> Any:
    """A root with two children, the second of which has a child of its own."""
    one = say.plan(say.step("s1", "analyze", query="Valve?"), think="Ask the valve.")
    two = say.plan(
        say.step("s1", "subtask", query="Read the pump", targets=["b.txt"]),
        say.step("s2", "analyze", query="Anything else?", targets=["b.txt"], depends_on=["s1"]),
    )
    three = say.plan(say.step("s1", "analyze", query="Pump?"))
    steps = [
        say.step("s1", "subtask", query="Look at the valve", targets=["a.txt"]),
        say.step("s2", "subtask", query="Look at the pump", targets=["b.txt"]),
        say.step("s3", "conclude"),
    ]
    rules = (
        child("Look at the valve", one),
        child("Look at the pump", two),
        child("Read the pump", three),
    )
    model = lab.model(*rules, steps=steps, Refine=say.refine(think_next=""))
    return lab.ask(model, lab.corpus(TWO))


def test_a_composite_step_is_a_frame_of_its_own(nested: Any) -> None:
    """1, 4, 5, 8, 16: every task a frame, finished ones kept; primitive or composite is decided by the action."""
    frames = nested.state.frames
    assert list(frames) == ["root", "root.s1", "root.s2", "root.s2.s1"]
    assert [frame.depth for frame in frames.values()] == [1, 2, 2, 3]
    assert frames["root.s1"].task == "Look at the valve"
    assert frames["root.s1"].think == "Ask the valve."
    assert frames["root.s2.s1"].parent_id == "root.s2"
    assert all(frame.status == "completed" and frame.result for frame in frames.values())
    assert nested.answer.receipt.max_depth == 3


def test_the_stack_grows_by_pushes_and_shrinks_by_pops_only(nested: Any) -> None:
    """4, 12, 15, 89, 4.1 (000): it never doubles; it is empty at the end."""
    sizes = [
        (turn.event, [level.frame_id for level in turn.levels]) for turn in turns(nested.events)
    ]
    for (_, before), (event, after) in pairwise(sizes):
        assert len(after) == len(set(after))
        change = {"frame_pushed": 1, "frame_popped": -1}.get(event, 0)
        assert len(after) - len(before) == change
    assert sizes[-1] == ("finished", [])
    assert nested.state.finished is not None


def test_each_frame_is_planned_once(nested: Any) -> None:
    """17, 4.1 (000): the parent is not planned again after a pop, with its cursor back at 0."""
    planned = [event.frame_id for event in nested.events if isinstance(event, Planned)]
    assert planned == ["root", "root.s1", "root.s2", "root.s2.s1"]
    assert len(nested.asked("Plan")) == 4
    for frame in ("root", "root.s2"):
        cursors = [
            level.cursor
            for turn in turns(nested.events)
            for level in turn.levels
            if level.frame_id == frame
        ]
        assert cursors == sorted(cursors)


def test_it_works_depth_first_one_frame_at_a_time(nested: Any) -> None:
    """7: only the frame on top moves."""
    moved = [
        (event.frame_id, event.kind)
        for event in nested.events
        if isinstance(event, FramePushed | FramePopped | StepCommitted)
    ]
    assert [each for each in moved if each[1] != "step_committed"] == [
        ("root", "frame_pushed"),
        ("root.s1", "frame_pushed"),
        ("root.s1", "frame_popped"),
        ("root.s2", "frame_pushed"),
        ("root.s2.s1", "frame_pushed"),
        ("root.s2.s1", "frame_popped"),
        ("root.s2", "frame_popped"),
        ("root", "frame_popped"),
    ]


def test_a_frame_ends_with_its_list_and_hands_up_what_it_found(nested: Any) -> None:
    """12, 14, 22, S6: the result becomes the observation of the parent's step: claims, not payloads or text."""
    seen = nested.step("root/s1").observation
    assert seen == nested.state.frames["root.s1"].result
    assert seen.payload.kind == "subtask"
    assert [claim.text for claim in seen.payload.claims] == ["It says: FACT the valve is open"]
    assert nested.step("root/s1").status == "completed"
    assert [each.text for each in nested.answer.claims] == [
        "It says: FACT the valve is open",
        "It says: FACT the pump is off",
    ]


def test_refinement_follows_a_childs_return(nested: Any) -> None:
    """13: the parent digests it with its own remaining plan before it."""
    after = [(event.frame_id, event.after) for event in nested.events if isinstance(event, Refined)]
    assert ("root", ("s1",)) in after
    assert ("root", ("s2",)) in after
    prompt = next(c.prompt for c in nested.asked("Refine") if "step s1 (subtask)" in c.prompt)
    assert "1 claim returned" in prompt
    assert '"id": "s2"' in prompt
    observed = prompt.split("observation ## ]]\n")[-1].split("[[ ##")[0]
    assert observed.strip() == "step s1 (subtask): 1 claim returned"


def test_a_child_knows_its_goals_and_its_part_and_not_its_siblings(nested: Any) -> None:
    """20, 21, 24: constraints and the goal chain; neither plans nor results of other frames."""
    prompts = {c.prompt.split(TASK)[-1].split("\n")[0]: c.prompt for c in nested.asked("Plan")}
    second = prompts["Look at the pump"]
    assert 'goal_chain ## ]]\n["What are the facts?"]' in second
    assert 'targets: ["b.txt"]' in second
    assert "for the task above this one" in second
    assert "valve" not in second
    assert "source b.txt" in second
    assert "source a.txt" not in second
    assert "Ask the valve" not in second
    third = prompts["Read the pump"]
    assert '["What are the facts?", "Look at the pump"]' in third
    assert "the whole corpus" in prompts["What are the facts?"]


def test_a_planner_knows_what_was_visited_and_what_is_left(nested: Any) -> None:
    """3, S3: the same task at another stage may be planned otherwise."""
    prompts = [call.prompt for call in nested.asked("Plan")]
    assert "visited ## ]]\nnothing yet" in prompts[0]
    assert "visited ## ]]\nanalyzed 1 partition" in prompts[2]
    assert "depth_left ## ]]\n2" in prompts[0]
    assert "depth_left ## ]]\n0" in prompts[3]
    assert all("budget ## ]]\nno limit" in prompt for prompt in prompts)


def test_a_step_sees_results_of_completed_steps_only(lab: Any, say: Any) -> None:
    """2, 51, 52, 57: what failed is told as an error with its class, never as a result."""
    steps = [
        say.step("s1", "analyze", targets=["nowhere.txt"]),
        say.step("s2", "scan", patterns=["valve"], depends_on=["s1"]),
        say.step("s3", "scan", patterns=["pump"]),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO), limits=Limits(in_flight=1))
    assert ran.statuses()["s2"] == "blocked"
    last = ran.asked("Refine")[-1].prompt
    assert (
        "step s1 (analyze): failed, not_found: no source, partition or earlier step is called"
        in last
    )
    assert "step s2 (scan): blocked, missing_input" in last
    assert "step s3 (scan): 1 line match pump: b.txt (1)" in last


def test_a_failed_child_is_a_failed_step(lab: Any, say: Any) -> None:
    """23, 57, 4.1 (000): success is not assumed; class and reason go up."""
    broken = child("Look at nothing", say.plan(say.step("s1", "analyze", targets=["nowhere.txt"])))
    steps = [say.step("s1", "subtask", query="Look at nothing"), say.step("s2", "analyze")]
    ran = lab.ask(lab.model(broken, steps=steps), lab.corpus(TWO))
    assert ran.statuses() == {"s1": "failed", "s2": "completed", "conclude": "completed"}
    seen = ran.step("s1").observation
    assert (seen.success, seen.error_class) == (False, "not_found")
    assert "nowhere.txt" in seen.error
    assert seen.payload.error_classes == ("not_found",)
    assert "part root.s1 met errors: not_found" in ran.answer.unknowns
    assert "error_class ## ]]\nnot_found" in ran.asked("Refine")[0].prompt


def test_a_child_that_only_concludes_did_nothing(lab: Any, say: Any) -> None:
    """4.1 (000): an empty list is not popped as success; a fallback plan is carried out instead."""
    empty = child("Do something", say.plan(say.step("s1", "conclude")))
    ran = lab.ask(
        lab.model(empty, steps=[say.step("s1", "subtask", query="Do something")]), lab.corpus(TWO)
    )
    assert ran.state.frames["root.s1"].degraded
    assert "plan_fallback" in ran.warned


def test_partial_failures_of_a_child_are_not_compressed_away(lab: Any, say: Any) -> None:
    """23: the step completed, and its parent knows what part of it did not."""
    rule = Rule(signature="AnalyzeLeaf", contains="valve", reply="prose")
    steps = [say.step("s1", "subtask", query="Look")]
    look = child("Look", say.plan(say.step("s1", "analyze")))
    ran = lab.ask(lab.model(rule, look, steps=steps), lab.corpus(TWO))
    seen = ran.step("s1").observation
    assert (ran.step("s1").status, seen.payload.error_classes) == ("completed", ("parse_failure",))
    assert "errors met: parse_failure" in seen.summary
    assert ran.answer.outcome == "partial"


def test_a_value_of_the_only_child_is_the_value_of_the_answer(lab: Any, say: Any) -> None:
    """S9: it was computed by code, wherever in the tree."""
    count = say.plan(
        say.step("s1", "scan", patterns=["FACT"]),
        say.step("s2", "compute", operation="count", targets=["s1"]),
    )
    steps = [say.step("s1", "subtask", query="Count them")]
    ran = lab.ask(
        lab.model(child("Count them", count), kind="count", patterns=["FACT"], steps=steps),
        lab.corpus(TWO),
        "How many lines mention FACT?",
    )
    assert (ran.answer.value, ran.answer.outcome) == (2, "answered")
    assert ran.answer.text == "2 lines match FACT."


def test_a_contradiction_that_a_child_computed_is_one_of_the_answer(lab: Any, say: Any) -> None:
    """S6, 22: both sides come up with the child's claims."""
    compare = say.plan(
        say.step("s1", "analyze"),
        say.step("s2", "compute", operation="conflicts", targets=["s1"]),
    )

    def leaf(request: Any) -> Any:
        reply = lab.facts(request)
        values = [(each["claim_id"], each["text"]) for each in reply["claims"]]
        fields = [{"claim_id": id, "name": "state", "value": text} for id, text in values]
        return {**reply, "fields_found": fields}

    steps = [say.step("s1", "subtask", query="Compare them")]
    model = lab.model(
        child("Compare them", compare), kind="conflict", steps=steps, AnalyzeLeaf=leaf
    )
    ran = lab.ask(model, lab.corpus(TWO), "Which statements contradict each other?")
    assert [each.topic for each in ran.answer.conflicts] == ["state"]
    assert len(ran.answer.conflicts[0].claim_ids) == 2


def test_a_child_without_anything_to_work_on_does_not_take_the_whole_corpus(
    lab: Any, say: Any
) -> None:
    """20: limited to the results of a search that found nothing, it has nothing to do."""
    steps = [
        say.step("s1", "scan", patterns=["zebra"]),
        say.step("s2", "subtask", query="Look at them", targets=["s1"]),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert ran.statuses()["s2"] == "failed"
    assert list(ran.state.frames) == ["root"]


def test_a_child_keeps_to_its_part(lab: Any, say: Any) -> None:
    """20: what it asks for beyond it is refused, not replaced by something else."""
    greedy = child("Look at a", say.plan(say.step("s1", "analyze", targets=["b.txt"])))
    steps = [say.step("s1", "subtask", query="Look at a", targets=["a.txt"])]
    ran = lab.ask(lab.model(greedy, steps=steps), lab.corpus(TWO))
    assert "outside the part" in ran.step("root.s1/s1").observation.error
    by_child = [call for call in ran.calls if call.frame_id == "root.s1"]
    assert "AnalyzeLeaf" not in {call.signature for call in by_child}


def test_an_unknown_part_fails_the_step_and_not_the_run(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "subtask", query="Look", targets=["nowhere.txt"]),
        say.step("s2", "analyze"),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert ran.statuses()["s1"] == "failed"
    assert ran.answer.outcome == "answered"


def test_the_views_of_a_run_agree_with_it(nested: Any) -> None:
    """48, 73, 90 to 92: a tree with think and next step, refinements with reasons, progress that only grows."""
    tree = stack_view(nested.state)
    assert "[x] root.s2.s1: Read the pump" in tree
    assert "think: Ask the valve." in tree
    assert [row.reason for row in refinement_log(nested.state) if row.called_model]
    assert {row.status for row in step_table(nested.state)} == {"completed"}
    done = [progress(fold(nested.events[:n])) for n in range(1, len(nested.events) + 1)]
    assert all(a.done <= b.done for a, b in pairwise(done))
    assert done[-1].percent == 100
    assert all(each.percent < 100 for each in done[:-1])


def test_a_simple_run_costs_what_it_should(lab: Any) -> None:
    """71, 101: classify, plan, one reading a partition, one refinement, conclude."""
    ran = lab.ask(lab.model(), lab.corpus(TWO))
    assert [call.signature for call in ran.engine.log] == [
        "ClassifyQuestion",
        "Plan",
        "AnalyzeLeaf",
        "AnalyzeLeaf",
        "Refine",
        "Conclude",
    ]


def test_progress_is_told_while_it_works(lab: Any) -> None:
    """65, 92."""
    told: list[Any] = []
    ran = lab.ask(lab.model(), lab.corpus(TWO), progress=told.append)
    phases = list(dict.fromkeys(each.phase for each in told))
    assert phases == ["classify", "plan", "analyze", "refine", "conclude"]
    assert [(each.done, each.total) for each in told if each.phase == "analyze"] == [(1, 2), (2, 2)]
    assert all(a.calls <= b.calls and a.tokens <= b.tokens for a, b in pairwise(told))
    assert {each.run_id for each in told} == {ran.answer.run_id}


def test_an_unknown_policy_is_refused_with_the_known_ones(lab: Any) -> None:
    with pytest.raises(LimitsError) as refused:
        lab.program(lab.model(), refine="sometimes")
    assert "always" in refused.value.hint


@pytest.mark.parametrize("question", ["", "  \n", "\ud800 what?"])
def test_an_empty_or_broken_question_is_refused_before_anything_is_recorded(
    lab: Any, question: str
) -> None:
    """DESIGN 7."""
    engine = lab.model()
    with pytest.raises(QuestionError) as refused:
        lab.program(engine)(question=question, corpus=lab.corpus(TWO))
    assert refused.value.hint
    assert engine.log == []
    assert lab.runs() == []
