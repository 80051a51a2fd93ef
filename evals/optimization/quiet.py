"""Quiet: what the optimizers of DSPy print, log and draw goes to a file."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

_LOGGERS = ("dspy", "gepa", "optuna")


@contextmanager
def told_to(path: Path) -> Iterator[None]:
    """Write everything that is printed, logged or warned within the block to a file, and to nothing else."""
    with (
        path.open("a", encoding="utf-8", errors="backslashreplace") as file,
        _logged_to(file),
        redirect_stdout(file),
        redirect_stderr(file),
        _warned_to(file),
    ):
        yield


@contextmanager
def _logged_to(file: TextIO) -> Iterator[None]:
    handler = logging.StreamHandler(file)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    before = {}
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        before[name] = logger.handlers, logger.propagate, logger.level
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for name, (handlers, propagate, level) in before.items():
            logger = logging.getLogger(name)
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


@contextmanager
def _warned_to(file: TextIO) -> Iterator[None]:
    """Optuna warns of what DSPy uses of it, and DSPy of what GEPA will make of it: not of anything of the user's."""

    def show(message: Warning | str, category: type[Warning], *where: object) -> None:
        print(f"{category.__name__}: {message}", file=file)

    with warnings.catch_warnings():
        for module in _LOGGERS:
            warnings.filterwarnings("always", module=rf"{module}(\.|$)")
        warnings.showwarning = show  # type: ignore[assignment]
        yield
