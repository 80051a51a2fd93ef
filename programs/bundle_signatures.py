"""Signature hashes: whether a predictor is still asked for the same: names, types and descriptions of its fields.

Instructions are not in them: those are state. Types are told by what is in them, so that a field that is added to a
model deep in a list is noticed; types of DSPy by their name, since its version is compared by itself.
"""

import hashlib
import json
from collections.abc import Callable
from enum import Enum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import dspy
from pydantic import BaseModel

from programs.program_state import predictors_of

_TOLD = ("__dspy_field_type", "prefix", "desc")
"""What a model is told about a field, besides its name and type."""


def signature_hashes(program: dspy.Module) -> dict[str, str]:
    """12 hex digits for each predictor of a program."""
    return {name: _hash(each.signature) for name, each in predictors_of(program).items()}


def _hash(signature: Any) -> str:
    fields = told_fields(signature, _shape)
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:12]


def told_fields(signature: Any, told: Callable[[Any], Any]) -> list[list[Any]]:
    """What a model is told of each field: its name, its type as `told` tells it, and the rest."""
    return [
        [name, told(field.annotation), *(str(_extra(field).get(each)) for each in _TOLD)]
        for name, field in signature.fields.items()
    ]


def _extra(field: Any) -> dict[str, Any]:
    return field.json_schema_extra or {}


def _shape(annotation: Any, within: tuple[Any, ...] = ()) -> Any:
    """A type as nested lists of names."""
    origin = get_origin(annotation)
    if origin is Literal:
        return ["Literal", *map(repr, get_args(annotation))]
    if origin is not None:
        name = "Union" if origin in (Union, UnionType) else _name(origin)
        return [name, *(_shape(each, within) for each in get_args(annotation))]
    if not isinstance(annotation, type) or annotation in within or _is_of_dspy(annotation):
        return _name(annotation)
    if issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        inner = (*within, annotation)
        told = [[name, _shape(each.annotation, inner), each.description] for name, each in fields]
        return [annotation.__name__, told]
    if issubclass(annotation, Enum):
        return [annotation.__name__, [[each.name, repr(each.value)] for each in annotation]]
    return annotation.__name__


def _is_of_dspy(annotation: type) -> bool:
    return annotation.__module__.partition(".")[0] == "dspy"


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or repr(annotation)
