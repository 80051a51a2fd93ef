"""Excerpts: what an optimizer is shown of a call, and puts into demos, in place of all that the model was shown.

An excerpt is JSON of the same fields: it renders as a demo, and fits into a reflection prompt. Of the text of a corpus
it holds at most TEXT characters, and of no source the whole; of the rest as much as tells what the call was. What was
left out is said where it stood. Nothing in it can pose as a part of a prompt (evals/harmless.py). The same call gives
the same excerpt, always.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from evals.call_facts import CallFacts
from evals.cuts import ITEMS, bounded, cut, marked
from evals.harmless import harmless_value
from evals.reading_excerpt import TEXT, ReadingExcerpt

__all__ = ["TEXT", "excerpt", "excerpt_outputs"]

_DATA = frozenset(
    (
        "claims",
        "completed",
        "computed",
        "context",
        "history",
        "observation",
        "overview",
        "prompt",
        "remaining",
        "repl_history",
        "steps_done",
        "think",
        "tools",
        "turns",
        "variables_info",
        "visited",
    )
)
"""Inputs that hold text of the corpus, or grow with it: together they have room for TEXT characters."""
_COUNTS = {"claim_count": "claims", "step_count": "steps", "statement_count": "statements"}
_QUOTES = 2
_QUOTE = 160
_OWN = 1_000
_REPLY = 2_000


def excerpt(
    predictor: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], facts: CallFacts
) -> dict[str, Any]:
    """The inputs of a call of a predictor, excerpted."""
    given, reply = _plain(inputs), _plain(outputs)
    if "spans" in given and "evidence" in reply:
        spans = ReadingExcerpt.of(given["spans"] or (), reply, facts).spans
        rest = {name: bounded(each, _OWN) for name, each in given.items() if name != "spans"}
        made = {name: spans if name == "spans" else rest[name] for name in given}
    else:
        made = _with_data(given, reply, facts)
    return harmless_value(made)


def excerpt_outputs(
    predictor: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], facts: CallFacts
) -> dict[str, Any]:
    """The outputs of the same call, excerpted: they quote nothing that the excerpt of the inputs left out."""
    given, reply = _plain(inputs), _plain(outputs)
    agreeing: dict[str, Any] = {}
    if "spans" in given and "evidence" in reply:
        agreeing = ReadingExcerpt.of(given["spans"] or (), reply, facts).reply
    elif given.get("claims") and "statements" in reply:
        agreeing = {"statements": _statements(given, reply, facts)}
    made = {name: agreeing.get(name, bounded(each, _REPLY)) for name, each in reply.items()}
    for count, name in _COUNTS.items():
        if count in made and made[count] == len(reply.get(name) or ()):
            made[count] = len(made.get(name) or ())
    return harmless_value(made)


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return to_jsonable_python(dict(fields), fallback=str)


def _with_data(
    given: Mapping[str, Any], reply: Mapping[str, Any], facts: CallFacts
) -> dict[str, Any]:
    """The inputs, those that hold text of the corpus within the room that there is for it."""
    filled = [name for name, each in given.items() if name in _DATA and each]
    room = TEXT // max(1, len(filled))
    made = {}
    for name, each in given.items():
        if name not in filled:
            made[name] = bounded(each, _OWN)
        elif name == "turns":
            made[name] = _last(each, room)
        elif name == "claims":
            made[name] = _claims(each, reply, facts, room)
        else:
            made[name] = cut(each, room) if isinstance(each, str) else bounded(each, room)
    return made


def _last(turns: Sequence[Any], room: int) -> list[Any]:
    """The last turns: what a model does next follows from them."""
    kept = list(turns[-4:])
    share = room // len(kept)
    made = [bounded(each, share) for each in kept]
    left = len(turns) - len(kept)
    return marked(made, f"{left} earlier turns left out", at=0) if left else made


def _claims(
    claims: Sequence[Mapping[str, Any]], reply: Mapping[str, Any], facts: CallFacts, room: int
) -> list[Any]:
    """The claims that are kept, each with a quote or two."""
    kept = _kept(claims, reply, facts)
    made = [_digest(each, facts, room // len(kept)) for each in kept]
    left = len(claims) - len(kept)
    return marked(made, f"{left} more claims left out") if left else made


def _kept(
    claims: Sequence[Mapping[str, Any]], reply: Mapping[str, Any], facts: CallFacts
) -> list[Mapping[str, Any]]:
    """The claims that the reply names, those that quote gold, and the first ones."""
    named = {str(id) for each in reply.get("statements") or () for id in each["claim_ids"]}
    held = {each.within for each in facts.gold}
    ranked = sorted(
        range(len(claims)),
        key=lambda at: (claims[at]["claim_id"] not in named, claims[at]["claim_id"] not in held),
    )
    return [claims[at] for at in sorted(ranked[:ITEMS])]


def _statements(given: Mapping[str, Any], reply: Mapping[str, Any], facts: CallFacts) -> list[Any]:
    """The statements, without the ids of claims that are left out."""
    kept = {str(each["claim_id"]) for each in _kept(given["claims"], reply, facts)}
    gone = {str(each["claim_id"]) for each in given["claims"]} - kept
    made = []
    for each in (reply["statements"] or ())[:ITEMS]:
        ids = [id for id in each["claim_ids"] if id not in gone][:ITEMS]
        if ids or not each["claim_ids"]:
            made.append({**bounded({**each, "claim_ids": []}, _REPLY // ITEMS), "claim_ids": ids})
    return made


def _digest(claim: Mapping[str, Any], facts: CallFacts, room: int) -> dict[str, Any]:
    """A claim within its room: half of it for its words, half for its quotes."""
    shortest = min(
        (facts.small[each] for each in claim["sources"] if each in facts.small), default=0
    )
    most = min(_QUOTE, room // 2 // _QUOTES)
    if shortest:  # never the whole of a source
        most = min(most, shortest * 3 // 4 // _QUOTES)
    quotes = [cut(str(each), max(1, most)) for each in claim["quotes"][:_QUOTES]]
    return {**bounded({**claim, "quotes": []}, max(24, room // 2)), "quotes": quotes}
