"""The tools in the form in which `dspy.ReActV2` calls them: what a model gives is checked by the tools themselves.

`dspy.Tool` checks arguments before its function sees them, and ReActV2 tells the model what was wrong by a traceback
with paths of the host. Here every call reaches its function, which answers in the words of the tools.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import dspy

from programs.submitting import SUBMIT
from programs.tools.arguments import Arguments, checked
from programs.tools.functions import tool_functions
from runtime.errors import MissingInput
from runtime.untrusted import restored
from signatures import SubmittedClaim

CallTool = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
EndWith = Callable[[str, list[SubmittedClaim]], Awaitable[Any]]


class Unchecked(dspy.Tool):
    """A tool whose function is given the arguments of a call as one dict, as they came from the model."""

    async def acall(self, /, **kwargs: Any) -> Any:
        """Call the function, whatever the arguments are."""
        return await super().acall(given=kwargs)


class Submission(Arguments):
    """Of `submit`."""

    answer: str
    claims: list[SubmittedClaim]


def react_tools(call: CallTool) -> list[dspy.Tool]:
    """The tools by the names, descriptions and schemas of their functions. Each calls `call` with its name."""

    def unbound(name: str, arguments: dict[str, Any]) -> Any:
        raise AssertionError(f"{name}({arguments}) is called by its function")

    return [_open(dspy.Tool(each), call) for each in tool_functions(unbound)]


def submit_tool(end: EndWith) -> dspy.Tool:
    """The tool that ends the conversation with what `end` makes of the answer and its claims."""

    async def taken(name: str, given: Mapping[str, Any]) -> Any:
        try:
            made = checked(name, Submission, given)
        except MissingInput as error:
            return f"not accepted: {error}"  # a dict would be the end
        return await end(made.answer, restored(list(made.claims)))

    async def submit(answer: str, claims: list[SubmittedClaim]) -> Any:
        """Submit the final answer and the claims that prove it. Call it alone, when you have seen all that you need."""

    return _open(dspy.Tool(submit, name=SUBMIT), taken)


def _open(told: dspy.Tool, call: CallTool) -> dspy.Tool:
    """A tool that is told as another one, and called without its checks."""
    name = str(told.name)

    async def taken(**kwargs: Any) -> Any:
        return await call(name, kwargs["given"])

    return Unchecked(func=taken, name=name, desc=told.desc, args=told.args, arg_types={})
