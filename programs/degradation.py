"""Degradation: what stands in an answer for what a model was asked for, and was not given."""

from collections.abc import Iterator

from runtime.frames import Frame, RunState
from runtime.observations import Concluded

_RESCUED = "plan_rescued"


def degradations(state: RunState, concluded: Concluded | None, *, driven: bool) -> tuple[str, ...]:
    """Each in words; empty when the answer is what the program makes of a model's replies.

    `driven` says that a model took the steps one by one: such a run has no plan, and ends when the model submits.
    """
    found = [*_of_plans(state)]
    if concluded is None:
        found.append("the run came to no conclusion")
    elif concluded.mechanical and driven:
        found.append("the model did not submit an answer: what was found is given as it is")
    elif concluded.mechanical:
        found.append("there is no usable conclusion: what was found is given as it is")
    return tuple(dict.fromkeys(found))


def _of_plans(state: RunState) -> Iterator[str]:
    """The plans that are not what a model was asked for: rescued from its reply, or made in its place."""
    for frame in state.frames.values():
        codes = {each.code for each in state.warnings if each.frame_id == frame.id}
        if frame.degraded and _RESCUED in codes and "plan_fallback" not in codes:
            yield "a plan was rescued from a malformed reply"
        elif frame.degraded or _is_replanned(frame):
            yield "a plan by kind of question stands in for one of the model"


def _is_replanned(frame: Frame) -> bool:
    return any(each.degraded and each.decision == "revise" for each in frame.refinements)
