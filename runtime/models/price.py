"""Prices of models: US dollars a token, where they are known. An unknown price is None, never 0."""

from dataclasses import dataclass
from typing import Any

import dspy
from dspy.clients.backend_selection import select_backend
from dspy.clients.model_metadata import model_info, rate


@dataclass(frozen=True)
class Price:
    """US dollars for one token of input and of output."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        return input_tokens * self.input + output_tokens * self.output


FREE = Price(0.0, 0.0)
EMBEDDED = "spantree/"
"""Prefix of the model names of the embedded engines: they run in this process and cost nothing."""


def price_of(lm: dspy.BaseLM) -> Price | None:
    """The price that DSPy's model table gives, or the one that a custom engine declares as `price`.

    The first look-up may load the table over the network (DSPy's own policy): not for an event loop.
    """
    engine = getattr(lm, "engine", None)
    if not isinstance(engine, str):
        return declared_price(lm.model, engine)
    route = select_backend(lm).resolution
    if route is None:
        return None
    info = model_info(getattr(route, "provider", ""), getattr(route, "model", ""))
    dollars_in, dollars_out = (
        rate(info, "input_cost_per_token"),
        rate(info, "output_cost_per_token"),
    )
    if dollars_in is None or dollars_out is None:
        return None
    return Price(dollars_in, dollars_out)


def declared_price(model: str, engine: Any) -> Price | None:
    """The price of a custom engine: what it declares, nothing if embedded, else unknown."""
    return getattr(engine, "price", FREE if model.startswith(EMBEDDED) else None)
