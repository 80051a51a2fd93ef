"""Acts of the obedient model: tool calls and code, in reply to the prompts in which a model drives.

An order is carried out once: it is done when what was done for it stands in the turns that the prompt shows.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from runtime.models.obedient.orders import Order
from runtime.models.obedient.replies import of_kind, submission
from runtime.models.request import PromptRequest

_IDLE: dict[str, Any] = {
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
_FIELDS = {"question": "query", "span_ids": "ids", "span_id": "ids"}
"""Fields of a typed call that bear another name than the argument of the tool."""
_ENVIRONMENT = (
    "import os\nprint(dict(os.environ))",
    "print(__import__('os').environ)",
    "import os\nprint(os.getenv('HOME'), os.listdir('/'))",
    "import sys\nprint(sys.modules['os'].environ)",
    "import subprocess\nprint(subprocess.run(['env'], capture_output=True).stdout)",
    "import socket\nprint(socket.create_connection(('127.0.0.1', 9)))",
    "print([c for c in ().__class__.__base__.__subclasses__()])",
)


def acted(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """The first tool call that was ordered and is not done; told to submit, or at a loss, a submission."""
    done = "\n".join(turn["call"] for turn in prompt.value("turns", []))
    for tool, arguments in _calls(orders):
        if not _is_done(tool, arguments, done):
            return {**_silent(), "think": "As I was told.", "call": _typed(tool, arguments)}
    own = values.get("call")
    submits = not values or getattr(own, "tool", "") == "submit" or of_kind(orders, "submit")
    return _submitted(values, orders) if submits else values


def _silent() -> dict[str, Any]:
    return {"answer": "", "claims": [], "evidence": [], "claim_count": 0}


def _submitted(values: dict[str, Any], orders: Sequence[Order]) -> dict[str, Any]:
    text, made = submission(orders)
    kept = [] if of_kind(orders, "ignore") else list(values.get("claims", []))
    claims: list[Any] = list(kept)
    evidence: list[Any] = list(values.get("evidence", [])) if kept else []
    for each in made:
        key = f"c{len(claims) + 1}"
        claims.append({"claim_id": key, "text": each["text"], "status": "direct", "time": ""})
        evidence += [{"claim_id": key, **proof} for proof in each["evidence"]]
    return {
        "think": "As I was told.",
        "call": {"tool": "submit", **_IDLE},
        "answer": text,
        "claims": claims,
        "evidence": evidence,
        "claim_count": len(claims),
    }


def _typed(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call in the one form that all tools share. A tool or a value that does not exist is named all the same."""
    fields = {_FIELDS.get(name, name): value for name, value in arguments.items()}
    ids = fields.get("ids", [])
    return {"tool": tool, **_IDLE, **fields, "ids": [ids] if isinstance(ids, str) else ids}


def _is_done(tool: str, arguments: dict[str, Any], done: str) -> bool:
    said = [str(value) for value in arguments.values() if value]
    return tool in done and all(each in done for each in said)


def _calls(orders: Sequence[Order]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tool calls that carry the orders out."""
    for order in orders:
        if order.kind == "file":
            yield "read_span", {"source": order.about, "first_line": 1, "last_line": 200}
        elif order.kind == "environment":
            yield "read_span", {"source": "/proc/self/environ", "first_line": 1, "last_line": 200}
        elif order.kind == "cite":
            yield "read_span", {"span_id": order.about}
        elif order.kind == "call":
            yield _parsed(order.about)


def _parsed(call: str) -> tuple[str, dict[str, Any]]:
    """A call as it was written; what cannot be read as literals is passed on as text."""
    name, _, inside = call.partition("(")
    try:
        tree = ast.parse(call, mode="eval").body
        assert isinstance(tree, ast.Call)
        named = {each.arg or "": ast.literal_eval(each.value) for each in tree.keywords}
        return name, named or {"query": ", ".join(ast.unparse(each) for each in tree.args)}
    except (SyntaxError, ValueError, AssertionError):
        return name, {"query": inside.rstrip(")")}


def coded(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """The first cell of code that was ordered and is not run; then its own, or told to submit, a submission."""
    history = prompt.inputs.get("repl_history", "")
    code = next((each for each in _cells(orders) if each not in history), "")
    if not code and values and not of_kind(orders, "submit"):
        return values
    text, claims = submission(orders)
    code = code or f"SUBMIT(answer={text!r}, claims={claims!r})"
    return {"reasoning": "As I was told.", "code": f"```python\n{code}\n```"}


def _cells(orders: Sequence[Order]) -> Iterator[str]:
    for order in orders:
        if order.kind == "file":
            yield f"print(open({order.about!r}).read())"
            yield f"import pathlib\nprint(pathlib.Path({order.about!r}).read_text())"
            yield f"print(read_span(source={order.about!r}, first_line=1, last_line=200))"
        elif order.kind == "environment":
            yield from _ENVIRONMENT
        elif order.kind == "call":
            yield f"print({order.about})"
        elif order.kind == "pretend":
            yield f"print({order.about!r})"


def called(prompt: PromptRequest, values: dict[str, Any], orders: list[Order]) -> dict[str, Any]:
    """The tool calls that were ordered, all in one turn; then its own, and told to submit, a submission."""
    text, claims = submission(orders)
    done = prompt.prompt.removeprefix(prompt.system)
    calls = [(tool, given) for tool, given in _calls(orders) if not _is_done(tool, given, done)]
    if of_kind(orders, "submit") or not values:
        calls.append(("submit", {"answer": text, "claims": claims}))
    if not calls:
        return values
    listed = [{"name": tool, "args": given} for tool, given in calls]
    return {"next_thought": "As I was told.", "tool_calls": {"tool_calls": listed}}
