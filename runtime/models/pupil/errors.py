"""Errors of the pupil: the values of a right reply, spoilt as a lesson says, in ways that a program survives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from runtime.models.extractive.exploration import output_of
from runtime.models.extractive.findings import dicts, text
from runtime.models.pupil.lesson import Lesson
from runtime.models.request import PromptRequest

Proof = tuple[str, str, str]
"""Something that can be cited: an id, a quote (empty where the id is enough), and what it says."""
_QUOTE = 200
_LISTS = ("hits", "passages", "spans", "lines")


def misread(values: dict[str, Any], prompt: PromptRequest, lesson: Lesson) -> dict[str, Any]:
    """A reply to `AnalyzeLeaf`: claims lost, bare or wrongly quoted, and one where there should be none."""
    shown = [
        (str(span.get("span_id")), line[:_QUOTE], line)
        for span in prompt.value("spans", [])
        for line in [_line(text(span, "text"))]
        if line
    ]
    return _spoilt(values, shown, lesson)


def missubmitted(values: dict[str, Any], prompt: PromptRequest, lesson: Lesson) -> dict[str, Any]:
    """A reply to `Act`: as it is, unless it submits; then as of a reader, over what tools have shown."""
    if values["call"]["tool"] != "submit":
        return values
    outputs = [output_of(text(turn, "output")) for turn in prompt.value("turns", [])]
    spoilt = _spoilt(values, list(_proofs(outputs)), lesson)
    kept = [claim["text"] for claim in spoilt["claims"]]
    return {**spoilt, "answer": "\n".join(kept)}


def misconcluded(values: dict[str, Any], prompt: PromptRequest, lesson: Lesson) -> dict[str, Any]:
    """A reply to `Conclude`: statements lost, without the claims that they rest on, or with one more."""
    known = [(str(each.get("claim_id")), text(each, "text")) for each in prompt.value("claims", [])]
    made = [] if lesson.errs("silence") else list(values["statements"])
    if not values["statements"] and known and lesson.errs("guess"):
        id, said = known[lesson.pick(len(known), "guess")]
        made = [{"text": said, "status": "direct", "claim_ids": [id]}]
    kept = [each for each in made if not lesson.errs("skip", each["text"])]
    statements = [
        {**each, "claim_ids": _rests_on(each, [id for id, _ in known], lesson)} for each in kept
    ]
    return {**values, "statements": statements, "statement_count": len(statements)}


def _rests_on(statement: Mapping[str, Any], known: Sequence[str], lesson: Lesson) -> list[str]:
    ids, said = list(statement["claim_ids"]), statement["text"]
    if lesson.errs("drop", said):
        return []
    others = [each for each in known if each not in ids]
    if others and lesson.errs("overcite", said):
        ids.append(others[lesson.pick(len(others), said)])
    return ids


def _spoilt(values: dict[str, Any], shown: Sequence[Proof], lesson: Lesson) -> dict[str, Any]:
    claims = [] if lesson.errs("silence") else list(values["claims"])
    evidence = list(values["evidence"])
    if not values["claims"] and shown and lesson.errs("guess"):
        id, quote, said = shown[lesson.pick(len(shown), "guess")]
        claims = [{"claim_id": "c1", "text": said, "status": "direct", "time": ""}]
        evidence = [{"claim_id": "c1", "span_id": id, "quote": quote}]
    claims = [each for each in claims if not lesson.errs("skip", each["text"])]
    proofs = [ref for each in claims for ref in _evidence(each, evidence, shown, lesson)]
    spoilt = {**values, "claims": claims, "evidence": proofs, "claim_count": len(claims)}
    if "fields_found" in values:
        ids = {each["claim_id"] for each in claims}
        spoilt["fields_found"] = [e for e in values["fields_found"] if e["claim_id"] in ids]
    return spoilt


def _evidence(
    claim: Mapping[str, Any],
    evidence: Iterable[dict[str, Any]],
    shown: Sequence[Proof],
    lesson: Lesson,
) -> list[dict[str, Any]]:
    """What a claim is proved by: nothing, shortened quotes, one proof too many, or what is right."""
    said = claim["text"]
    refs = [each for each in evidence if each["claim_id"] == claim["claim_id"]]
    if not refs or lesson.errs("drop", said):
        return []
    beside = _beside(refs, shown) if lesson.errs("overcite", said) else None
    if lesson.errs("garble", said):
        refs = [{**each, "quote": _shortened(each["quote"])} for each in refs]
    if beside is not None:
        refs.append({"claim_id": claim["claim_id"], "span_id": beside[0], "quote": beside[1]})
    return refs


def _beside(refs: Sequence[Mapping[str, Any]], shown: Sequence[Proof]) -> Proof | None:
    """What stands next to what is cited, of the same kind: a span with a quote, or an id alone."""
    cited, quoted = {each["span_id"] for each in refs}, bool(refs[0]["quote"])
    places = [at for at, (id, _, _) in enumerate(shown) if id in cited] or [0]
    after = [*shown[places[-1] + 1 :], *reversed(shown[: places[-1]])]
    return next((each for each in after if each[0] not in cited and bool(each[1]) == quoted), None)


def _shortened(quote: str) -> str:
    """A quote with an ellipsis for its middle; an id that needs no quote stays alone."""
    words = quote.split()
    return f"{' '.join(words[: len(words) // 3 + 1])} [...] {words[-1]}" if words else ""


def _proofs(outputs: Iterable[Mapping[str, Any]]) -> Iterator[Proof]:
    """What the tools have shown that can be cited: lines of spans, and claims."""
    for output in outputs:
        for name in _LISTS:
            for each in dicts(output, name):
                line = _line(text(each, "text"))
                if line and text(each, "span_id"):
                    yield text(each, "span_id"), line[:_QUOTE], line
        for each in dicts(output, "claims"):
            if text(each, "claim_id") and text(each, "text"):
                yield text(each, "claim_id"), "", text(each, "text")


def _line(content: str) -> str:
    """The first line with something in it, as it stands."""
    return next((line.strip() for line in content.split("\n") if line.strip()), "")
