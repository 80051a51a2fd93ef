"""What code of RLM may spend and how deep it may go: sub-queries, children and the last call, under one ledger.

The rows of the field reports that concern it stand in the docstrings.
"""

import os
from typing import Any

import pytest

from programs.rlm import RLM
from runtime.limits import Limits
from runtime.models.scripted import Reply
from tests.programs.acting import cell, cells, printed
from tests.programs.coding import ASKED, FILES, LOOK, SUBMIT, asked


def test_a_failing_sub_query_loses_only_itself(lab: Any) -> None:
    """rlm dae8490, dspy V17: one failure in a batch of ten cost the nine paid results."""

    def reply(request: Any) -> Any:
        number = request.inputs["prompt"].split()[-1]
        return Reply(error="invalid") if number == "3" else Reply({"reply": f"reply {number}"})

    seen: list[str] = []

    def then(request: Any) -> Any:
        seen.append(printed(request))
        return LOOK

    batch = cell('for r in llm_query_batched([f"number {n}" for n in range(10)]):\n    print(r)')
    model = lab.model(ReplAction=cells(batch, then, SUBMIT), SubQuery=reply)
    ran = asked(lab, engine=model)
    lines = seen[0].splitlines()
    assert [each for n, each in enumerate(lines) if n != 3] == [
        f"reply {n}" for n in range(10) if n != 3
    ]
    assert "ERROR" in lines[3]
    assert ran.answer.receipt.calls == len(ran.engine.log) == 13


def test_one_ledger_over_root_and_sub_queries(lab: Any) -> None:
    """rlm#123, dspy#9289: what sub-queries spend is counted, and they cannot overspend."""
    batch = cell('rs = llm_query_batched([f"number {n}" for n in range(30)])\nprint(rs)')
    ran = asked(lab, batch, LOOK, SUBMIT, limits=Limits(calls=8))
    assert ran.answer.receipt.calls == len(ran.engine.log) <= 8
    assert ran.answer.outcome == "partial"


def test_a_sub_query_that_is_too_large_is_refused_before_it_is_sent(lab: Any) -> None:
    """rlm#38, dspy#9446: a prompt of a megabyte is told its size and the limit, and costs nothing."""
    seen: list[str] = []

    def then(request: Any) -> Any:
        seen.append(printed(request))
        return LOOK

    big = cell('print(llm_query("x" * 1_000_000))')
    batch = cell('print(llm_query_batched(["y" * 1_000_000, "small"]))')
    ran = asked(lab, big, then, batch, LOOK, SUBMIT)
    assert "1,000,000" in seen[0]
    assert "200,000" in seen[0]
    assert len(ran.asked("SubQuery")) == 1
    assert ran.answer.outcome == "answered"


def test_depth_cannot_be_forged_from_the_sandbox(lab: Any) -> None:
    """nano-rlm#130: the model set RLM_MAX_DEPTH in its environment and started anew as root."""
    forge = cell(
        'import os\nfor name in ("RLM_MAX_DEPTH", "SPANTREE_DEPTH"):\n'
        "    try:\n        os.environ[name] = '99'\n    except Exception as e:\n        print(type(e).__name__)\n"
        "print('done')"
    )
    nested = cell('import dspy\nprint(dspy.RLM("a -> b"))')
    whole = cell('found = subcall("What are the facts?", [])\nprint(len(found["claims"]))')
    files = {f"{n:02d}.txt": f"FACT {n}\n" for n in range(30)}
    ran = asked(
        lab,
        forge,
        nested,
        whole,
        files=files,
        max_turns=3,
        limits=Limits(depth=2, steps_per_frame=40),
    )
    assert ran.answer.receipt.max_depth == 2
    assert "RLM_MAX_DEPTH" not in os.environ
    assert "ModuleNotFoundError" in ran.asked("ReplAction")[2].prompt


def test_a_child_is_worked_by_the_call_that_opens_it(lab: Any) -> None:
    """dspy V: a nested run is under the same ledger, journal and depth as its parent."""
    files = {f"{n:02d}.txt": f"FACT {n}\n" for n in range(30)}
    hand_on = cell('found = subcall("What are the facts?", [])\nprint(len(found["claims"]))')
    all_of_them = cell(
        'SUBMIT(answer="", claims=[{"text": c["text"], "evidence": [{"span_id": c["claim_id"], "quote": ""}]} '
        'for c in found["claims"]])'
    )
    ran = asked(
        lab, hand_on, all_of_them, files=files, question="List all facts.", limits=Limits(depth=2)
    )
    assert ran.answer.outcome == "answered"
    assert len(ran.answer.claims) == 30
    assert len(ran.asked("ReplAction")) == 4
    assert sorted(each.depth for each in ran.state.frames.values()) == [1, 2]


def test_the_models_of_the_run_serve_its_sub_queries(lab: Any) -> None:
    """dspy PR#10007: batched sub-queries lost the model of their context."""
    corpus = lab.corpus(FILES)
    root = lab.model(ReplAction=cells(cell('print(llm_query_batched(["a", "b"]))'), LOOK, SUBMIT))
    leaf = lab.model(SubQuery=Reply({"reply": "from the leaf model"}))
    rlm = RLM(action_space="repl", lm=root.lm(), leaf_lm=leaf.lm(), journal=lab.journal)
    rlm(question=ASKED, corpus=corpus)
    assert [each.signature for each in leaf.log] == ["SubQuery", "SubQuery"]
    assert "from the leaf model" in root.log[1].prompt


def test_a_limit_that_a_sub_query_meets_is_told(lab: Any) -> None:
    """A limit never looks like success, whoever meets it."""
    ask = cell(
        "try:\n    print(llm_query('x ' * 60000)[:9])\nexcept Exception as e:\n    print('no')"
    )
    ran = asked(lab, ask, LOOK, SUBMIT, limits=Limits(tokens=40_000))
    assert ran.answer.outcome == "partial"
    assert any(each.startswith("limit reached: tokens") for each in ran.answer.warnings)


@pytest.mark.parametrize("calls", [2, 3, 4])
def test_the_last_call_is_for_the_answer(lab: Any, calls: int) -> None:
    """As many calls as are allowed are made; the last one is told that it is."""

    def look_or_submit(request: Any) -> Any:
        last = "SUBMIT now" in request.inputs["iteration"]
        number = request.inputs["iteration"].split("/")[0]
        return SUBMIT if last else cell(f'hits = search("gate 7")["hits"]\nprint({number}, hits)')

    ran = asked(lab, look_or_submit, limits=Limits(calls=calls))
    assert ran.answer.receipt.calls == calls
    assert ran.answer.outcome == "partial"
    assert [claim.text for claim in ran.answer.claims] == ["Mara left gate 7 open."]
