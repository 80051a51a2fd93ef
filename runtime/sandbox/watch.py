"""The watch over one cell of an interpreter that has no limits of its own: it kills the worker that exceeds them.

An interpreter asks for it by `watched = True`, `worker_pid`, `base_bytes` (its resident memory when it started) and
`kill()`. Memory is watched where /proc shows it; the cell ends at most one glance later.
"""

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from runtime.limits import Limits
from runtime.sandbox.toolbox import Toolbox

_GLANCE = 0.02
_PAGE = 4096


class Watch:
    """Kills the worker of `interpreter` when a cell exceeds its limits. `reason` then says which."""

    def __init__(self, interpreter: Any, limits: Limits, toolbox: Toolbox) -> None:
        self.reason = ""
        self._interpreter = interpreter
        self._limits = limits
        self._toolbox = toolbox
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        if getattr(self._interpreter, "watched", False):
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(_GLANCE):
            if self._exceeded():
                self._interpreter.kill()
                return

    def _exceeded(self) -> bool:
        seconds = time.monotonic() - self._began - self._toolbox.waited()
        if seconds > self._limits.sandbox_seconds:
            self.reason = f"the cell used more than {self._limits.sandbox_seconds:g} s"
        grown = resident_bytes(self._interpreter.worker_pid) - self._interpreter.base_bytes
        if grown > self._limits.sandbox_memory_mb << 20:
            self.reason = f"the cell used more than {self._limits.sandbox_memory_mb:,} MB of memory"
        return bool(self.reason)


def resident_bytes(pid: int | None) -> int:
    """Memory that a process holds now; 0 where it cannot be known."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
