"""Bundle facts: what a bundle says about its program besides the state: how it is made, and where it comes from.

No key, no address and no name of a class or a module is among them. The name of a model that is a file is its path.
"""

from typing import Any

import dspy
from pydantic import BaseModel, ConfigDict

from runtime.limits import Limits
from runtime.models.facts import shown_name, told_parameters
from runtime.models.own_server import OwnServer
from runtime.versions import installed_versions

SCHEMA = 1
Scalar = str | int | float | bool | None
_LIBRARIES = ("spantree", "dspy", "pydantic")
_ADDRESSES = ("api_base", "base_url", "model_list")
NOT_KEPT = "(not kept)"
"""In place of a value that is no scalar: that it was set is noted, so that no model passes for the same without it."""


class Part(BaseModel):
    """Base of the parts of bundle.json: frozen, strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class ModelFacts(Part):
    """A model by its name. `own_server`: it was behind an address, which is not kept.

    A name that is a file (`scripted:FILE`, `local/PATH`) is kept as it was given: a relative path is found from the
    same folder alone, and an absolute one tells where it lay. Whoever loads the bundle can give another model.
    """

    name: str
    parameters: dict[str, Scalar] = {}
    own_server: bool = False

    @classmethod
    def of(cls, lm: dspy.BaseLM) -> "ModelFacts":
        """What is kept of a model: parameters that are set, without keys and addresses."""
        return cls(
            name=shown_name(lm),
            parameters=_parameters(lm),
            own_server=isinstance(lm, OwnServer) or any(lm.kwargs.get(e) for e in _ADDRESSES),
        )


class Origin(Part):
    """Where a bundle comes from, as only those know who made it.

    `options` are the optimizer's; `splits` has the ids of questions by split; `corpora` versions by name. A report is
    what was measured on a split, as numbers by name, or as several such (`before`, `after`). `parent` is the id of the
    bundle that this one was made from. `created` is a time in ISO 8601; empty means now.
    """

    optimizer: str = ""
    options: dict[str, Any] = {}
    objective: dict[str, Any] = {}
    set_name: str = ""
    set_version: str = ""
    corpora: dict[str, str] = {}
    splits: dict[str, tuple[str, ...]] = {}
    seed: int | None = None
    reports: dict[str, dict[str, Any] | None] = {}
    parent: str | None = None
    created: str = ""


class Facts(Part):
    """bundle.json. `id` is a hash over everything else, `state_sha256` one over the bytes of program.json.

    `program` is a name of the catalog of programs, `options` are those that it has there. `signatures` has a hash of
    what each predictor is asked, its instructions aside.
    """

    schema_version: int = SCHEMA
    id: str = ""
    program: str
    program_version: int
    options: dict[str, Scalar]
    partitioner: str
    limits: Limits
    lm: ModelFacts | None
    leaf_lm: ModelFacts | None
    signatures: dict[str, str]
    versions: dict[str, str]
    origin: Origin
    state_sha256: str


class Learned(Part):
    """One predictor of program.json."""

    instructions: str
    demos: list[dict[str, Any]]


class SavedState(Part):
    """program.json: the state of every predictor."""

    schema_version: int = SCHEMA
    predictors: dict[str, Learned]


def versions() -> dict[str, str]:
    """The versions of what a loaded program depends on, Python included."""
    return installed_versions(_LIBRARIES)


def _parameters(lm: dspy.BaseLM) -> dict[str, Scalar]:
    return {
        name: value if isinstance(value, str | int | float | bool) else NOT_KEPT
        for name, value in told_parameters(lm).items()
        if value is not None and name not in _ADDRESSES
    }
