"""Windows of models: how many characters of evidence one prompt holds, where that is known.

An estimate, made before anything is sent: text of other scripts than Latin takes more tokens a character. What does not
fit after all is refused by the model, and the caller shows less.
"""

from typing import Any

import dspy
from dspy.clients.backend_selection import select_backend
from dspy.clients.model_metadata import model_info

DEFAULT_WINDOW = 100_000
"""Characters for a model of which nothing is known."""
CHARACTERS_PER_TOKEN = 3.2
"""Of evidence as it is shown: with ids, quotation marks and escapes."""
INSTRUCTION_TOKENS = 3_000
"""Kept for everything in a prompt that is not evidence."""
REPLY_TOKENS = 8_000
"""Kept for the reply of a model that declares no maximum for it; never more than a quarter of the window."""


def window_characters(lm: dspy.BaseLM | None) -> int:
    """How many characters of evidence a prompt of the model holds: what a custom engine declares as `window`, else what
    DSPy's model table says, else a cautious default.

    The first look-up may load the table over the network (DSPy's own policy): not for an event loop.
    """
    if lm is None:
        return DEFAULT_WINDOW
    engine = getattr(lm, "engine", None)
    if not isinstance(engine, str):
        declared = getattr(engine, "window", None)
        return declared if isinstance(declared, int) and declared > 0 else DEFAULT_WINDOW
    tokens = _input_tokens(lm)
    if tokens is None:
        return DEFAULT_WINDOW
    reply = lm.kwargs.get("max_tokens") or lm.kwargs.get("max_completion_tokens") or REPLY_TOKENS
    left = tokens - min(int(reply), tokens // 4) - min(INSTRUCTION_TOKENS, tokens // 4)
    return max(1, int(left * CHARACTERS_PER_TOKEN))


def _input_tokens(lm: dspy.BaseLM) -> int | None:
    """The tokens that the table gives a model for its input, or None."""
    route = select_backend(lm).resolution
    if route is not None:
        info = model_info(getattr(route, "provider", ""), getattr(route, "model", ""))
    else:
        provider, _, name = lm.model.partition("/")
        info = model_info(provider, name)
    found: Any = info.get("max_input_tokens") or info.get("max_tokens")
    return int(found) if isinstance(found, int | float) and found > 0 else None
