"""The coder: cells of Python for `dspy.RLM`: one that calls the tools and prints what came of it, one that submits.

What was printed is read back and submitted word for word. Where the prompt shows a part of it only, another cell prints
the rest; where that is too much, what is submitted is taken from the variables.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from runtime.lexicon import stems
from runtime.models.extractive.exploration import PASSAGES
from runtime.models.extractive.findings import Findings, dicts
from runtime.models.extractive.goal import LONGEST_QUERY, MOST_PARTS, Goal, goals_of
from runtime.models.extractive.reactor import as_submitted
from runtime.models.extractive.repl import Cell, cells_in, strings_in, variables_in
from runtime.models.extractive.submission import submission
from runtime.models.extractive.toolkit import TOOLKIT

_PAGES = 8
_ALL_PAGES = 40
_COMPLETE = frozenset(("list", "timeline"))
_MOST_PIECES = 8
_OF_A_KIND = 4
_ATTEMPTS = 2
_MOST: Mapping[str, int] = {"list": 60, "timeline": 25}
_STATED = 8
_PRINTED = "shown = json.dumps(found, ensure_ascii=False)\nprint(shown)"
_PIECE = re.compile(r"print\(shown\[(\d+):\d+\]\)")
_SUBMIT = "SUBMIT("
_AROUND = "print(json.dumps(around, ensure_ascii=False))"

Coded = tuple[str, str]
"""A reasoning and the code of a cell."""


def next_cell(variables_info: str, repl_history: str, iteration: str) -> dict[str, Any]:
    """The next cell, as `dspy.RLM` asks for it. `iteration` is like "3/20"; the last cell can only submit."""
    variables = variables_in(variables_info)
    goals = goals_of(
        variables.get("question", ""),
        variables.get("kind", ""),
        strings_in(variables.get("patterns", "[]")),
        variables.get("overview", ""),
    )
    number, _, most = iteration.strip().partition("/")
    reasoning, code = _cell(goals, cells_in(repl_history), is_last=number == most)
    return {"reasoning": reasoning, "code": f"```python\n{code}\n```"}


def _cell(goals: Sequence[Goal], cells: Sequence[Cell], is_last: bool) -> Coded:
    looks = [i for i, cell in enumerate(cells) if cell.code.endswith(_PRINTED)]
    refused = sum(_SUBMIT in cell.code for cell in cells)
    failed = not looks or not cells[looks[-1]].head.startswith("[{")
    if refused >= _ATTEMPTS or (failed and (is_last or len(looks) >= _ATTEMPTS)):
        return "It cannot be done: nothing is submitted.", _submitting([])
    if failed:
        return "The tools are asked for what the question needs.", _looking(goals)
    return _from_output(goals, cells[looks[-1]], cells[looks[-1] + 1 :], is_last)


def _from_output(goals: Sequence[Goal], look: Cell, later: Sequence[Cell], is_last: bool) -> Coded:
    """Submit what was printed, as far as it can be seen."""
    start, end = look.missing
    pieces = ""
    for cell in later:
        asked = _PIECE.fullmatch(cell.code)
        if asked and int(asked[1]) == start + len(pieces) and not cell.tail:
            pieces += cell.head
    at = start + len(pieces)
    room = len(look.head) + len(look.tail)
    tried = sum(_PIECE.fullmatch(cell.code) is not None for cell in later)
    fits = tried < _MOST_PIECES and end - start <= _MOST_PIECES * room
    if at < end and fits and not is_last:
        return (
            "The output was cut: its middle is printed.",
            f"print(shown[{at}:{min(end, at + room)}])",
        )
    found = _findings(goals, look.head + pieces + look.tail) if at >= end else None
    if found is None:
        return "The output is too long: the claims are taken as they are.", _from_variables(goals)
    around = [cell for cell in later if cell.code.endswith(_AROUND)]
    disputed = [each for one in found if one.goal.kind == "conflict" for each in one.disputed()]
    if disputed and not around and not is_last:
        return "Claims differ: what stands around them is looked at.", _looking_around(disputed)
    for cell in around:
        _take_context(found, cell.head)
    submitted = [as_submitted(each) for each in submission(found)]
    reasoning = "What was found is submitted." if submitted else "Nothing was found."
    return reasoning, _submitting(submitted)


def _looking_around(disputed: Sequence[tuple[str, str, int]]) -> str:
    places = ",\n    ".join(
        f"[{literal(claim_id)}, read_span(source={literal(source)}, first_line={line}, "
        f"last_line={line + 1})]"
        for claim_id, source, line in disputed
    )
    return f"around = [\n    {places},\n]\n{_AROUND}"


def _take_context(found: Sequence[Findings], printed: str) -> None:
    try:
        around = dict(json.loads(printed))
    except (ValueError, TypeError):
        return  # it cannot be seen: what differs stays a contradiction
    for one in found:
        for claim_id, output in around.items():
            one.add_context(claim_id, output if isinstance(output, dict) else {})


def _looking(goals: Sequence[Goal]) -> str:
    # A long question is shown in part, but the variable has it whole.
    whole = [f"question[:{LONGEST_QUERY}]"] if len(goals) == 1 else None
    queries = whole or [literal(goal.query) for goal in goals]
    calls = ",\n    ".join(map(_thinned, goals, queries))
    return f"{TOOLKIT}\nfound = [\n    {calls},\n]\n{_PRINTED}"


def _thinned(goal: Goal, query: str) -> str:
    """The call; of a course of events it keeps a few of each kind: enough to tell what recurs from what happens."""
    call = _call(goal, query)
    reads = goal.kind == "timeline" and goal.way in ("search", "all")
    return f"thinned({call}, {_OF_A_KIND})" if reads else call


def _call(goal: Goal, query: str) -> str:
    """The call of the toolkit that goes the way to a goal; `query` is an expression."""
    pattern, sources = literal(goal.pattern), literal(list(goal.sources))
    match goal.way:
        case "count":
            return f"counted({pattern}, {literal(goal.by)}, {literal(goal.source)})"
        case "extreme":
            return f"ends({query}, {pattern}, {sources}, {PASSAGES}, {_ALL_PAGES})"
        case "search":
            rest = f"{PASSAGES}, {_PAGES}, {goal.kind in _COMPLETE}, {goal.widens}"
            return f"read_found({query}, {pattern}, {sources}, {rest})"
        case "rank":
            return f"read_ranked({query}, {PASSAGES})"
        case "all":
            if goal.kind == "timeline":
                # The overview is shown in part only, so the sandbox asks what there is.
                return f"read_each({query}, apart({sources}, {MOST_PARTS}), {PASSAGES})"
            return f"read({query}, {sources}, {PASSAGES})"


def literal(value: Any) -> str:
    """Plain data as a Python literal on one line, in ASCII, without the marks that end a block of code."""
    return ascii(value).replace("`", r"\x60")


def _submitting(claims: Sequence[Mapping[str, Any]]) -> str:
    text = "\n".join(claim["text"] for claim in claims)
    return f"SUBMIT(answer={literal(text)}, claims={literal(list(claims))})"


def _findings(goals: Sequence[Goal], printed: str) -> list[Findings] | None:
    try:
        results = json.loads(printed)
    except ValueError:
        return None
    if not isinstance(results, list) or len(results) != len(goals):
        return None
    return [_taken_in(goal, result) for goal, result in zip(goals, results, strict=True)]


def _taken_in(goal: Goal, result: Any) -> Findings:
    found = Findings(goal)
    if not isinstance(result, dict):
        return found
    if "claims" in result:
        found.add_claims(result)
    if isinstance(result.get("count"), dict):
        found.add_count(result["count"])
    if goal.way == "extreme":
        found.add_lines(dicts(result, "lines"))
        found.tell_extreme()
    return found


def _from_variables(goals: Sequence[Goal]) -> str:
    """The claims with the most words of the question; of a timeline the first; of contradictions those marked so."""
    asked = [word for goal in goals for word in stems(goal.question)]
    kind = goals[0].kind
    kept = ' if claim["status"] == "conflicting"' if kind == "conflict" else ""
    key = (
        'claim["time"]'
        if kind == "timeline"
        else f'-sum(word in claim["text"].lower() for word in {literal(asked)})'
    )
    most = _MOST.get(kind, _STATED)
    return f"""\
claims = [claim for each in found for claim in each.get("claims", []){kept}]
claims = sorted(claims, key=lambda claim: {key})[:{most}]
SUBMIT(answer="\\n".join([claim["text"] for claim in claims]), claims=[
    {{name: claim[name] for name in ("text", "status", "time")}}
    | {{"evidence": [{{"span_id": claim["claim_id"], "quote": ""}}]}}
    for claim in claims
])"""
