"""Adapters as the calls of a run use them: one engine call a call, and the system message written once.

DSPy renders the system message anew for every call, JSON schemas included, which takes longer than everything else
that it does. It depends on the signature alone. And its chat adapters make a second call of their own when a
reply cannot be parsed: here a retry is decided, paid and logged by the caller. The form that a server of one's own is
given has bounded lists.
"""

import copy
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import dspy

from runtime.models.own_server import OwnServer

SIGNATURES = 64
"""System messages kept; an optimizer makes signatures by the thousand."""


def prepared(adapter: dspy.Adapter) -> dspy.Adapter:
    """A copy of `adapter` with these differences; the messages that it sends and accepts are the same."""
    copied: Any = copy.copy(adapter)
    copied.format_system_message = _remembered(adapter.format_system_message)
    if getattr(copied, "use_json_adapter_fallback", False):
        copied.use_json_adapter_fallback = False
    if isinstance(adapter, dspy.JSONAdapter):
        copied._prepare_response_format = _bounded(adapter._prepare_response_format)
    return copied


def _bounded(prepare: Callable[[Any, dict[str, Any], Any], None]) -> Callable[..., None]:
    def prepare_response_format(lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> None:
        prepare(lm, lm_kwargs, signature)
        if isinstance(lm, OwnServer):
            lm.bounded(lm_kwargs.get("response_format"))

    return prepare_response_format


def _remembered(render: Callable[[Any], str]) -> Callable[[Any], str]:
    @lru_cache(maxsize=SIGNATURES)
    def rendered(signature: Any, instructions: str) -> str:
        return render(signature)

    def format_system_message(signature: Any) -> str:
        # The instructions of a signature can be set; its fields cannot.
        return rendered(signature, signature.instructions)

    return format_system_message
