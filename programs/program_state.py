"""Program state: what an optimizer changes of a program (instructions and demos of its predictors) as plain JSON.

Models, options and signatures are not in it. A demo has fields of its signature, and `augmented` where an optimizer
wrote it from a run: nothing else of it would reach a prompt. Half of a surrogate pair, which no prompt can hold, is a
replacement character in it. When a state is applied its values are typed again as the signature has them, so that a
demo is shown as it was when it was made.
"""

import hashlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, get_args

import dspy
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from runtime.errors import BundleError

_AUGMENTED = "augmented"
_ANOTHER = "apply the state to the program that it is of"
_LONE = re.compile("[\ud800-\udfff]")


class PredictorState(TypedDict):
    """One predictor: its instructions, and its demos in order."""

    instructions: str
    demos: list[dict[str, Any]]


State = Mapping[str, PredictorState]


def predictors_of(program: dspy.Module) -> dict[str, dspy.Predict]:
    """The predictors of a program under the names that DSPy gives them, those of compiled modules included.

    `named_predictors` leaves out what is inside of a compiled module, and then knows a shared predictor by another
    name: a state would lose half of a program by having been optimized.
    """
    found: dict[int, tuple[str, dspy.Predict]] = {}
    for name, each in _walk("", program):
        found.setdefault(id(each), (name, each))
    return dict(found.values())


def _walk(name: str, value: Any) -> Iterator[tuple[str, dspy.Predict]]:
    if isinstance(value, dspy.Predict):
        yield name or "self", value
    elif isinstance(value, dspy.Module):
        for key, each in vars(value).items():
            where = f"{name}.{key}" if name else key
            for inner, one in _members(where, each):
                yield from _walk(inner, one)


def _members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value of a module, or what is in it: DSPy looks no deeper into lists and dicts either."""
    if isinstance(value, list | tuple):
        yield from ((f"{name}[{at}]", each) for at, each in enumerate(value))
    elif isinstance(value, dict):
        yield from ((f"{name}['{key}']", each) for key, each in value.items())
    else:
        yield name, value


def state_of(program: dspy.Module) -> dict[str, PredictorState]:
    """The state of every predictor, as plain JSON. Raises BundleError for a demo that JSON cannot hold."""
    return {name: _state(name, each) for name, each in predictors_of(program).items()}


def apply_state(program: dspy.Module, state: State) -> None:
    """Set instructions and demos of every predictor in place: of all of them, or of none.

    Raises BundleError when the state lacks a predictor, has one that the program lacks, or has a demo that is not one
    of its signature.
    """
    mine = predictors_of(program)
    wrong = _misplaced(program, state)
    if wrong:
        raise BundleError("; ".join(wrong), hint=_ANOTHER)
    made = {
        name: (_instructed(name, each, state[name]), _typed_demos(name, each, state[name]))
        for name, each in mine.items()
    }
    for name, predictor in mine.items():
        predictor.signature, predictor.demos = made[name]


def state_hash(state: State) -> str:
    """12 hex digits over all instructions and demos."""
    return hashlib.sha256(_dumped(state, sort_keys=True).encode()).hexdigest()[:12]


def _misplaced(program: dspy.Module, state: State) -> list[str]:
    """Predictors that only the state or only the program has, each told in a few words."""
    mine = predictors_of(program)
    lacking = [f"the state has no predictor {name}" for name in mine if name not in state]
    strange = [f"the program has no predictor {name}" for name in state if name not in mine]
    return lacking + strange


def fitting(program: dspy.Module, state: State) -> tuple[dict[str, PredictorState], list[str]]:
    """As much of a state as fits a program, filled up with the program's own, and what does not fit."""
    left_out = _misplaced(program, state)
    made = state_of(program)
    for name, predictor in predictors_of(program).items():
        if name not in state:
            continue
        demos = []
        for number, demo in enumerate(state[name]["demos"], 1):
            try:
                _typed(f"demo {number} of {name}", predictor.signature, demo)
            except BundleError as error:
                left_out.append(error.message)
            else:
                demos.append(demo)
        made[name] = {"instructions": state[name]["instructions"], "demos": demos}
    return made, left_out


def _state(name: str, predictor: dspy.Predict) -> PredictorState:
    signature: Any = predictor.signature
    demos = []
    for number, demo in enumerate(predictor.demos, 1):
        values = dict(demo)
        kept = {each: values[each] for each in (*_held(signature), _AUGMENTED) if each in values}
        try:
            demos.append(_whole(json.loads(_dumped(_plain(kept)))))
        except (ValueError, PydanticSerializationError) as error:
            raise BundleError(
                f"demo {number} of {name} is not JSON: {error}",
                hint="demos hold what their signature says: texts, numbers, lists and models of them",
            ) from error
    return {"instructions": _settled(signature.instructions), "demos": demos}


def _settled(text: str) -> str:
    """Instructions as they stay: DSPy takes indentation off whenever it reads them, and not all of it at once."""
    while (cleaned := inspect.cleandoc(text)) != text:
        text = cleaned
    return text


def _instructed(name: str, predictor: dspy.Predict, state: PredictorState) -> Any:
    """The signature of a predictor with the instructions of a state; the one that it has, where they are its own."""
    signature: Any = predictor.signature
    instructions = _settled(state["instructions"])
    if instructions == _settled(signature.instructions):
        return signature
    try:
        # A blank is none at all; an empty text would make DSPy write some.
        return signature.with_instructions(instructions or " ")
    except UnicodeEncodeError as error:
        raise BundleError(
            f"the instructions of {name} hold a lone surrogate", hint="write them as valid text"
        ) from error


def _held(signature: Any) -> Iterator[str]:
    """The fields that a demo can hold: tools are functions, and always the program's own."""
    return (name for name, field in signature.fields.items() if not _names_tools(field.annotation))


def _names_tools(annotation: Any) -> bool:
    return annotation is dspy.Tool or any(map(_names_tools, get_args(annotation)))


def _plain(value: Any) -> Any:
    """A value as JSON has it. A model by its fields: some write themselves as a text that they cannot read again."""
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    return to_jsonable_python(value)


def _whole(value: Any) -> Any:
    """A JSON value without lone surrogates."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(each) for name, each in value.items()}
    return value


def _dumped(value: Any, **how: Any) -> str:
    # In ASCII: two surrogates that make a pair are read as the character that they are.
    return json.dumps(value, allow_nan=False, **how)


def _typed_demos(name: str, predictor: dspy.Predict, state: PredictorState) -> list[dspy.Example]:
    return [
        _typed(f"demo {number} of {name}", predictor.signature, demo)
        for number, demo in enumerate(state["demos"], 1)
    ]


def _typed(where: str, signature: Any, demo: Mapping[str, Any]) -> dspy.Example:
    """A demo with its values typed as the signature has them. Values that are None stay so."""
    fields = signature.fields
    held = {*_held(signature), _AUGMENTED}
    unknown = [name for name in demo if name not in held]
    if unknown:
        raise BundleError(
            f"{where} has a field {unknown[0]!r}, and its signature has none", hint=_ANOTHER
        )
    values: dict[str, Any] = {}
    for name, value in demo.items():
        if name == _AUGMENTED or value is None:
            values[name] = value
            continue
        try:
            values[name] = TypeAdapter(fields[name].annotation).validate_python(_whole(value))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, (name, *first["loc"])))
            raise BundleError(
                f"{where} does not fit its signature: {place}: {first['msg']}"
            ) from error
    return dspy.Example(values)
