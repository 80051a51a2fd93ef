"""Submission: a final answer of a model that drives, as statements whose citations code has made.

A model cites a span, with a quote of what tools showed of it, or a claim that readers or a count returned, by its id.
Everything else is rejected. The free text of the answer is kept only as far as the verified claims say it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from data.span import Span
from programs.conclusion import cited, gathered
from programs.coverage import payloads_of
from programs.evidence import restore
from programs.inputs import claims_of
from programs.merge import by_id, merged
from programs.observing import brief, counted, success
from programs.run import Run
from programs.sight import Sight
from programs.tools.wording import adds_nothing, is_said
from programs.verify import Verifier
from runtime.claims import Citation, Claim, Computed, Rejection
from runtime.errors import NotFound
from runtime.frames import Frame
from runtime.observations import Concluded, Observation
from signatures import EvidenceRef, LeafClaim, Statement

UNSUPPORTED = "answer_unsupported"
"""Code of the warning that the free text of an answer says more than its claims."""
Warnings = list[tuple[str, str]]


def submitted(
    run: Run,
    frame: Frame,
    *,
    answer: str,
    claims: Sequence[LeafClaim],
    evidence: Sequence[EvidenceRef],
    key: str,
) -> tuple[Observation, Warnings]:
    """The statements of a submitted answer, under ids that begin with `key`, and warnings about what was left out.

    The statements come in the order in which they were submitted, the free text first. Claims without evidence that
    holds are `insufficient`.
    """
    known = by_id(list(claims_of(payloads_of(frame))))
    computed = gathered(run, frame)[1]
    resolved = _resolved(run, known, claims, evidence, key)
    made = [
        _statement(claim, resolved.of(claim.claim_id), known, computed, f"{key}.{number}")
        for number, claim in enumerate(claims, 1)
        if claim.text.strip()
    ]
    kept = by_id(merged(made, run.workspace.source_rank))
    statements = [kept[each.id] for each in made if each.id in kept]
    warnings: Warnings = []
    text = restore(answer.strip())
    if text:
        head, warnings = _answer(run, frame, text, statements, computed, f"{key}.0")
        statements = [*head, *statements]
    payload = Concluded(
        statements=tuple(statements),
        unknowns=(),
        mechanical=False,
        rejected=resolved.rejected,
    )
    summary = counted(len(statements), "statement")
    if resolved.rejected:
        summary += f"; {counted(len(resolved.rejected), 'reference')} rejected"
    return success(summary, payload), warnings


@dataclass(frozen=True, slots=True)
class _Resolved:
    """What the evidence came to: by claim the citations of quotes and the ids of known claims."""

    citations: Mapping[str, list[Citation]]
    premises: Mapping[str, list[str]]
    rejected: tuple[Rejection, ...]

    def of(self, claim_id: str) -> tuple[list[Citation], list[str]]:
        return self.citations.get(claim_id, []), self.premises.get(claim_id, [])


def _resolved(
    run: Run,
    known: Mapping[str, Claim],
    claims: Iterable[LeafClaim],
    evidence: Sequence[EvidenceRef],
    key: str,
) -> _Resolved:
    """Each reference as a citation, as a known claim, or as a rejection."""
    own = {claim.claim_id for claim in claims}
    sight = Sight.of(run.state)
    verifier = Verifier(run.workspace.corpus, _shown_spans(run, sight, evidence), sight)
    citations: dict[str, list[Citation]] = {}
    premises: dict[str, list[str]] = {}
    rejected: list[Rejection] = []
    for ref in evidence:
        if ref.claim_id not in own:
            rejected.append(_reject(ref))
        elif ref.span_id in known:
            premises.setdefault(ref.claim_id, []).append(ref.span_id)
        else:
            found = _anchored(verifier, ref)
            if isinstance(found, Citation):
                citations.setdefault(ref.claim_id, []).append(found)
            else:
                rejected.append(found)
    return _Resolved(citations, premises, tuple(rejected))


def _shown_spans(run: Run, sight: Sight, evidence: Iterable[EvidenceRef]) -> list[Span]:
    """The spans that evidence names, as far as a tool of this run has shown something of them."""
    found = []
    for id in dict.fromkeys(ref.span_id for ref in evidence):
        try:
            span = run.workspace.partitioning.span(id)
        except NotFound:
            continue
        if sight.touches(span.source, span.start, span.end):
            found.append(span)
    return found


def _anchored(verifier: Verifier, ref: EvidenceRef) -> Citation | Rejection:
    """The citation of a quote. One that was copied from JSON may still have its escapes."""
    found = verifier.anchor(ref)
    if isinstance(found, Citation) or found.verdict != "not_in_text" or "\\" not in ref.quote:
        return found
    try:
        plain = json.loads(f'"{ref.quote}"', strict=False)
    except ValueError:
        return found
    again = verifier.anchor(ref.model_copy(update={"quote": plain}))
    known = isinstance(again, Citation) or again.verdict == "not_shown"
    return again if known else found


def _reject(ref: EvidenceRef) -> Rejection:
    """The rejection of evidence for a claim that was not submitted."""
    return Rejection(
        claim=ref.claim_id, span_id=ref.span_id, quote=ref.quote[:400], verdict="unknown_span"
    )


def _statement(
    claim: LeafClaim,
    evidence: tuple[list[Citation], list[str]],
    known: Mapping[str, Claim],
    computed: Sequence[Computed],
    id: str,
) -> Claim:
    """A submitted claim with its citations; its status is the strongest that they allow."""
    citations, premises = evidence
    quoted = {
        f"{id}.quote{number}": Claim(id="", text="", status="direct", citations=(each,))
        for number, each in enumerate(citations, 1)
    }
    statement = Statement(
        text=claim.text, status=claim.status, claim_ids=[*dict.fromkeys(premises), *quoted]
    )
    made = cited(statement, {**known, **quoted}, computed, id)
    return made.model_copy(
        update={
            "time": restore(claim.time.strip()) or made.time,
            "premises": tuple(each for each in made.premises if each),
        }
    )


def _answer(
    run: Run,
    frame: Frame,
    text: str,
    statements: Sequence[Claim],
    computed: Sequence[Computed],
    id: str,
) -> tuple[list[Claim], Warnings]:
    """The free text as a statement of its own, if it is one and the claims bear it."""
    supported = [each for each in statements if each.status != "insufficient"]
    if is_said(text, supported):
        return [], []
    asked = [run.question, frame.task]
    if not supported or not adds_nothing(text, supported, computed, asked):
        told = f"the text of the answer says more than its verified claims, and is left out: {brief(text, 200)}"
        return [], [(UNSUPPORTED, told)]
    # A summary of two sides is not a conflict of its own.
    split = any(each.status == "conflicting" for each in supported)
    status = "inferred" if split else "direct"
    statement = Statement(text=text, status=status, claim_ids=[each.id for each in supported])
    return [cited(statement, by_id(supported), computed, id)], []
