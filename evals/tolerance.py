"""Tolerance: how many samples of an evaluation may end in errors before it is stopped."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import SpantreeError, UserError


class TooManyErrors(SpantreeError):
    """Raised when more samples ended in errors than are tolerated. What was evaluated is in the log."""

    def __init__(self, folder: Path, allowed: int, total: int, classes: Counter[str]) -> None:
        some = ", ".join(f"{name} ({count})" for name, count in classes.most_common(5))
        super().__init__(
            f"stopped: {classes.total():,} of {total:,} samples ended in errors, more than the {allowed:,} that are"
            f" tolerated: {some}"
        )
        self.folder = folder


@dataclass(frozen=True)
class Tolerance:
    """A share of all samples of the evaluation, or a number of them.

    The share is of all that are planned, so that whether an evaluation is stopped does not depend on their order.
    """

    share: float | None = 0.1
    count: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Tolerance":
        """From `12` (a number), `0.05` or `5%` (a share). Raises UserError."""
        try:
            if text.endswith("%"):
                share = float(text[:-1]) / 100
            elif "." in text:
                share = float(text)
            else:
                number = int(text)
                if number < 0:
                    raise ValueError
                return cls(share=None, count=number)
            if not 0 <= share <= 1:
                raise ValueError
        except ValueError as error:
            raise UserError(
                f"--max-errors is {text!r}: it must be a number of samples, or a share",
                hint="for example 10, 0.05 or 5%",
            ) from error
        return cls(share=share)

    def allowed(self, total: int) -> int:
        """How many of `total` samples may end in errors."""
        if self.count is not None:
            return self.count
        return int(total * (self.share or 0.0) + 1e-9)
