"""Arguments of the tools: typed, checked, and kept in the journal as the model gave them."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from programs.evidence import restore
from runtime.errors import MissingInput
from signatures import CountBy

NAME = 4_096
"""Characters of a source or an id at most."""
TEXT = 4_000
"""Characters of a pattern, a query or a question at most."""
IDS = 1_000
PASSAGES = 50
_LARGEST = 2**53
_KEPT = 8_000
_KEPT_ITEMS = 2 * IDS
_DEPTH = 3
_TOLD = 120


class Arguments(BaseModel):
    """Base of the arguments of a tool. None stands for the default; field markers in texts are as in the source."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nothing(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {
            name: restore(value) if isinstance(value, str) else value
            for name, value in values.items()
            if value is not None
        }


Form = TypeVar("Form", bound=Arguments)


class ListSources(Arguments):
    """Of `list_sources`."""

    source: str = Field("", max_length=NAME)
    cursor: int = Field(0, ge=0, le=_LARGEST)


class Search(Arguments):
    """Of `search`."""

    pattern: str = Field(max_length=TEXT)
    ignore_case: bool = False
    source: str = Field("", max_length=NAME)
    cursor: int = Field(0, ge=0, le=_LARGEST)


class Count(Arguments):
    """Of `count`."""

    pattern: str = Field(max_length=TEXT)
    by: CountBy = ""
    ignore_case: bool = False
    source: str = Field("", max_length=NAME)


class Rank(Arguments):
    """Of `rank`."""

    query: str = Field(max_length=TEXT, pattern=r"\S")
    k: int = Field(8, ge=1, le=PASSAGES)


class ReadSpan(Arguments):
    """Of `read_span`: a span or a partition by its id, or lines of a source."""

    span_id: str = Field("", max_length=NAME)
    source: str = Field("", max_length=NAME)
    first_line: int = Field(0, ge=0, le=_LARGEST)
    last_line: int = Field(0, ge=0, le=_LARGEST)
    cursor: int = Field(0, ge=0, le=_LARGEST)


class Subcall(Arguments):
    """Of `subcall`."""

    question: str = Field(max_length=TEXT, pattern=r"\S")
    span_ids: tuple[str, ...] = Field((), max_length=IDS)
    cursor: int = Field(0, ge=0, le=_LARGEST)

    @field_validator("span_ids", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        ids = [value] if isinstance(value, str) else value
        if not isinstance(ids, list | tuple):
            return ids
        return [restore(each) if isinstance(each, str) else each for each in ids if each != ""]


class Budget(Arguments):
    """Of `budget`."""


def checked(name: str, form: type[Form], given: Mapping[str, Any]) -> Form:
    """The arguments of a call. Raises MissingInput that says what is wrong and what the tool takes."""
    try:
        return form.model_validate(dict(given))
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
            for each in error.errors()[:3]
        )
        takes = ", ".join(form.model_fields) or "nothing"
        raise MissingInput(f"{faults}. {name} takes: {takes}") from error


def recorded(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as plain data of limited size, whatever a model put into them. Recording them again changes nothing."""
    return {_text(str(name))[:80]: _plain(value, _DEPTH) for name, value in given.items()}


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and abs(value) <= _LARGEST:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if depth and isinstance(value, list | tuple):
        return [_plain(each, depth - 1) for each in value[:_KEPT_ITEMS]]
    if depth and isinstance(value, Mapping):
        pairs = list(value.items())[:_KEPT_ITEMS]
        return {_text(str(name)): _plain(each, depth - 1) for name, each in pairs}
    return _text(repr(value))


def _text(text: str) -> str:
    """A text without lone surrogates; a very long one is cut, with a hash that tells it from others."""
    clean = text.encode("utf-8", "replace").decode()
    if len(clean) <= _KEPT:
        return clean
    digest = hashlib.sha256(clean.encode()).hexdigest()[:16]
    return f"{clean[: _KEPT - 40]}... ({digest})"


def told(name: str, given: Mapping[str, Any]) -> str:
    """A call in one line: search(pattern='x', source='a.log')."""
    parts = []
    for field, value in given.items():
        shown = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parts.append(f"{field}={shown if len(shown) <= _TOLD else shown[:_TOLD] + '…'}")
    return f"{name[:40]}({', '.join(parts)})"
