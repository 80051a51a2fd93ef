"""Halt: how an optimizer is stopped.

The optimizers of DSPy catch every Exception of a program and go on with a score of zero, so that what must stop one is
no Exception. It never leaves this package.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Reason = Literal["budget", "interrupted", "error"]


class Halt(BaseException):
    """Raised within an optimizer to end it. For an error, `error` is what the optimization raises in its place."""

    def __init__(self, reason: Reason, error: BaseException | None = None) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self.error = error


@contextmanager
def no_exceptions() -> Iterator[None]:
    """Let no Exception out of the block to an optimizer, which would take it for a bad score: it ends everything."""
    try:
        yield
    except Exception as error:
        raise Halt("error", error) from error
