"""Exit statuses, and the one way in which a mistake of the user or an interrupt is reported."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from runtime.errors import RunCancelled, UserError
from spantree.cli.flags import told

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


def then(error: UserError, command: str) -> None:
    """Say in the hint of a mistake that can be mended which command goes on after that."""
    error.hint = f"{error.hint}; then: {command}" if error.hint else command


class ReportingGroup(TyperGroup):
    """The verbs, with their errors told in one message. A bug is not caught: it shows its traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; exit 2 on a mistake of the user, 130 on an interrupt."""
        try:
            with terminated_as_interrupted():
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


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Being told to terminate stops a verb as Ctrl-C does: in order, and naming the command that goes on.

    Where Ctrl-C is ignored or handled otherwise, and in a thread that cannot be told, nothing changes.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def report(error: UserError) -> None:
    """Print what is wrong and what to do about it on standard error."""
    _complain(f"error: {told(error)}" + (f"\nnext: {error.hint}" if error.hint else ""))


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
