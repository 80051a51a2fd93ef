"""Experiment keys: what may stand in an experiment file, by its kind.

A key is an option of the verb of that kind, without its dashes; what is not given is what the verb takes without it.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat
from pydantic_core import PydanticCustomError

Kind = Literal["evaluation", "sweep", "optimization"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def _joined(value: Any) -> Any:
    """Names with commas between, of a list of names."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    return value


def _weights(value: Any) -> Any:
    """Weights as the verb takes them, of a table of numbers."""
    if isinstance(value, dict) and all(isinstance(each, int | float) for each in value.values()):
        return ",".join(f"{name}={weight}" for name, weight in value.items())
    return value


def _written(value: Any) -> Any:
    """A number as the verb takes it: in words."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _scalars(value: dict[str, list[Any]]) -> dict[str, list[Any]]:
    for name, values in value.items():
        if not all(type(each) in (str, int, float) for each in values):
            raise PydanticCustomError(
                "scalars", "{name}: values are texts or numbers", {"name": name}
            )
    return value


def _named(value: Any) -> Any:
    """A set that is only named, as a table."""
    return {"name": value} if isinstance(value, str) else value


Names = Annotated[str, BeforeValidator(_joined)]
"""One name, or a list of them."""
Some = Annotated[int, Field(ge=1)]
AtLeastNone = Annotated[int, Field(ge=0)]


class Keys(BaseModel):
    """Base of what may stand in a file or in a table of one: nothing else may, and types are taken as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def given(self) -> dict[str, Any]:
        """What the file says, without what it leaves to defaults."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class SetKeys(Keys):
    """The question set: its name or folder, or how it is built (the options of `spantree sets build`)."""

    name: str | None = None
    family: str | None = None
    seed: int | None = None
    questions: Some | None = None
    characters: Annotated[int, Field(ge=8_000)] | None = None
    split: str | None = None
    over: list[str] | None = None
    source: str | None = Field(default=None, alias="from")


class ProgramKeys(Keys):
    """What all kinds take: programs, the set, models, and the limits of one question."""

    kind: Kind
    set: Annotated[SetKeys, BeforeValidator(_named)]
    model: str | None = None
    leaf_model: str | None = None
    api_base: str | None = None
    partition: str | None = None
    leaf_characters: int | None = None
    seed: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: FiniteFloat | None = None
    max_seconds: FiniteFloat | None = None
    max_depth: int | None = None


class EvaluationKeys(ProgramKeys):
    """An evaluation: the options of `spantree eval`."""

    program: Names | None = None
    epochs: Some | None = None
    limit: Some | None = None
    split: str | None = None
    concurrency: Some | None = None
    max_errors: Annotated[str, BeforeValidator(_written)] | None = None
    retries: AtLeastNone | None = None


class SweepKeys(EvaluationKeys):
    """A sweep: the options of `spantree sweep`, and a table of what is varied."""

    vary: Annotated[dict[str, list[Any]], AfterValidator(_scalars)]
    random: Some | None = None
    quality: str | None = None


class OptimizationKeys(ProgramKeys):
    """An optimization: the options of `spantree optimize`, and a table of those of the optimizer."""

    program: Names
    optimizer: str
    reflection_model: str | None = None
    reflection_api_base: str | None = None
    teacher_model: str | None = None
    teacher_leaf_model: str | None = None
    teacher_api_base: str | None = None
    max_metric_calls: Some | None = None
    auto: str | None = None
    objective: str | None = None
    weights: Annotated[str, BeforeValidator(_weights)] | None = None
    cost_weight: FiniteFloat | None = None
    cost_tokens: Some | None = None
    threshold: FiniteFloat | None = None
    threads: Some | None = None
    max_demos: AtLeastNone | None = None
    split_shares: str | None = None
    train_limit: Some | None = None
    validation_limit: Some | None = None
    test_limit: Some | None = None
    option: dict[str, Any] | None = None


KEYS: Mapping[Kind, type[ProgramKeys]] = {
    "evaluation": EvaluationKeys,
    "sweep": SweepKeys,
    "optimization": OptimizationKeys,
}
"""What may stand in a file of each kind."""
