"""Exit statuses, and the one way in which a mistake of the user or an interrupt is reported."""

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from runtime.errors import RunCancelled, UserError

OK = 0
NO_ANSWER = 1
MISTAKE = 2
INTERRUPTED = 130

STATUSES = {
    "answered": OK,
    "partial": OK,
    "not_found": OK,
    "not_found_in_covered": OK,
    "escalated": NO_ANSWER,
    "failed": NO_ANSWER,
}
"""Exit status by the outcome of an answer: what was found, or shown to be absent, is a result."""


class Interrupted(Exception):
    """Raised when the user interrupts a run that was admitted, so that it can be resumed."""

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self.command = command


class ReportingGroup(TyperGroup):
    """The verbs, with their errors told in one message. A bug is not caught: it shows its traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; exit 2 on a mistake of the user, 130 on an interrupt."""
        try:
            return super().invoke(ctx)
        except UserError as error:
            report(error)
            raise typer.Exit(MISTAKE) from error
        except Interrupted as interrupt:
            _complain(f"interrupted\nnext: {interrupt.command}")
            raise typer.Exit(INTERRUPTED) from interrupt
        except (KeyboardInterrupt, RunCancelled) as interrupt:
            _complain("interrupted")
            raise typer.Exit(INTERRUPTED) from interrupt


def report(error: UserError) -> None:
    """Print what is wrong and what to do about it on standard error."""
    _complain(f"error: {error.message}" + (f"\nnext: {error.hint}" if error.hint else ""))


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
