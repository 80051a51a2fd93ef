"""Limits: what a run may use at most. Frozen; a child can only narrow them.

`None` means no cap. Caps of the whole run: calls, tokens, money (US dollars), seconds of wall time. Caps of the
shape: depth, frames, steps, refinements, calls in flight. Caps of one thing: seconds of a call, of an
action, retries of a call, characters of a tool's output. Caps of one cell in the sandbox: seconds (its own, not those
in which it waits for the host), megabytes, nested calls, calls of host functions (suspensions), characters shown.
"""

import math
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from runtime.errors import LimitsError

_POSITIVE = (
    "steps_per_frame",
    "frames",
    "in_flight",
    "call_seconds",
    "action_seconds",
    "sandbox_seconds",
    "sandbox_memory_mb",
    "sandbox_recursion",
    "sandbox_suspensions",
    "sandbox_output_chars",
    "tool_output_chars",
)
_NEEDED_TO_START = ("calls", "input_tokens", "output_tokens", "tokens", "wall_seconds")


class Limits(BaseModel):
    """The caps of a run or of a part of one. Raises LimitsError for values that make no sense."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    wall_seconds: float | None = None
    depth: int = 3
    steps_per_frame: int = 12
    refinements_per_frame: int = 24
    frames: int = 64
    in_flight: int = 8
    retries: int = 2
    call_seconds: float = 300.0
    action_seconds: float = 120.0
    sandbox_seconds: float = 30.0
    sandbox_memory_mb: int = 256
    sandbox_recursion: int = 200
    sandbox_suspensions: int = 2_000
    sandbox_output_chars: int = 20_000
    tool_output_chars: int = 20_000

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        for name, value in self._set_values().items():
            if not math.isfinite(value) or value < 0:
                raise LimitsError(
                    f"the limit {name} is {value}: it must be 0 or more",
                    hint="leave a limit out to have no cap",
                    limit=name,
                )
            if value == 0 and name in _POSITIVE:
                raise LimitsError(
                    f"the limit {name} is 0: nothing could run",
                    hint="use a value above 0",
                    limit=name,
                )
        return self

    def narrowed(self, **caps: float | None) -> "Limits":
        """These limits with `caps` applied wherever they are the smaller. `None` leaves a limit as it is."""
        unknown = caps.keys() - type(self).model_fields.keys()
        if unknown:
            raise LimitsError(f"there is no limit named {', '.join(sorted(unknown))}")
        given = {name: value for name, value in caps.items() if value is not None}
        asked = Limits.model_validate(given)
        mine = self._set_values()
        smaller = {
            name: min(value, mine.get(name, value))
            for name, value in asked._set_values().items()
            if name in given
        }
        return self.model_copy(update=smaller)

    def check_start(self) -> None:
        """Raise LimitsError if not even a first call is possible within these limits."""
        for name in _NEEDED_TO_START:
            if getattr(self, name) == 0:
                raise LimitsError(
                    f"the limit {name} is 0: no call can be made",
                    hint="raise it, or leave it out",
                    limit=name,
                )

    def _set_values(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in values.items() if value is not None}
