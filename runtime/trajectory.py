"""The trajectory of a run: what the model that drives it did, turn by turn, and what it saw. Derived from the state."""

from dataclasses import dataclass
from typing import Any

from runtime.columns import one_line
from runtime.events import Acted, StepStatus
from runtime.frames import RunState
from runtime.view import result_line


@dataclass(frozen=True, kw_only=True)
class Move:
    """One tool call, or one cell of code.

    `result` is one line; characters are what code went through, and what the model was shown of it.
    """

    frame_id: str
    turn: int
    step_id: str
    think: str
    tool: str
    arguments: dict[str, Any]
    status: StepStatus
    seconds: float
    result: str
    read_characters: int
    shown_characters: int
    cut: str

    @property
    def call(self) -> str:
        """The call on one line, without arguments that are left empty."""
        given = (f"{name}={value!r}" for name, value in self.arguments.items() if value)
        return one_line(f"{self.tool}({', '.join(given)})")


def trajectory(state: RunState) -> list[Move]:
    """All moves in the order in which they were made."""
    return [_move(state, acted) for acted in state.acted]


def _move(state: RunState, acted: Acted) -> Move:
    step = state.frames[acted.frame_id].step(acted.step.id)
    seen = [
        each
        for each in state.accessed
        if (each.frame_id, each.step_id) == (acted.frame_id, acted.step.id)
    ]
    return Move(
        frame_id=acted.frame_id,
        turn=acted.turn,
        step_id=acted.step.id,
        think=acted.think,
        tool=acted.tool,
        arguments=dict(acted.arguments),
        status=step.status if step else "pending",
        seconds=step.seconds if step else 0.0,
        result=result_line(step.observation if step else None),
        read_characters=sum(each.read_characters for each in seen),
        shown_characters=sum(each.shown_characters for each in seen),
        cut="; ".join(each.cut for each in seen if each.cut),
    )
