"""Limits of a run: what it may use at most, exactly, and what is left of it when one is reached."""

from typing import Any

import pytest

from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}
NINE = {f"{n}.txt": f"FACT {n}\n" for n in range(9)}
WHOLE = 1 + 1 + 9 + 1 + 1
"""Calls of the plain run over nine files: classify, plan, nine readings, one refinement, conclude."""


@pytest.mark.parametrize("calls", range(4, WHOLE + 2))
def test_every_number_of_calls_is_kept_exactly(lab: Any, calls: int) -> None:
    """S2, S11, 75: never one more, whatever the model asks for; one less than the whole is partial."""
    ran = lab.ask(lab.model(), lab.corpus(NINE), limits=Limits(calls=calls))
    assert len(ran.engine.log) == min(calls, WHOLE)
    assert ran.answer.outcome == ("answered" if calls >= WHOLE else "partial")
    assert ("limit" in ran.warned) is (calls < WHOLE)
    read = min(9, calls - 3)
    assert len(ran.answer.claims) == read
    assert len(ran.answer.coverage.completed) == read
    assert len(ran.answer.coverage.unread) == 9 - read
    assert [call.signature for call in ran.engine.log][-1] == "Conclude"


def test_the_limit_is_told_as_the_user_set_it(lab: Any) -> None:
    """94, S2."""
    ran = lab.ask(lab.model(), lab.corpus(NINE), limits=Limits(calls=6))
    assert any("calls (6" in warning for warning in ran.answer.warnings)
    assert ran.step("s1").observation.error_class == "limit"
    assert "6 not read" in ran.step("s1").observation.summary


def test_reading_nothing_at_all_is_not_a_completed_step(lab: Any) -> None:
    """57, field report 27: a step that met a cap before it did anything has failed."""
    dear = Reply(lab.say.refine(), output_tokens=90_000)
    steps = [
        lab.say.step("s1", "scan", patterns=["FACT"]),
        lab.say.step("s2", "analyze", depends_on=["s1"]),
    ]
    model = lab.model(steps=steps, Refine=dear)
    ran = lab.ask(model, lab.corpus(TWO), limits=Limits(tokens=50_000))
    assert ran.asked("AnalyzeLeaf") == []
    assert ran.statuses()["s2"] == "failed"
    assert ran.answer.outcome == "partial"
    assert ran.answer.claims == ()


@pytest.mark.parametrize(
    ("name", "cap"), [("tokens", 12_000), ("input_tokens", 9_000), ("output_tokens", 2_000)]
)
def test_tokens_are_limited_and_the_conclusion_has_its_part(lab: Any, name: str, cap: int) -> None:
    """S2, 75: something is kept back, so that the end still goes through the conclusion."""

    def reading(request: Any) -> Reply:
        return Reply(lab.facts(request), input_tokens=1200, output_tokens=250)

    ran = lab.ask(
        lab.model(AnalyzeLeaf=reading),
        lab.corpus(NINE),
        limits=Limits(**{name: cap}, in_flight=1),
    )
    assert ran.answer.outcome == "partial"
    assert 1 <= len(ran.answer.claims) < 9
    assert not ran.answer.degraded
    assert len(ran.asked("Conclude")) == 1
    assert any(name in warning for warning in ran.answer.warnings)


def test_money_is_limited_where_the_price_is_known(lab: Any) -> None:
    """S2: a free model never reaches the cap; the cost is 0 and not unknown."""
    ran = lab.ask(lab.model(), lab.corpus(TWO), limits=Limits(cost_usd=0.01))
    assert (ran.answer.outcome, ran.answer.receipt.cost_usd) == ("answered", 0.0)


def test_an_unknown_price_is_not_nothing(lab: Any) -> None:
    """DESIGN 2: unknown is None; with a cap on money such a model is refused before it starts."""
    model = lab.model()
    model.price = None
    ran = lab.ask(model, lab.corpus(TWO))
    assert ran.answer.receipt.cost_usd is None
    fresh = lab.model()
    fresh.price = None
    before = len(lab.runs())
    with pytest.raises(Exception, match="price"):
        lab.program(fresh, limits=Limits(cost_usd=1.0))(question="What?", corpus=ran.corpus)
    assert fresh.log == []
    assert len(lab.runs()) == before


