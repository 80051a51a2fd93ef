"""Refinement: after an observation, the remaining steps of a frame are kept, rewritten or given up.

Finished steps are never touched. An empty or malformed refinement keeps the plan that there is. What passes by itself
(a timeout, a rate limit) is answered by code: the original action is tried again. A step whose input is refused
stays in the plan and is blocked when its turn comes, so that it is seen that it was not done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from programs.planning import Ordered, ordered, stated
from runtime.frames import Frame, Step
from signatures import Decision, PlannedStep

RefinePolicy = Literal["always", "on_change", "on_failure", "never"]
"""When the model is asked: after every observation, after one that is new or failed, after failures only, or never."""

RETRIED = frozenset(("timeout", "rate_limit", "unavailable"))
"""Error classes whose answer is the original action once more."""


@dataclass(frozen=True, slots=True)
class Refinement:
    """What refinement decided. `steps` are all the remaining ones."""

    decision: Decision
    reason: str
    think: str
    steps: tuple[PlannedStep, ...]
    degraded: bool = False
    called_model: bool = False


def asks_model(policy: RefinePolicy, frame: Frame, steps: Sequence[Step], repeated: bool) -> bool:
    """Whether the policy wants the model's view of these observations."""
    if policy == "never":
        return False
    if not [step for step in frame.remaining if step.planned.action != "conclude"] and all(
        step.observation is not None and not step.observation.error_class for step in steps
    ):
        return policy == "always"
    failed = any(step.observation is not None and step.observation.error_class for step in steps)
    if policy == "always":
        return True
    return failed or (policy == "on_change" and not repeated)


def by_class(frame: Frame, steps: Sequence[Step], retries: int) -> Refinement:
    """What the error classes of some observations ask for, without a model."""
    remaining = tuple(step.planned for step in frame.remaining)
    added: list[PlannedStep] = []
    for step in steps:
        seen = step.observation
        if seen is not None and seen.error_class in RETRIED and not seen.success:
            added += _again(frame, step, retries)
    if added:
        renamed = {old: new.id for old, new in _renamed(steps, added).items()}
        following = tuple(_following(each, renamed) for each in remaining)
        return Refinement("revise", "the original action is tried again", "", (*added, *following))
    return Refinement("keep", "the plan stands", "", remaining)


def _again(frame: Frame, step: Step, retries: int) -> list[PlannedStep]:
    """The original action under a new id, unless it has been tried often enough."""
    stem, _, number = step.id.partition("~")
    attempt = int(number) + 1 if number.isdigit() else 1
    if attempt > retries or frame.step(f"{stem}~{attempt}") is not None:
        return []
    return [step.planned.model_copy(update={"id": f"{stem}~{attempt}"})]


def _renamed(steps: Sequence[Step], added: Sequence[PlannedStep]) -> dict[str, PlannedStep]:
    return {
        step.id: new
        for step in steps
        for new in added
        if new.id.partition("~")[0] == step.id.partition("~")[0]
    }


def _following(step: PlannedStep, renamed: dict[str, str]) -> PlannedStep:
    """A step whose references follow the retried action."""
    return step.model_copy(
        update={
            "depends_on": [renamed.get(each, each) for each in step.depends_on],
            "targets": [renamed.get(each, each) for each in step.targets],
        }
    )


def accepted(
    decision: Decision,
    steps: Sequence[PlannedStep],
    frame: Frame,
    *,
    max_steps: int,
    depth_left: int,
) -> Ordered:
    """The remaining steps that a model's decision comes to, made runnable."""
    ended = [step.id for step in frame.steps if step.ended]
    remaining = [step.planned for step in frame.remaining]
    chosen = stated(steps) if decision == "revise" else []
    if decision == "finish":
        chosen = [step for step in remaining if step.action == "conclude"]
    if not chosen:
        return Ordered(tuple(remaining), ())
    room = max(1, max_steps - len(ended))
    return ordered(chosen, max_steps=room, taken=ended, depth_left=depth_left)
