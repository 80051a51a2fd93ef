"""Submitting: a final answer becomes the last step of its frame, and once is given back if its evidence is missing."""

from collections.abc import Sequence

from programs.observing import brief, failure, listed
from programs.run import Run
from programs.tools.submission import submitted
from programs.tools.tool import step_of
from runtime.events import Acted, StepCommitted
from runtime.frames import Frame
from runtime.observations import Concluded, Observation
from signatures import EvidenceRef, LeafClaim, SubmittedClaim

SUBMIT = "submit"
_SHOWN = 3


def flattened(claims: Sequence[SubmittedClaim]) -> tuple[list[LeafClaim], list[EvidenceRef]]:
    """Submitted claims as the flat lists that readers return."""
    flat, evidence = [], []
    for number, claim in enumerate(claims, 1):
        id = f"c{number}"
        flat.append(LeafClaim(claim_id=id, text=claim.text, status=claim.status, time=claim.time))
        evidence += [
            EvidenceRef(claim_id=id, span_id=each.span_id, quote=each.quote)
            for each in claim.evidence
        ]
    return flat, evidence


def submit(
    run: Run,
    frame: Frame,
    *,
    turn: int,
    think: str,
    answer: str,
    claims: Sequence[LeafClaim],
    evidence: Sequence[EvidenceRef],
    last: bool,
) -> None:
    """Commit a submission as a step of its frame.

    The first one whose evidence does not hold fails, with what is wrong with it, unless it is the `last` turn.
    """
    id = f"{SUBMIT}{turn}"
    seen, warnings = submitted(
        run, frame, answer=answer, claims=claims, evidence=evidence, key=f"{frame.id}/{id}"
    )
    text = "" if last or _refused_before(frame) else objection(seen)
    if text:
        seen, warnings = failure("not_found", text), []
    act = Acted(
        frame_id=frame.id,
        turn=turn,
        think=think,
        tool=SUBMIT,
        arguments={"answer": answer, "claims": len(claims), "evidence": len(evidence)},
        step=step_of(id, f"submit(claims={len(claims)})", "conclude"),
    )
    end = StepCommitted(
        frame_id=frame.id,
        step_id=id,
        status="completed" if seen.success else "failed",
        observation=seen,
        seconds=0.0,
    )
    run.commit(act, end, *run.warn(frame.id, warnings))


def refused(
    run: Run,
    frame: Frame,
    *,
    answer: str,
    claims: Sequence[LeafClaim],
    evidence: Sequence[EvidenceRef],
) -> str:
    """What is wrong with the evidence of an answer, before it is submitted; nothing when it holds."""
    key = f"{frame.id}/{SUBMIT}"
    seen, _ = submitted(run, frame, answer=answer, claims=claims, evidence=evidence, key=key)
    return objection(seen)


def objection(seen: Observation) -> str:
    """Why a submission is given back, in words for the model; nothing when its evidence holds."""
    made = seen.payload
    if not isinstance(made, Concluded):
        return ""
    bare = [each for each in made.statements if each.status == "insufficient"]
    if not made.rejected and not bare:
        return ""
    faults = [
        f"{brief(each.quote, 80)!r} is not in span {each.span_id[:40]} as it was shown ({each.verdict})"
        for each in made.rejected
    ]
    faults += [f"without evidence that holds: {brief(each.text, 80)!r}" for each in bare]
    return (
        f"not accepted: {listed(faults, _SHOWN)}. Copy quotes character by character from spans that a tool showed, or "
        "name the id of a claim or a count. Submit again; what has no evidence then is thrown away."
    )


def _refused_before(frame: Frame) -> bool:
    return any(
        step.planned.action == "conclude" and step.status == "failed" for step in frame.steps
    )
