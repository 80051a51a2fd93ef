"""DSPy's own interpreter, CPython in WebAssembly under Deno, held to the limits of the ledger by a watch.

It has no limit of time or memory of its own, so a cell that exceeds one loses the worker. Deno takes seconds to start,
and on first use fetches what it needs from the network.
"""

import contextlib
import importlib.util
import shutil
import threading
from typing import Any

from dspy.primitives.python_interpreter import PythonInterpreter

from runtime.errors import SandboxError
from runtime.sandbox.watch import resident_bytes

_START_SECONDS = 120.0
START_HINT = "Deno fetches Pyodide and one module from the network at first use: start it once with a network"


class DenoSandbox(PythonInterpreter):
    """DSPy's PythonInterpreter for one run, used by one thread at a time."""

    watched = True

    def __init__(self) -> None:
        super().__init__()
        self.base_bytes = 0

    @property
    def worker_pid(self) -> int | None:
        return self.deno_process.pid if self.deno_process else None

    def start(self) -> None:
        if self.deno_process is not None:
            return
        late = threading.Timer(_START_SECONDS, self.kill)
        late.start()
        try:
            super().start()
        finally:
            late.cancel()
        self.base_bytes = resident_bytes(self.worker_pid)

    def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
        # It refuses a second thread; ours come one after another.
        self._owner_thread = None
        return super().execute(code, variables)

    def kill(self) -> None:
        """End the worker at once, whatever it does. Safe from another thread."""
        if process := self.deno_process:
            with contextlib.suppress(OSError):
                process.kill()

    def shutdown(self) -> None:
        process = self.deno_process
        try:
            super().shutdown()
        finally:
            for pipe in (process.stdin, process.stdout, process.stderr) if process else ():
                if pipe is not None:
                    with contextlib.suppress(OSError, ValueError):
                        pipe.close()


def require_deno() -> None:
    """Raise SandboxError, saying how to get it, where there is no Deno."""
    if importlib.util.find_spec("deno") is None and shutil.which("deno") is None:
        raise SandboxError(
            "the sandbox deno needs Deno, which is not installed",
            hint='install it with: pip install "dspy[deno]"; or leave --sandbox out to use Monty, which needs nothing',
        )
