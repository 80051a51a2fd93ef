"""Crash: a double for the seam `Journal.on_commit` that kills its own process, as a power cut would."""

import os
import signal
from dataclasses import dataclass


@dataclass(frozen=True)
class CrashAfter:
    """Kills the process, without any clean-up, right after the commit of this number (from 1)."""

    commit: int

    def __call__(self, number: int) -> None:
        if number == self.commit:
            os.kill(os.getpid(), signal.SIGKILL)
