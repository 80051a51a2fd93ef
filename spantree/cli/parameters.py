"""Parameters: settings that a sweep varies, how their values are written, and which programs have a use for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from programs.catalog import PROGRAMS, takers
from runtime.errors import UserError
from runtime.limits import Limits
from spantree.cli.settings import LEAST, Settings, known

if TYPE_CHECKING:
    from evals.sweep import Value

Apply = Callable[[Settings, "Value"], Settings]
Values = dict[str, tuple["Value", ...]]
"""Values by parameter, in the order in which they are varied."""

_READING = tuple(takers("leaf_characters"))
"""Programs whose readers are shown parts of the text, several at the same time."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting of the programs `takers`. `model`: its values are names of models. `least`: they are whole numbers, and
    this is the smallest."""

    name: str
    takers: tuple[str, ...]
    apply: Apply
    least: int | None = None
    model: bool = False


def _option(name: str) -> Parameter:
    def apply(settings: Settings, value: "Value") -> Settings:
        return replace(settings, **{name: value})

    return Parameter(name, tuple(takers(name)), apply, LEAST.get(name))


def _limit(name: str, takers: tuple[str, ...], least: int = 1) -> Parameter:
    def apply(settings: Settings, value: "Value") -> Settings:
        limits = Limits.model_validate({**settings.limits.model_dump(), name: value})
        return replace(settings, limits=limits)

    return Parameter(name, takers, apply, least)


def _model(settings: Settings, value: "Value") -> Settings:
    """The model of all calls; a leaf model that was chosen stays."""
    alike = settings.leaf_model == settings.model
    leaf_model = str(value) if alike else settings.leaf_model
    return replace(settings, model=str(value), leaf_model=leaf_model)


def _leaf_model(settings: Settings, value: "Value") -> Settings:
    return replace(settings, leaf_model=str(value))


def _partition(settings: Settings, value: "Value") -> Settings:
    return replace(settings, partitioner=str(value))


PARAMETERS = {
    each.name: each
    for each in (
        Parameter("model", tuple(PROGRAMS), _model, model=True),
        Parameter("leaf_model", _READING, _leaf_model, model=True),
        _option("leaf_characters"),
        _limit("depth", ("auto", "recursive", "rlm")),
        _limit("in_flight", _READING),
        _limit("steps_per_frame", ("auto", "recursive", "plan_execute"), least=2),
        _option("top_k"),
        _option("max_turns"),
        _option("window"),
        _option("refine"),
        _option("action_space"),
        _option("sandbox"),
        Parameter("partition", _READING, _partition),
    )
}
"""By name, in the order in which they are applied: a leaf model after the model of all calls."""


def one_program(word: str) -> str:
    """The name of the program that is varied, without its choices. Raises UserError for several."""
    if "," in word:
        raise UserError(
            f"a sweep varies one program, and --program names {word.count(',') + 1}",
            hint="sweep them one after the other, each into its own folder",
        )
    return word.split(":")[0]


def parsed(words: Sequence[str], program: str) -> Values:
    """What is varied, from `NAME=VALUE,...`. Raises UserError for what the program does not take or is no value."""
    found: Values = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise UserError(
                f"--vary {word} names no values",
                hint="for example --vary leaf_characters=4000,8000",
            )
        if name in found:
            raise UserError(f"--vary names {name} twice", hint=f"once, with all values: {name}=A,B")
        found[name] = checked(name, _split(name, text), program)
    return found


def checked(name: str, values: Sequence["Value"], program: str) -> tuple["Value", ...]:
    """The values of a parameter, each once. Raises UserError."""
    known("program", program, PROGRAMS)
    known("parameter", name, PARAMETERS)
    parameter = PARAMETERS[name]
    if program not in parameter.takers:
        raise UserError(
            f"{name} has no use with the program {program}",
            hint=f"it is a parameter of: {', '.join(parameter.takers)}",
        )
    if not values:
        raise UserError(f"no value of {name} is named", hint=f"for example {name}=A,B")
    return tuple(dict.fromkeys(_value(parameter, each) for each in values))


def applied(settings: Settings, choices: Mapping[str, "Value"]) -> Settings:
    """Settings with some parameters chosen. Raises UserError for a value that cannot be, with its name."""
    for name in (each for each in PARAMETERS if each in choices):
        try:
            settings = PARAMETERS[name].apply(settings, choices[name])
        except UserError as error:
            raise _placed(error, f"{name}={choices[name]}") from error
    try:
        settings.check()
    except UserError as error:
        told = ",".join(f"{name}={value}" for name, value in choices.items())
        raise _placed(error, told) from error
    return settings


def _placed(error: UserError, where: str) -> UserError:
    return UserError(f"{where}: {error.message}" if where else error.message, hint=error.hint)


def _value(parameter: Parameter, value: "Value") -> "Value":
    if parameter.least is None:
        return str(value)
    try:
        if isinstance(value, float):
            raise ValueError(value)
        number = int(value)
    except ValueError as error:
        raise UserError(
            f"{parameter.name}={value}: a whole number is needed",
            hint=f"for example {parameter.name}={parameter.least}",
        ) from error
    if number < parameter.least:
        raise UserError(
            f"{parameter.name}={value}: it must be at least {parameter.least}",
            hint=f"for example {parameter.name}={parameter.least}",
        )
    return number


def _split(name: str, text: str) -> list[str]:
    """The values of a list with commas. In a list of models, `latency=0.1` belongs to the model before it."""
    parts = list(_stripped(text))
    if name not in PARAMETERS or not PARAMETERS[name].model:
        return parts
    values: list[str] = []
    for part in parts:
        head, equals, _ = part.partition("=")
        if values and equals and head.isidentifier():
            values[-1] += f",{part}"
        else:
            values.append(part)
    return values


def _stripped(text: str) -> Iterator[str]:
    for part in text.split(","):
        if not part.strip():
            raise UserError(f"an empty value in {text!r}", hint="values stand between commas: A,B")
        yield part.strip()
