"""The sandboxes by name, each with a text that tells a model what it runs on."""

from collections.abc import Callable
from dataclasses import dataclass

from dspy.primitives.code_interpreter import CodeInterpreter
from dspy.primitives.python_interpreter import PythonInterpreter
from dspy_monty_interpreter import MontyInterpreter

from runtime.errors import SandboxError
from runtime.limits import Limits
from runtime.sandbox.deno import START_HINT, DenoSandbox, require_deno
from runtime.sandbox.guarded import house_rules
from runtime.sandbox.monty import INSTANT, MontySandbox

NAMES = ("monty", "deno")


@dataclass(frozen=True)
class SandboxFactory:
    """Makes interpreters of one kind. `dspy.RLM` puts `execution_instructions` in front of its model."""

    name: str
    make: Callable[[], CodeInterpreter]
    execution_instructions: str
    start_hint: str

    def __call__(self) -> CodeInterpreter:
        return self.make()


def sandbox_factory(name: str, limits: Limits) -> SandboxFactory:
    """The factory of `monty` or `deno`. Raises SandboxError for another name, or where there is no Deno."""
    if name == "monty":
        return SandboxFactory(
            name,
            lambda: MontySandbox(limits),
            _instructions(MontyInterpreter.execution_instructions, _MONTY, limits),
            "reinstall the package pydantic-monty, which brings the worker program",
        )
    if name == "deno":
        require_deno()
        return SandboxFactory(
            name,
            DenoSandbox,
            _instructions(PythonInterpreter.execution_instructions, _DENO, limits),
            START_HINT,
        )
    raise SandboxError(f"there is no sandbox named {name!r}", hint=f"use {' or '.join(NAMES)}")


def _instructions(runtime: str, cell: str, limits: Limits) -> str:
    told = cell.format(
        instant=INSTANT.strftime("%Y-%m-%d %H:%M UTC"),
        seconds=limits.sandbox_seconds,
        megabytes=limits.sandbox_memory_mb,
        recursion=limits.sandbox_recursion,
    )
    return f"{runtime}\n{told}\n{house_rules(limits)}"


_MONTY = (
    "The clock stands still at {instant}, and random numbers are the same each time, so that a cell that runs again "
    "gives the same result; do not look for today's date here. "
    "A cell may use {seconds:g} s of its own (waiting for a tool does not count), {megabytes} MB of memory and "
    "{recursion} nested calls. Running out of time resets the sandbox; running out of memory may."
)
_DENO = (
    "A cell may use {seconds:g} s of its own (waiting for a tool does not count) and about {megabytes} MB of "
    "memory. Running out of either resets the sandbox; so does an exception whose arguments are not JSON, such as "
    "slicing a dict: catch exceptions where you expect them."
)