def test_time_that_is_up_ends_in_a_partial_answer(lab: Any) -> None:
    """S2, 31: a call that would outlast the run is cut off; what was read before is kept."""

    def slow(request: Any) -> Reply:
        return Reply(lab.facts(request), latency=0.0 if "0.txt" in request.user else 30.0)

    engine = lab.model(AnalyzeLeaf=slow)
    program = lab.program(engine, limits=Limits(wall_seconds=1.5, in_flight=1))
    corpus = lab.corpus({"0.txt": "FACT 0\n", "1.txt": "FACT 1\n"})
    ran = lab.ran(program(question="What are the facts?", corpus=corpus), engine, corpus)
    assert ran.answer.outcome == "partial"
    assert [claim.citations[0].source for claim in ran.answer.claims] == ["0.txt"]
    assert len(ran.answer.coverage.unread) == 1
    assert ran.answer.receipt.calls == len(engine.log)


def test_an_action_of_code_has_a_time_limit_and_is_tried_again(lab: Any, say: Any) -> None:
    """27, 31, 80: timed out is a status of its own; the original action is tried again, twice at most."""
    steps = [say.step("s1", "scan", patterns=["FACT"]), say.step("s2", "analyze", targets=["s1"])]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO), limits=Limits(action_seconds=1e-9))
    assert ran.statuses() == {
        "s1": "timed_out",
        "s1~1": "timed_out",
        "s1~2": "timed_out",
        "s2": "blocked",
        "conclude": "completed",
    }
    assert ran.answer.outcome == "failed"


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth_is_kept_whatever_the_model_nests(lab: Any, say: Any, depth: int) -> None:
    """30, bar 5: at the last level a subtask is analyzed in place, and that is said."""
    nest = say.plan(say.step("s1", "subtask", query="Deeper?"))
    ran = lab.ask(lab.model(Plan=nest), lab.corpus(TWO), limits=Limits(depth=depth))
    assert ran.answer.receipt.max_depth == depth
    assert ran.warned == ["depth"]
    assert len(ran.answer.claims) == 2


def test_frames_are_limited_over_the_whole_run(lab: Any, say: Any) -> None:
    """S2: also those that were planned while there was room."""
    steps = [say.step(f"s{n}", "subtask", query=f"Part {n}?") for n in range(5)]
    leaf = Rule(
        signature="Plan", contains="task ## ]]\nPart", reply=say.plan(say.step("s1", "analyze"))
    )
    ran = lab.ask(lab.model(leaf, steps=steps), lab.corpus(TWO), limits=Limits(frames=3))
    assert list(ran.state.frames) == ["root", "root.s0", "root.s1"]
    assert ran.warned.count("depth") == 3
    assert set(ran.statuses().values()) == {"completed"}


@pytest.mark.parametrize(
    "limits",
    [
        {"calls": 0},
        {"calls": 3},
        {"tokens": 0},
        {"tokens": 100},
        {"input_tokens": 50},
        {"output_tokens": 10},
        {"wall_seconds": 0},
        {"depth": 0},
        {"steps_per_frame": 1},
    ],
)
def test_what_is_too_small_to_start_is_refused_and_leaves_no_run(lab: Any, limits: Any) -> None:
    """DESIGN 7: one clear message; nothing half-written, no call made."""
    refused = lab.refused(lab.model(), lab.corpus(TWO), limits=Limits(**limits))
    assert str(refused)


def test_limits_of_a_call_only_narrow_those_of_the_program(lab: Any) -> None:
    """DESIGN 4: children, and callers, can only narrow."""
    engine, corpus = lab.model(), lab.corpus(NINE)
    program = lab.program(engine, limits=Limits(calls=6))
    wider = program(question="What?", corpus=corpus, limits=Limits(calls=100))
    assert wider.answer.receipt.calls == 6
    narrower = program(question="What?", corpus=corpus, limits=Limits(calls=5))
    assert narrower.answer.receipt.calls == 5
    assert program.limits == Limits(calls=6)


@pytest.mark.parametrize("fault", ["rate_limit", "timeout"])
def test_a_service_that_is_down_half_of_the_time_stays_within_the_limits(
    lab: Any, fault: Any
) -> None:
    """Bar 5, S8: retries are paid like any call; the receipt is exact."""
    faults = [
        Rule(signature=name, times=2, error=fault, retry_after=0.0) for name in ("Plan", "Conclude")
    ]
    leaf = Rule(signature="AnalyzeLeaf", times=5, error=fault, retry_after=0.0)
    ran = lab.ask(lab.model(*faults, leaf), lab.corpus(NINE), limits=Limits(calls=40, in_flight=2))
    assert ran.answer.receipt.failed_calls == 9
    assert ran.answer.receipt.retries <= 9
    assert ran.answer.outcome in ("answered", "partial")
