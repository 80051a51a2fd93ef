"""The actor: one typed tool call a turn, then the answer with its evidence, as `Act` asks for them."""

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.models.extractive.exploration import Call, Turn, explored, output_of
from runtime.models.extractive.goal import Goal
from runtime.models.extractive.submission import Submitted, answer_text, submission
from signatures import EvidenceRef, LeafClaim, ToolCall, TurnShown

_IDLE = ToolCall(
    tool="submit",
    pattern="",
    ignore_case=False,
    source="",
    first_line=0,
    last_line=0,
    by="",
    query="",
    k=0,
    ids=[],
    cursor=0,
)


def act(goals: Sequence[Goal], turns: Sequence[TurnShown], turns_left: int) -> dict[str, Any]:
    """The next turn. At no turns left, or when nothing is left to be looked up, it submits."""
    past = [Turn(turn.call.partition("(")[0].strip(), output_of(turn.output)) for turn in turns]
    call, found = explored(goals, past, turns_left)
    if call is not None:
        return _turn(call.think, _IDLE.model_copy(update=_fields(call)), [])
    submitted = submission(found)
    think = (
        "What the outputs show answers the question."
        if submitted
        else "What was searched and read does not answer the question."
    )
    return _turn(think, _IDLE, submitted)


def _turn(think: str, call: ToolCall, submitted: Sequence[Submitted]) -> dict[str, Any]:
    claims = [
        LeafClaim(claim_id=f"c{n}", text=each.text, status=each.status, time=each.time)
        for n, each in enumerate(submitted, 1)
    ]
    evidence = [
        EvidenceRef(claim_id=f"c{n}", span_id=span_id, quote=quote)
        for n, each in enumerate(submitted, 1)
        for span_id, quote in each.evidence
    ]
    return {
        "think": think,
        "call": call,
        "answer": answer_text(submitted),
        "claims": claims,
        "evidence": evidence,
        "claim_count": len(claims),
    }


def _fields(call: Call) -> Mapping[str, Any]:
    """The fields of a typed call for the arguments of a tool."""
    given = dict(call.arguments)
    if call.tool == "subcall":
        given = {"query": given.pop("question"), "ids": given.pop("span_ids"), **given}
    elif "span_id" in given:
        given = {"ids": [given["span_id"]]}
    return {"tool": call.tool, **given}
