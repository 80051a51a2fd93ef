"""A desk for the pupil: lines about disks, some of which failed, and what it reads, concludes and submits of them."""

import json
from collections.abc import Sequence
from typing import Any

import dspy

from runtime.models.adapters import prepared
from runtime.models.make import make_lm
from signatures import Act, AnalyzeLeaf, ClaimDigest, Conclude, EvidenceSpan, TurnShown

ADAPTERS = {
    "json": dspy.JSONAdapter(),
    "chat": dspy.ChatAdapter(use_json_adapter_fallback=False),
}
ERRORS = ("drop", "garble", "overcite", "guess", "skip")
DISKS = 12
QUESTION = "List all disks that failed."
UNANSWERED = "Which zeppelin landed in Graz?"


def spans(number: int = DISKS, about: str = "disk") -> list[EvidenceSpan]:
    """So many spans of two lines each: a failure, and what was done."""
    return [
        EvidenceSpan(
            span_id=f"{n:012x}",
            source="app.log",
            first_line=2 * n + 1,
            margin_before="",
            text=f"ERROR {about} sd{n} failed in rack {n}\nINFO operator number {n} had a coffee\n",
            margin_after="",
        )
        for n in range(number)
    ]


def leaf_inputs(
    question: str = QUESTION, shown: Sequence[EvidenceSpan] | None = None
) -> dict[str, Any]:
    return {
        "question": question,
        "kind": "list" if question == QUESTION else "lookup",
        "patterns": [],
        "spans": list(spans() if shown is None else shown),
        "term_statistics": [],
    }


def conclude_inputs(question: str = QUESTION) -> dict[str, Any]:
    claims = [
        ClaimDigest(
            claim_id=f"root/s1.{n}",
            text=f"ERROR disk sd{n} failed in rack {n}",
            status="direct",
            time="",
            sources=["app.log"],
            quotes=[f"ERROR disk sd{n} failed in rack {n}"],
        )
        for n in range(DISKS)
    ]
    return {
        "question": question,
        "kind": "list",
        "claims": claims,
        "computed": [],
        "coverage": "everything",
        "steps_done": [],
    }


def act_inputs(left: int = 0) -> dict[str, Any]:
    """The turns of one that has asked readers, and can only submit."""
    found = [
        {
            "claim_id": f"t1.{n}",
            "text": f"ERROR disk sd{n} failed in rack {n}",
            "status": "direct",
            "time": "",
            "quotes": [
                {"source": "app.log", "line": 2 * n + 1, "quote": f"ERROR disk sd{n} failed"}
            ],
        }
        for n in range(DISKS)
    ]
    output = {"claims": found, "partitions": {"read": 1, "failed": 0, "unread": 0}}
    return {
        "question": QUESTION,
        "kind": "list",
        "patterns": [],
        "goal_chain": [],
        "overview": "corpus: 1 sources | 1 partitions\nsource app.log | log | 24 lines | 900 characters | 1 partition",
        "turns": [
            TurnShown(
                turn=1,
                call="subcall(...)",
                output=json.dumps({**output, "unknowns": [], "next_cursor": None, "cut": ""}),
            )
        ],
        "budget": "no limit",
        "turns_left": left,
    }


def pupil(**dials: float) -> dspy.LM:
    """A pupil that makes no errors but those that are asked for."""
    given = dict.fromkeys(ERRORS, 0.0) | dials
    return make_lm("pupil:" + ",".join(f"{name}={value}" for name, value in given.items()))


def told(
    lm: dspy.LM,
    signature: Any,
    inputs: dict[str, Any],
    *,
    more: str = "",
    demos: Sequence[dspy.Example] = (),
    adapter: str = "json",
) -> dspy.Prediction:
    """What the pupil replies, with `more` behind the instructions of the signature."""
    predictor = dspy.Predict(
        signature.with_instructions(f"{signature.instructions}\n{more}".strip())
    )
    predictor.demos = list(demos)
    with dspy.context(lm=lm, adapter=prepared(ADAPTERS[adapter]), trace=None):
        return predictor(**inputs)


def read(lm: dspy.LM, question: str = QUESTION, **given: Any) -> dspy.Prediction:
    shown = given.pop("shown", None)
    return told(lm, AnalyzeLeaf, leaf_inputs(question, shown), **given)


def concluded(lm: dspy.LM, question: str = QUESTION, **given: Any) -> dspy.Prediction:
    return told(lm, Conclude, conclude_inputs(question), **given)


def acted(lm: dspy.LM, left: int = 0, **given: Any) -> dspy.Prediction:
    return told(lm, Act, act_inputs(left), **given)


def demo(quotes: int = 1, claims: int = 1, **changes: Any) -> dspy.Example:
    """An example of a reading: so many claims, each with so many quotes, over other spans."""
    shown = spans(6, "pump")
    made = [
        {"claim_id": f"c{n}", "text": "a pump failed", "status": "direct", "time": ""}
        for n in range(claims)
    ]
    evidence = [
        {"claim_id": f"c{n}", "span_id": shown[m].span_id, "quote": shown[m].text.split("\n")[0]}
        for n in range(claims)
        for m in range(n, n + quotes)
    ]
    values: dict[str, Any] = {"claims": made, "evidence": evidence, "fields_found": []}
    values |= {"unknowns": [], "claim_count": claims, "augmented": True}
    return dspy.Example(**{**leaf_inputs("Which pumps failed?", shown), **values, **changes})
