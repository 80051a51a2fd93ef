"""Returning: what a finished frame hands to its parent."""

from collections.abc import Iterator

from programs.conclusion import gathered
from programs.coverage import payloads_of
from programs.observing import counted
from programs.run import Run
from runtime.claims import Claim, Computed
from runtime.frames import Frame
from runtime.observations import Analyzed, ComputedResult, Concluded, Returned

UNKNOWNS = 20
"""Open ends that a frame hands up."""


def returned(run: Run, frame: Frame) -> Returned:
    """What a frame hands up: conclusions and error classes, never raw payloads or the text."""
    claims, computed = gathered(run, frame)
    claims = _submitted(frame) or claims
    values = [
        step.observation.payload.value
        for step in frame.steps
        if step.observation and isinstance(step.observation.payload, ComputedResult)
    ]
    handed_up = _handed_up(frame, claims, computed)
    return Returned(
        frame_id=frame.id,
        claims=handed_up if frame.parent_id else (),
        computed=computed if frame.parent_id else (),
        value=values[-1] if values and frame.parent_id else None,
        unknowns=tuple(dict.fromkeys(_unknowns(frame)))[:UNKNOWNS],
        error_classes=tuple(dict.fromkeys(_error_classes(frame))),
        steps_done=sum(step.status == "completed" for step in frame.steps),
        steps_failed=sum(step.status not in ("completed", "skipped") for step in frame.steps),
    )


def _handed_up(
    frame: Frame, claims: tuple[Claim, ...], computed: tuple[Computed, ...]
) -> tuple[Claim, ...]:
    """The claims of a frame; of one whose model submitted an answer, its statements and what was computed."""
    submitted = [each for each in payloads_of(frame) if isinstance(each, Concluded)]
    if not submitted or submitted[-1].mechanical:
        return claims
    stated = [each for each in submitted[-1].statements if each.status != "insufficient"]
    known = {each.id for each in stated}
    named = {claim_id for each in computed for claim_id in each.claim_ids} - known
    return (*stated, *(each for each in claims if each.id in named))


def _submitted(frame: Frame) -> tuple[Claim, ...]:
    """What a model that drove the frame submitted as its answer: it stands for all that was found on the way."""
    made = [each for each in payloads_of(frame) if isinstance(each, Concluded)]
    return tuple(
        claim
        for each in made[-1:]
        if not each.mechanical
        for claim in each.statements
        if claim.status != "insufficient"
    )


def _error_classes(frame: Frame) -> Iterator[str]:
    """The classes of the errors that a frame met, those of single partitions included."""
    for step in frame.steps:
        seen = step.observation
        if seen is None:
            continue
        if seen.error_class and (not seen.success or seen.error_class == "limit"):
            yield seen.error_class
        if isinstance(seen.payload, Analyzed):
            yield from (each.error_class for each in seen.payload.failed)


def _unknowns(frame: Frame) -> Iterator[str]:
    for payload in payloads_of(frame):
        if isinstance(payload, Analyzed | Returned):
            yield from payload.unknowns


def reason(frame: Frame) -> str:
    """Why a frame came to nothing: its first error."""
    errors = (step.observation.error for step in frame.steps if step.observation)
    return next((each for each in errors if each), "nothing was found to work on")


def summary(result: Returned) -> str:
    """What a frame hands up, in one line."""
    text = f"{counted(len(result.claims), 'claim')} returned"
    if result.error_classes:
        text += f"; errors met: {', '.join(result.error_classes)}"
    return text
