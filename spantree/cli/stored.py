"""The answer that a finished run left in the journal."""

from programs.answer import Answer
from runtime.frames import RunState


def stored_answer(state: RunState) -> Answer | None:
    """The answer of a run, or None if it is not finished."""
    return Answer.model_validate(state.finished.answer) if state.finished else None
