"""Facts of a model that may be written down: its name, and its parameters without keys and other secrets."""

from typing import Any

import dspy

from runtime.models.price import EMBEDDED

_SECRETS = ("key", "token", "secret", "password", "credential", "header")
"""What the name of a parameter has in it that may hold one. Better too many than one too few."""
_NO_SECRETS = ("max_tokens", "max_completion_tokens")
"""The maximum of a reply: the second is what DSPy makes of it for models that reason."""


def shown_name(lm: dspy.BaseLM | None) -> str:
    """The name of a model as users give it; empty for none."""
    return "" if lm is None else without_prefix(lm.model)


def without_prefix(model: str) -> str:
    """The name that DSPy has of a model as users give it."""
    return model.removeprefix(EMBEDDED)


def told_parameters(lm: dspy.BaseLM | None) -> dict[str, Any]:
    """The parameters of a model by name, in order, without secrets. Addresses are among them."""
    kwargs = getattr(lm, "kwargs", {})
    return {
        name: value
        for name, value in sorted(kwargs.items())
        if name in _NO_SECRETS or not any(secret in name.lower() for secret in _SECRETS)
    }
