"""An LM at an address of one's own: an OpenAI-compatible server that no catalog of models describes.

DSPy sends a schema only to models that its catalog knows, so a local server would be asked in words alone. Such servers
(llama.cpp, vLLM, Ollama, LM Studio) can hold a reply to a schema, and a small model needs that more than a large one
does. A server that refuses it is asked in words from then on.
"""

from dataclasses import dataclass
from typing import Any

import dspy

LONGEST_LIST = 100
"""Items of a list in a reply. A small model that repeats itself would fill its window with one list."""


@dataclass
class _Schema:
    """Whether the server takes a schema. One for an LM and its copies."""

    taken: bool = True


class OwnServer(dspy.LM):
    """`dspy.LM` for such a server. It asks for replies in the form of a schema until that is refused."""

    def __init__(self, model: str, **settings: Any) -> None:
        super().__init__(model, **settings)
        self._schema = _Schema()

    @property
    def supports_response_schema(self) -> bool:
        return self._schema.taken

    @property
    def supported_params(self) -> set[str]:
        asked = {"response_format"} if self._schema.taken else set()
        return (super().supported_params - {"response_format"}) | asked

    def bounded(self, form: Any) -> None:
        """Bound the lists of the form (a pydantic class that DSPy made) in which a reply is asked for."""
        if isinstance(form, type):
            _bound(form.model_json_schema())  # type: ignore[attr-defined]  # one object, made for this class

    def give_up_schema(self) -> None:
        """Ask in words from now on."""
        self._schema.taken = False


def _bound(schema: Any) -> None:
    if isinstance(schema, dict):
        if schema.get("type") == "array":
            schema.setdefault("maxItems", LONGEST_LIST)
        for part in schema.values():
            _bound(part)
    elif isinstance(schema, list):
        for part in schema:
            _bound(part)
