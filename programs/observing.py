"""Observations made and told: how results of steps are built, hashed and put into short words."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from programs.evidence import neutralize
from runtime.errors import ErrorClass, StepError
from runtime.frames import Frame, Step
from runtime.observations import Observation, Payload

_BRIEF = 400


def result_hash(payload: Payload | None) -> str:
    """A hash over a result, by which a repeated result is recognized."""
    raw = payload.model_dump(mode="json") if payload is not None else None
    text = json.dumps(raw, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def success(summary: str, payload: Payload) -> Observation:
    """The observation of a step that did what it should."""
    return Observation(
        success=True,
        error_class="",
        error="",
        summary=summary,
        payload=payload,
        result_hash=result_hash(payload),
    )


def absent(summary: str, payload: Payload) -> Observation:
    """The observation of a search that ran as it should and found nothing: a result, not a failure."""
    return success(summary, payload).model_copy(update={"error_class": "not_found"})


def failure(
    error_class: ErrorClass | str, error: str, payload: Payload | None = None
) -> Observation:
    """The observation of a step that did not; what it did achieve may be kept as payload."""
    return Observation(
        success=False,
        error_class=error_class,
        error=error,
        summary=f"{error_class}: {error}",
        payload=payload,
        result_hash=result_hash(payload),
    )


def from_error(error: StepError) -> Observation:
    """The observation that an expected error comes to."""
    return failure(error.error_class, str(error))


def brief(text: str, limit: int = _BRIEF) -> str:
    """A text cut for a prompt, in one line, with its field markers neutralized."""
    flat = neutralize(" ".join(text.split()))
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def told(step: Step) -> str:
    """A finished step in one line, as prompts see it: results of completed steps, reasons of others."""
    seen = step.observation
    head = f"step {step.id} ({step.planned.action}): "
    if seen is None:
        return head + step.status
    if step.status == "completed":
        return head + brief(seen.summary)
    return head + f"{step.status}, {brief(seen.summary)}"


def history(frame: Frame) -> str:
    """All finished steps of a frame, one a line."""
    lines = [told(step) for step in frame.steps if step.ended]
    return "\n".join(lines) or "nothing yet"


def joined(steps: Sequence[Step]) -> tuple[str, str]:
    """Observation text and error class for refinement; the first error speaks for several steps."""
    classes = [
        step.observation.error_class
        for step in steps
        if step.observation is not None and step.observation.error_class
    ]
    ordered = sorted(
        steps, key=lambda step: not (step.observation and step.observation.error_class)
    )
    return "\n".join(told(step) for step in ordered), classes[0] if classes else "success"


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 line", "520 lines"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(items: Iterable[str], most: int = 6) -> str:
    """Items in words, with the rest as a number."""
    all_items = list(items)
    shown = ", ".join(all_items[:most])
    rest = len(all_items) - most
    return f"{shown} and {rest} more" if rest > 0 else shown
