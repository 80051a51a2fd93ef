"""Repeats: an action that was done is recognized by what it does; a model that loops is brought to an end."""

from typing import Any

import pytest

from runtime.limits import Limits
from runtime.models.scripted import Rule

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


def test_the_same_action_is_not_done_twice(lab: Any, say: Any) -> None:
    """S3: whatever the step is called."""
    steps = [say.step("s1", "analyze"), say.step("s2", "analyze"), say.step("s3", "conclude")]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO), limits=Limits(in_flight=1))
    assert ran.statuses() == {"s1": "completed", "s2": "skipped", "s3": "completed"}
    assert len(ran.asked("AnalyzeLeaf")) == 2
    assert ran.step("s2").observation.error_class == "repeat"
    assert "repeat" in ran.warned
    assert ran.answer.outcome == "answered"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"query": "What of the valve?"}, {"query": "What of the pump?"}),
        ({"targets": ["a.txt"]}, {"targets": ["b.txt"]}),
        ({"targets": ["a.txt"]}, {"targets": []}),
        ({"action": "scan", "patterns": ["valve"]}, {"action": "scan", "patterns": ["pump"]}),
    ],
)
def test_another_question_or_place_is_another_action(
    lab: Any, say: Any, first: dict[str, Any], second: dict[str, Any]
) -> None:
    steps = [
        say.step("s1", **{"action": "analyze", **first}),
        say.step("s2", **{"action": "analyze", **second}),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert (ran.statuses()["s1"], ran.statuses()["s2"]) == ("completed", "completed")


def test_a_search_is_the_same_whatever_it_is_said_to_be_for(lab: Any, say: Any) -> None:
    """S3: by what it does, which is its patterns and places."""
    steps = [
        say.step("s1", "scan", patterns=["valve", "open"], query="first"),
        say.step("s2", "scan", patterns=["open", "valve"], query="second", depends_on=["s1"]),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert ran.statuses()["s2"] == "skipped"


def test_what_depends_on_a_repeat_uses_the_result_that_is_known(lab: Any, say: Any) -> None:
    """S3: skipping work never loses a result: the count is taken from the first search."""
    steps = [
        say.step("s1", "scan", patterns=["FACT"]),
        say.step("s2", "scan", patterns=["FACT"], depends_on=["s1"]),
        say.step("s3", "compute", operation="count", targets=["s2"]),
    ]
    ran = lab.ask(lab.model(kind="count", patterns=["FACT"], steps=steps), lab.corpus(TWO))
    assert ran.statuses()["s2"] == "skipped"
    assert ran.statuses()["s3"] == "completed"
    assert ran.answer.value == 2
    assert ran.answer.outcome == "answered"


def test_a_child_uses_what_another_frame_found(lab: Any, say: Any) -> None:
    """S3, 20: the search of one frame is not made again in another, and its result is not lost to it."""
    subtasks = [
        say.step("s1", "subtask", query="Count them once"),
        say.step("s2", "subtask", query="Count them again"),
    ]
    count = [
        say.step("s1", "scan", patterns=["FACT"]),
        say.step("s2", "compute", operation="count", targets=["s1"]),
    ]
    children = Rule(signature="Plan", contains="task ## ]]\nCount", reply=say.plan(*count))
    ran = lab.ask(lab.model(children, steps=subtasks), lab.corpus(TWO))
    assert ran.statuses("root.s2") == {"s1": "skipped", "s2": "skipped", "conclude": "completed"}
    assert ran.statuses()["s2"] == "completed"
    assert ran.step("s2").observation.payload.value == 2


@pytest.mark.parametrize(
    ("action", "fields"),
    [("scan", {"patterns": ['"needle"']}), ("analyze", {"query": "Any needle?"})],
)
def test_what_a_child_did_in_its_part_is_not_done_for_the_whole(
    lab: Any, say: Any, action: str, fields: dict[str, Any]
) -> None:
    """The same words mean less in a child frame: its places are kept within its own."""
    corpus = lab.corpus({"a.txt": "hay and more of it\n" * 2000 + "FACT needle\n"})
    first, *others = (each.id for each in corpus.partitions().partitions)
    assert others
    inner = say.step("s1", action, targets=["a.txt"], **fields)
    child = Rule(signature="Plan", contains="task ## ]]\nLook", reply=say.plan(inner))
    steps = [
        say.step("s1", "subtask", query="Look", targets=[first]),
        say.step("s2", action, targets=["a.txt"], **fields),
    ]
    if action == "scan":
        steps.append(say.step("s3", "analyze", query="Any needle?", targets=["s2"]))
    ran = lab.ask(
        lab.model(child, kind="existence", steps=steps), corpus, 'Is there a line with "needle"?'
    )
    assert ran.statuses("root.s1")["s1"] in ("completed", "failed")
    assert ran.statuses()["s2"] == "completed"
    assert len(ran.answer.claims) == 1
    assert ran.answer.coverage.ratio == 1.0


def test_a_computation_over_everything_is_not_a_repeat_when_there_is_more(
    lab: Any, say: Any
) -> None:
    """S3: the same words, other inputs."""
    steps = [
        say.step("s1", "scan", patterns=["valve"]),
        say.step("s2", "compute", operation="count", depends_on=["s1"]),
        say.step("s3", "scan", patterns=["pump"], depends_on=["s2"]),
        say.step("s4", "compute", operation="count", depends_on=["s3"]),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert set(ran.statuses().values()) == {"completed"}


def test_a_model_that_asks_for_the_same_for_ever_is_brought_to_the_end(lab: Any, say: Any) -> None:
    """S3, bar 5, field reports 18 and 21: the last thing left is the closing step; nothing found is lost."""
    again = say.refine(
        "revise", *(say.step(f"r{n}", "analyze") for n in range(3)), say.step("e", "conclude")
    )
    ran = lab.ask(lab.model(Refine=again), lab.corpus(TWO))
    assert len(ran.asked("AnalyzeLeaf")) == 2
    assert len(ran.asked("Refine")) <= 3
    assert ran.answer.outcome == "answered"
    assert len(ran.answer.claims) == 2


def test_a_model_that_varies_its_words_for_ever_ends_at_the_cap(lab: Any, say: Any) -> None:
    """34, bar 5, field report 18: the routing check ends it, and the answer says that a limit did."""

    def refine(request: Any) -> Any:
        number = len(request.inputs["completed"])
        return say.refine("revise", say.step(f"n{number}", "analyze", query=f"And now {number}?"))

    ran = lab.ask(lab.model(Refine=refine), lab.corpus(TWO), limits=Limits(steps_per_frame=6))
    steps = ran.state.frames["root"].steps
    assert len(steps) == 6
    assert steps[-1].planned.action == "conclude"
    assert ran.answer.outcome == "partial"
    assert {"plan_cut", "limit_steps"} & set(ran.warned)
    assert len(ran.answer.claims) == 2


def test_a_plan_that_repeats_itself_in_every_child_ends(lab: Any, say: Any) -> None:
    """30, S3, bar 5: subtasks within subtasks, the same ones for ever."""
    nested = [
        say.step("s1", "subtask", query="Again?"),
        say.step("s2", "subtask", query="And again?"),
    ]
    ran = lab.ask(lab.model(steps=nested), lab.corpus(TWO), limits=Limits(depth=4, frames=9))
    assert ran.answer.receipt.max_depth <= 4
    assert len(ran.state.frames) <= 9
    assert len(ran.answer.claims) == 2
