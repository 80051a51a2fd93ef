"""Predictions as plain JSON and back, and their place in the trace of DSPy."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import dspy
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python


def plain_outputs(prediction: dspy.Prediction, names: Iterable[str]) -> dict[str, Any]:
    """The output fields as JSON values."""
    return {name: to_jsonable_python(prediction[name]) for name in names}


def rebuilt(signature: Any, outputs: dict[str, Any]) -> dspy.Prediction:
    """A prediction from stored outputs, typed as the signature says.

    None stays None: a service that replies by native tool calls leaves out what was asked for beside them.
    """
    fields = signature.output_fields
    values = {
        name: None
        if outputs[name] is None
        else _type(field.annotation).validate_python(outputs[name])
        for name, field in fields.items()
    }
    return dspy.Prediction.from_completions([values], signature=signature)


def append_to_trace(predictor: Any, inputs: dict[str, Any], prediction: dspy.Prediction) -> None:
    """What a `dspy.Predict` does after a call, if the caller keeps a trace."""
    trace, longest = dspy.settings.trace, dspy.settings.max_trace_size
    if trace is None or longest <= 0:
        return
    if len(trace) >= longest:
        trace.pop(0)
    trace.append((predictor, dict(inputs), prediction))


@cache
def _type(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)
