"""Submitting: a final answer becomes the last step of its frame, and once is given back if its evidence is missing."""

from collections.abc import Sequence

from programs.observing import brief, failure, listed
from programs.run import Run
from programs.tools.submission import submitted
from programs.tools.tool import step_of
from runtime.events import Acted, StepCommitted
from runtime.frames import Frame, Step
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
    text = "" if last or _given_back(frame) else objection(seen)
    if text:
        seen, warnings = failure("not_found", text), []
    run.commit(
        *_events(frame, turn, think, answer, claims, evidence, seen),
        *run.warn(frame.id, warnings),
    )


def given_back(
    run: Run,
    frame: Frame,
    *,
    turn: int,
    answer: str,
    claims: Sequence[LeafClaim],
    evidence: Sequence[EvidenceRef],
) -> str:
    """Why an answer is given back before it is submitted; nothing when its evidence holds, or once this was said.

    It is committed as a step that failed, so that a replay, which has seen more by then, says the same.
    """
    before = _given_back(frame)
    if before is not None:
        told = before.observation.error if before.observation else ""
        return told if before.id == f"{SUBMIT}{turn}" else ""
    seen, _ = submitted(
        run, frame, answer=answer, claims=claims, evidence=evidence, key=f"{frame.id}/{SUBMIT}"
    )
    text = objection(seen)
    if text:
        refusal = failure("not_found", text)
        run.commit(*_events(frame, turn, "", answer, claims, evidence, refusal))
    return text


def _events(
    frame: Frame,
    turn: int,
    think: str,
    answer: str,
    claims: Sequence[LeafClaim],
    evidence: Sequence[EvidenceRef],
    seen: Observation,
) -> tuple[Acted, StepCommitted]:
    """A submission as a step, and what it came to."""
    act = Acted(
        frame_id=frame.id,
        turn=turn,
        think=think,
        tool=SUBMIT,
        arguments={"answer": answer, "claims": len(claims), "evidence": len(evidence)},
        step=step_of(f"{SUBMIT}{turn}", f"submit(claims={len(claims)})", "conclude"),
    )
    end = StepCommitted(
        frame_id=frame.id,
        step_id=act.step.id,
        status="completed" if seen.success else "failed",
        observation=seen,
        seconds=0.0,
    )
    return act, end


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


def _given_back(frame: Frame) -> Step | None:
    """The submission of a frame that was given back, if there was one."""
    return next(
        (
            step
            for step in frame.steps
            if step.planned.action == "conclude" and step.status == "failed"
        ),
        None,
    )
