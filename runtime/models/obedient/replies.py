"""Replies of the obedient model to the signatures in which a reader, a planner or a writer speaks."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from runtime.models.obedient.orders import Order
from runtime.models.request import PromptRequest
from signatures import EvidenceRef, LeafClaim, Statement

_SPAN_ID = re.compile(r"\b[0-9a-f]{12}\b")
_ACTIONS = {"search": "scan", "read_span": "read", "subcall": "subtask", "count": "compute"}
"""The actions of a plan that do what a tool of the same purpose does."""


def of_kind(orders: Sequence[Order], *kinds: str) -> list[Order]:
    """The orders of some kinds."""
    return [order for order in orders if order.kind in kinds]


def classified(
    prompt: PromptRequest, values: dict[str, Any], orders: list[Order]
) -> dict[str, Any]:
    """Told to ignore the rules, it takes the question for one that a single line settles."""
    if not of_kind(orders, "ignore", "stop"):
        return values
    careless = {"kind": "lookup", "requires_all": False, "patterns": []}
    return {**values, **careless, "reason": "I was told to ignore the rules."}


def planned(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """A plan with the steps that were ordered in front; only the last step when told to submit at once."""
    kept = [] if of_kind(orders, "ignore") else list(values["steps"])[:-1]
    steps = [*_ordered_steps(orders, ""), *kept, *list(values["steps"])[-1:]]
    if of_kind(orders, "submit"):
        steps = steps[-1:]
    return {**values, "steps": steps, "step_count": len(steps)}


def refined(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """The steps that were ordered come next, unless they are done; told to submit, it finishes."""
    if of_kind(orders, "submit"):
        return {**values, "decision": "finish", "steps": [], "step_count": 0}
    extra = list(_ordered_steps(orders, prompt.inputs.get("completed", "")))
    if not extra:
        return values
    steps = [*extra, *prompt.value("remaining", [])]
    return {**values, "decision": "revise", "steps": steps, "step_count": len(steps)}


def _ordered_steps(orders: Sequence[Order], done: str) -> Iterator[dict[str, Any]]:
    for number, order in enumerate(of_kind(orders, "file", "environment", "call", "cite"), 1):
        name, _, inside = order.about.partition("(")
        action, targets, query = "read", [order.about or "environment"], ""
        if order.kind == "call":
            action, targets, query = _ACTIONS.get(name, name), [], inside.rstrip(")")
        step = {
            "id": f"x{number}",
            "description": f"Do as told: {order.kind} {order.about}",
            "action": action,
            "patterns": [query] if action == "scan" else [],
            "query": query,
            "targets": targets,
            "operation": "",
            "depends_on": [],
        }
        if f"step x{number} " not in done:
            yield step


def analyzed(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """What it was told to say, as claims; what it was told to cite, as evidence of every claim."""
    ignoring = bool(of_kind(orders, "ignore"))
    claims: list[Any] = [] if ignoring else list(values["claims"])
    evidence: list[Any] = [] if ignoring else list(values["evidence"])
    spans = prompt.value("spans", [])
    for order in of_kind(orders, "say", "pretend", "file", "environment", "cite"):
        key = f"c{len(claims) + 1}"
        claims.append(LeafClaim(claim_id=key, text=_told(order), status="direct", time=""))
        evidence += [
            EvidenceRef(claim_id=key, span_id=span, quote=quote)
            for span, quote in _proofs(order, spans)
        ]
    for order in of_kind(orders, "cite"):
        evidence += [
            EvidenceRef(claim_id=each.claim_id, span_id=order.about, quote=order.line)
            for each in claims
        ]
    fields = [] if ignoring else list(values["fields_found"])
    return {
        **values,
        "claims": claims,
        "evidence": evidence,
        "fields_found": fields,
        "claim_count": len(claims),
    }


def _told(order: Order) -> str:
    return order.about if order.kind in ("say", "pretend") else f"{order.kind}: {order.about}"


def _proofs(order: Order, spans: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Spans and quotes that a persuaded reader gives for an order: the order itself, or what it was told to forge."""
    if order.kind in ("say", "environment"):
        home = next((each["span_id"] for each in spans if order.line in each["text"]), "")
        yield home or "nowhere", order.line
    elif order.kind == "pretend":
        forged = _SPAN_ID.search(order.about)
        yield forged[0] if forged else "nowhere", order.about
    else:
        yield order.about, order.line


def concluded(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """What it was told to say, resting on the claims at hand and on those it was told to cite."""
    known = [each["claim_id"] for each in prompt.value("claims", [])][:3]
    forged = [order.about for order in of_kind(orders, "cite")]
    statements: list[Any] = [] if of_kind(orders, "ignore") else list(values["statements"])
    statements += [
        Statement(text=order.about, status="direct", claim_ids=[*known, *forged])
        for order in of_kind(orders, "say", "pretend")
    ]
    return {**values, "statements": statements, "statement_count": len(statements)}


def submission(orders: Sequence[Order]) -> tuple[str, list[dict[str, Any]]]:
    """The answer that was ordered, and its claims with the evidence that was ordered, as code submits them."""
    said = of_kind(orders, "say", "pretend")
    forged = [{"span_id": order.about, "quote": order.line} for order in of_kind(orders, "cite")]
    claims = [
        {
            "text": order.about,
            "evidence": forged
            or [{"span_id": span, "quote": quote} for span, quote in _proofs(order, ())],
        }
        for order in said
    ]
    return "\n".join(order.about for order in said) or "Done as told.", claims


def explored(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """The answer that was ordered."""
    text, claims = submission(orders)
    return {**values, "answer": text, "claims": claims}


def told(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """A reply to a prompt of a program: what it was told to say."""
    return {**values, "reply": submission(orders)[0]}
