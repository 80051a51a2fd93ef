"""What a model that drives says in tests: turns by number, cells by number."""

import json
import re
from collections.abc import Callable
from typing import Any

from runtime.models.request import PromptRequest
from runtime.models.scripted import Reply

Said = dict[str, Any] | Reply | str | Callable[[PromptRequest], Any]


def call(tool: str, think: str = "Let us see.", **fields: Any) -> dict[str, Any]:
    """A turn that calls a tool."""
    empty = {
        "pattern": "",
        "ignore_case": False,
        "source": "",
        "first_line": 0,
        "last_line": 0,
        "by": "",
        "query": "",
        "k": 0,
        "ids": [],
        "cursor": 0,
    }
    none: dict[str, Any] = {"answer": "", "claims": [], "evidence": [], "claim_count": 0}
    return {"think": think, "call": {**empty, "tool": tool, **fields}, **none}


def submit(
    answer: str = "", *claims: tuple[str, str, str], think: str = "That is it.", **fields: Any
) -> dict[str, Any]:
    """A turn that submits claims from (text, span or claim id, quote)."""
    made = [
        {"claim_id": f"c{n}", "text": text, "status": "direct", "time": ""}
        for n, (text, _, _) in enumerate(claims, 1)
    ]
    evidence = [
        {"claim_id": f"c{n}", "span_id": span, "quote": quote}
        for n, (_, span, quote) in enumerate(claims, 1)
        if span
    ]
    turn = call("submit", think)
    values = {"answer": answer, "claims": made, "evidence": evidence, "claim_count": len(made)}
    return {**turn, **values, **fields}


def turns(*said: Said) -> Callable[[PromptRequest], Any]:
    """A model that says these things turn by turn, the last one again and again."""

    def respond(request: PromptRequest) -> Any:
        done = len(request.value("turns"))
        one = said[min(done, len(said) - 1)]
        return one(request) if callable(one) else one

    return respond


def output(request: PromptRequest, turn: int = -1) -> dict[str, Any]:
    """What a tool put out, as the model sees it."""
    return json.loads(request.value("turns")[turn]["output"])


def cell(code: str, reasoning: str = "Let us see.") -> dict[str, Any]:
    """A turn in the sandbox."""
    return {"reasoning": reasoning, "code": f"```python\n{code}\n```"}


def cells(*said: Said) -> Callable[[PromptRequest], Any]:
    """A model that writes these cells one by one, the last one again and again."""

    def respond(request: PromptRequest) -> Any:
        number = int(request.inputs["iteration"].split("/")[0])
        one = said[min(number, len(said)) - 1]
        return one(request) if callable(one) else one

    return respond


def printed(request: PromptRequest) -> str:
    """The output of the last cell, as the model sees it."""
    return re.split(r"Output \([\d,]+ chars\):\n", request.inputs["repl_history"])[-1]
