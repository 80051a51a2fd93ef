"""RLM and what is below it: readers, children one level deeper, and one budget for all of them.

The rows of the field reports that concern it stand in the docstrings.
"""

from typing import Any

import pytest

from programs.rlm import RLM
from runtime.limits import Limits
from runtime.models.scripted import Reply
from tests.programs.acting import call, output, submit, turns
from tests.programs.driven import asked

BIG = {f"{n:02d}.txt": f"FACT {n}\n" for n in range(30)}


def deep(request: Any) -> dict[str, Any]:
    """Hand everything on, then submit what comes back."""
    if not request.value("turns"):
        return call("subcall", query="What are the facts?")
    claims = output(request)["claims"]
    return submit("", *((each["text"], each["claim_id"], "") for each in claims))


def test_readers_that_fail_lose_only_their_own_part(lab: Any) -> None:
    """rlm dae8490: one failing call never costs its siblings their results."""
    files = {f"{n}.txt": f"FACT {n}\n" for n in range(4)}

    def facts_but_one(request: Any) -> Any:
        broken = "FACT 2" in request.user
        return Reply(error="invalid") if broken else lab.facts(request)

    def rest(request: Any) -> dict[str, Any]:
        claims = output(request)["claims"]
        return submit("", *((each["text"], each["claim_id"], "") for each in claims))

    model = lab.model(
        Act=turns(call("subcall", query="What are the facts?"), rest), AnalyzeLeaf=facts_but_one
    )
    ran = lab.ask(model, lab.corpus(files), "List all facts.", of=RLM)
    assert ran.answer.outcome == "partial"
    assert len(ran.answer.claims) == 3
    assert len(ran.answer.coverage.failed) == 1


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth_is_capped_by_the_host_and_nothing_is_lost(lab: Any, depth: int) -> None:
    """nano-rlm#130, pydantic-ai-rlm#4: it recurses, as deep as it may, and reads in place where it may not."""
    ran = asked(lab, deep, files=BIG, question="List all facts.", limits=Limits(depth=depth))
    assert ran.answer.receipt.max_depth == depth
    assert len(ran.answer.claims) == 30
    assert ran.answer.outcome == "answered"
    frames = sorted(each.depth for each in ran.state.frames.values())
    assert frames == list(range(1, depth + 1))


def test_a_child_knows_its_goal_and_not_its_siblings(lab: Any) -> None:
    """rlm.pi#5: a child has its part of the corpus, the goals above it and its own turns."""
    ran = asked(lab, deep, files=BIG, question="List all facts.", limits=Limits(depth=2))
    child = next(each for each in ran.asked("Act") if '["List all facts."]' in each.prompt)
    assert child.prompt.split("[[ ## question ## ]]\n")[-1].startswith("What are the facts?")
    assert "[[ ## turns ## ]]\n[]" in child.prompt


def test_a_child_hands_up_what_it_submitted_and_no_more(lab: Any) -> None:
    """A parent gets the answer of a child, not everything that the child came across."""

    def one_of_them(request: Any) -> dict[str, Any]:
        made = deep(request)
        if "List all facts." in request.value("goal_chain", []) and made["claims"]:
            return {**made, "claims": made["claims"][:1], "evidence": made["evidence"][:1],
                    "claim_count": 1}  # fmt: skip
        return made

    limits = Limits(depth=2)
    ran = asked(lab, one_of_them, files=BIG, question="List all facts.", limits=limits)
    assert [claim.text for claim in ran.answer.claims] == ["It says: FACT 0"]


def test_the_call_that_is_kept_back_is_for_the_root(lab: Any) -> None:
    """hermes-agent#2873: a child that runs to its end must not take what its parent needs to conclude."""

    def busy_child(request: Any) -> dict[str, Any]:
        if request.value("goal_chain"):
            return call("search", pattern=f"FACT {len(request.value('turns'))}")
        return submit("") if request.value("turns") else call("subcall", query="The facts?")

    for calls in (3, 4, 5):
        limits = Limits(calls=calls, steps_per_frame=40)
        ran = asked(lab, busy_child, files=BIG, max_turns=3, limits=limits)
        assert ran.calls[-1].key.startswith("root/")
        assert ran.answer.receipt.calls <= calls


@pytest.mark.parametrize("calls", [2, 3, 4])
def test_a_budget_is_kept_exactly_and_ends_partial(lab: Any, calls: int) -> None:
    """nano-rlm#151: the cap holds for root and readers together, and the last call is for the answer."""
    files = {f"{n}.txt": f"FACT {n}\n" for n in range(9)}

    def what_there_is(request: Any) -> dict[str, Any]:
        done = [each for each in request.value("turns") if "claims" in each["output"]]
        claims = output(request)["claims"] if done else []
        return submit("", *((each["text"], each["claim_id"], "") for each in claims))

    def read_or_submit(request: Any) -> dict[str, Any]:
        last = request.value("turns_left") == 0
        return what_there_is(request) if last else call("subcall", query="What are the facts?")

    ran = asked(lab, read_or_submit, files=files, limits=Limits(calls=calls))
    assert ran.answer.receipt.calls == calls
    assert ran.answer.outcome == "partial"
    assert any(each.startswith("limit reached") for each in ran.answer.warnings)


def test_the_model_sees_what_is_left_now(lab: Any) -> None:
    """rlm#129: the remaining budget is that of the whole tree at this moment, never a stale copy."""
    files = {f"{n}.txt": f"FACT {n}\n" for n in range(4)}
    ran = asked(
        lab,
        call("subcall", query="What are the facts?"),
        call("budget"),
        submit(),
        files=files,
        limits=Limits(calls=20),
    )
    told = [
        each.prompt.split("[[ ## budget ## ]]\n")[-1].split("\n")[0] for each in ran.asked("Act")
    ]
    assert told == ["20 calls left", "15 calls left", "14 calls left"]
