"""Outcome: how a run ended, from typed facts alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.answer import Coverage
from programs.outcome import outcome
from runtime.claims import Claim
from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


def covered(completed: int = 2, failed: int = 0, unread: int = 0, unparsed: int = 0) -> Coverage:
    names = [f"p{n}" for n in range(completed + failed + unread)]
    return Coverage(
        required=tuple(names),
        completed=tuple(names[:completed]),
        failed=tuple(names[completed : completed + failed]),
        unread=tuple(names[completed + failed :]),
        unparsed=tuple(f"f{n}" for n in range(unparsed)),
        searches=(),
        truncations=(),
        partitions=9,
    )


def decided(reach: Coverage, *, found: bool = False, **facts: bool) -> str:
    statements = [Claim(id="c", text="It is so.", status="direct")] if found else []
    defaults = {
        "value_known": False,
        "requires_all": False,
        "limited": False,
        "undecodable": False,
        "working": True,
    }
    return outcome(statements, reach, **{**defaults, **facts})


@pytest.mark.parametrize(
    ("reach", "facts", "expected"),
    [
        (covered(), {"found": True}, "answered"),
        (covered(), {"value_known": True}, "answered"),
        (covered(1, failed=1), {"found": True}, "partial"),
        (covered(1, unread=1), {"value_known": True}, "partial"),
        (covered(), {"found": True, "limited": True}, "partial"),
        (covered(0), {"found": True}, "partial"),
        (covered(), {}, "not_found"),
        (covered(1, failed=1), {}, "not_found_in_covered"),
        (covered(1, unread=1), {}, "not_found_in_covered"),
        (covered(unparsed=1), {}, "not_found_in_covered"),
        (covered(), {"undecodable": True}, "not_found_in_covered"),
        (covered(), {"limited": True}, "partial"),
        (covered(0, failed=2), {}, "failed"),
        (covered(0, failed=2), {"limited": True}, "partial"),
        (covered(), {"working": False}, "failed"),
        (covered(), {"working": False, "limited": True}, "partial"),
        (covered(unparsed=1), {"found": True}, "answered"),
        (covered(unparsed=1), {"found": True, "requires_all": True}, "partial"),
        (covered(), {"found": True, "requires_all": True, "undecodable": True}, "partial"),
    ],
)
def test_an_outcome_follows_from_coverage_and_what_was_found(
    reach: Coverage, facts: dict[str, bool], expected: str
) -> None:
    assert decided(reach, **facts) == expected


@given(
    completed=st.integers(0, 3),
    failed=st.integers(0, 2),
    unread=st.integers(0, 2),
    unparsed=st.integers(0, 1),
    facts=st.fixed_dictionaries(
        {
            name: st.booleans()
            for name in (
                "found",
                "value_known",
                "requires_all",
                "limited",
                "undecodable",
                "working",
            )
        }
    ),
)
def test_nothing_that_stands_between_us_and_the_whole_looks_like_success(
    completed: int, failed: int, unread: int, unparsed: int, facts: dict[str, bool]
) -> None:
    """DESIGN 2: a limit, a failure or a gap never looks like success; absence needs coverage 1.0."""
    reach = covered(completed, failed, unread, unparsed)
    result = decided(reach, **facts)
    if failed or unread or facts["limited"] or not facts["working"] or not completed:
        assert result not in ("answered", "not_found")
    if result == "not_found":
        assert reach.ratio == 1.0
        assert not unparsed
        assert not facts["undecodable"]
    if result == "answered":
        assert facts["found"] or facts["value_known"]


def test_insufficient_statements_answer_nothing() -> None:
    claims = [Claim(id="c", text="Perhaps.", status="insufficient")]
    facts = dict.fromkeys(("value_known", "requires_all", "limited", "undecodable"), False)
    assert outcome(claims, covered(), **facts, working=True) == "not_found"


def test_a_count_of_zero_is_an_answer(lab: Any, say: Any) -> None:
    """S9: 0 is a value that code computed, whatever the writer makes of it."""
    steps = [
        say.step("s1", "scan", patterns=['"absent"']),
        say.step("s2", "compute", operation="count", targets=["s1"]),
    ]
    for writer in (lab.restated, say.conclude()):
        model = lab.model(kind="count", steps=steps, Conclude=writer)
        ran = lab.ask(model, lab.corpus(TWO), 'How many lines mention "absent"?')
        assert (ran.answer.outcome, ran.answer.value) == ("answered", 0)
        assert '0 lines match "absent"' in ran.answer.text
        assert ran.answer.coverage.ratio == 1.0


def test_all_readers_failing_is_a_failure(lab: Any) -> None:
    """57, bar 5: nothing was examined; that is not the same as nothing found."""
    for kind in ("lookup", "existence"):
        ran = lab.ask(lab.model(kind=kind, AnalyzeLeaf="No idea."), lab.corpus(TWO))
        assert ran.answer.outcome == "failed"
        assert ran.statuses() == {"s1": "failed", "s2": "completed"}
        assert (len(ran.answer.coverage.completed), len(ran.answer.coverage.failed)) == (0, 2)
        assert ran.answer.claims == ()
        assert ran.step("s1").observation.error_class == "parse_failure"


def test_one_reader_failing_of_many_costs_only_its_own_partition(lab: Any) -> None:
    """11, S7, bar 5: the others keep their results; the answer is partial and names what failed."""
    rule = Rule(signature="AnalyzeLeaf", contains="valve", reply="No idea.")
    ran = lab.ask(lab.model(rule), lab.corpus(TWO))
    assert ran.answer.outcome == "partial"
    assert [claim.citations[0].source for claim in ran.answer.claims] == ["b.txt"]
    reach = ran.answer.coverage
    failed = next(each for each in ran.corpus.partitions().partitions if each.source == "a.txt")
    assert reach.failed == (failed.id,)
    assert len(reach.completed) == 1
    detail = ran.step("s1").observation.payload.failed[0]
    assert (detail.partition_id, detail.error_class) == (failed.id, "parse_failure")


def test_every_service_call_failing_is_a_failure_that_says_why(lab: Any) -> None:
    """57, field report 36: the reason reaches the user; no answer is made up."""
    model = lab.model(Rule(error="context"))
    ran = lab.ask(model, lab.corpus(TWO))
    assert ran.answer.outcome == "failed"
    assert ran.answer.degraded
    assert ran.answer.claims == ()
    assert any("context" in warning for warning in ran.answer.warnings)


def test_a_fallback_after_another_never_looks_like_a_plain_answer(lab: Any) -> None:
    """45, 72, 74: the run goes on without a planner and a writer, and says so in every place."""
    rules = [
        Rule(signature=name, reply="prose")
        for name in ("ClassifyQuestion", "Plan", "Refine", "Conclude")
    ]
    ran = lab.ask(lab.model(*rules), lab.corpus(TWO), "Is there any FACT?")
    assert len(ran.answer.claims) == 2
    assert ran.answer.degraded
    assert {"classify_failed", "plan_fallback", "refine_failed", "conclude_failed"} <= set(
        ran.warned
    )
    assert len(ran.answer.warnings) >= 4


def test_nothing_found_by_a_ranking_is_not_absence(lab: Any, say: Any) -> None:
    """S10."""
    steps = [say.step("s1", "rank", query="zzz"), say.step("s2", "analyze", targets=["s1"])]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO), "Where is the zzz?")
    assert ran.answer.outcome == "not_found_in_covered"
    assert ran.answer.text.startswith("Not found in what was examined (0 of 2")


def test_an_answer_without_any_step_done_is_a_failure(lab: Any, say: Any) -> None:
    """74, 4.1 (002): an empty run reaches the end without an invented answer."""
    steps = [say.step("s1", "scan", patterns=[]), say.step("s2", "read", targets=["nowhere.txt"])]
    made_up = say.conclude(("It was the butler.", ["c1"]), ("And the cook.", []))
    model = lab.model(steps=steps, AnalyzeLeaf="The butler.", Conclude=made_up)
    ran = lab.ask(model, lab.corpus(TWO))
    assert ran.statuses()["s1"] == "failed"
    assert ran.statuses()["s2"] == "failed"
    assert ran.answer.outcome == "failed"
    assert "butler" not in ran.answer.text
    assert not any(claim.status == "direct" for claim in ran.answer.claims)


@pytest.mark.parametrize("limit", [{"calls": 4}, {"calls": 5}, {"steps_per_frame": 2}])
def test_a_limit_is_told_in_the_outcome_and_the_warnings(lab: Any, say: Any, limit: Any) -> None:
    """75, 94: the end at a limit still goes through the conclusion."""
    steps = [
        say.step(f"q{n}", "analyze", query=f"Part {n}?", depends_on=["q0"] if n else [])
        for n in range(3)
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus({"a.txt": "FACT a\n"}), limits=Limits(**limit))
    assert ran.answer.outcome == "partial"
    assert ran.answer.warnings
    assert len(ran.answer.claims) == 1
    assert len(ran.asked("Conclude")) == 1


def test_the_closing_call_reaching_a_limit_is_a_limit_too(lab: Any) -> None:
    """S2: the last call is paid like any other; the verified claims are given as they are."""
    dear = lambda request: Reply(lab.facts(request), output_tokens=90_000)  # noqa: E731
    model = lab.model(AnalyzeLeaf=dear)
    ran = lab.ask(model, lab.corpus(TWO), limits=Limits(tokens=100_000), refine="on_failure")
    assert ran.asked("Conclude") == []
    assert ran.answer.outcome == "partial"
    assert len(ran.answer.claims) == 2
    assert ran.answer.degraded
    assert any("tokens" in warning for warning in ran.answer.warnings)
