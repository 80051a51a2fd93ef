"""The sandbox: where code that a model wrote runs, one cell at a time, with no way out but the tools it is given.

`sandbox_factory` makes interpreters by name; `guarded` makes any interpreter safe for a run, and is what a `dspy.RLM`
gets. `runtime.sandbox.conformance` says what an interpreter keeps of what is promised here; docs/sandbox.md shows it.
"""

from runtime.sandbox.factory import SandboxFactory, sandbox_factory
from runtime.sandbox.guarded import Cell, Guarded, GuardedFactory, InterpreterFactory, guarded
from runtime.sandbox.quiet import quiet_rlm

__all__ = [
    "Cell",
    "Guarded",
    "GuardedFactory",
    "InterpreterFactory",
    "SandboxFactory",
    "guarded",
    "quiet_rlm",
    "sandbox_factory",
]
