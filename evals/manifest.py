"""Manifest: everything that makes two evaluations the same, and what is only noted about one.

It is written before the first sample. A folder whose manifest says something else is never appended to.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from data.store import write_atomically
from runtime.errors import RunError

MANIFEST = "manifest.json"
SCHEMA = 1
_SHOWN = 60
_TOLD = 5
_M = TypeVar("_M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a folder with a manifest is of, in words: its `name`, what it `holds`, the verb that `made` it.

    `do` is what one does to begin another one.
    """

    name: str
    holds: str
    made: str
    do: str


EVALUATION = Kind("evaluation", "evaluation log", "eval", "evaluate")
OPTIMIZATION = Kind("optimization", "optimization", "optimize", "optimize")


class Part(BaseModel):
    """Base of the parts of a manifest: frozen, strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SetIdentity(Part):
    """The question set: its name, the hash over its questions, and the versions of its corpora."""

    name: str
    version: str
    corpora: dict[str, str]


class ProgramIdentity(Part):
    """A program: its class and version, how it was made (models, limits, options), the parameters of its models.

    `state` and `signatures` are hashes: of instructions and demos, and of what a model is asked.
    """

    type: str
    version: int
    configuration: dict[str, Any]
    parameters: dict[str, Any]
    state: str
    signatures: str


class Notes(Part):
    """What is noted and makes no difference: when, where and from which commit an evaluation was begun.

    `dirty`: files differed from the commit; both are None where the code is no checkout. `command` goes on with it.
    """

    created: str = ""
    commit: str | None = None
    dirty: bool | None = None
    command: str = ""
    set_folder: str = ""
    store: str = ""


class Manifest(Part):
    """What is evaluated on what. `questions` are ids in order; `code` is a hash over what makes an answer."""

    schema_version: int = SCHEMA
    question_set: SetIdentity
    programs: dict[str, ProgramIdentity]
    questions: tuple[str, ...]
    epochs: int
    limit: int | None
    seed: int
    split: str | None = None
    versions: dict[str, str]
    code: str
    notes: Notes = Notes()

    @property
    def identity(self) -> str:
        """16 hex digits over everything but the notes."""
        plain = json.dumps(self.model_dump(mode="json", exclude={"notes"}), sort_keys=True)
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def total(self) -> int:
        """How many samples there are."""
        return len(self.questions) * len(self.programs) * self.epochs


def write_manifest(folder: Path, manifest: BaseModel) -> None:
    """Write the manifest of a folder, whole or not at all."""
    text = json.dumps(manifest.model_dump(mode="json"), ensure_ascii=False, indent=1)
    write_atomically(folder / MANIFEST, text.encode("utf-8", "backslashreplace") + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a log. Raises RunError when there is none, it is damaged, or of a newer version."""
    return read_as(Manifest, folder, EVALUATION)


def read_as(of: type[_M], folder: Path, kind: Kind) -> _M:
    """The manifest of a folder of some kind. It has a `schema_version`, whose default is the newest there is.

    Raises RunError when there is none, it is damaged, or of a newer version.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RunError(
            f"there is no {kind.holds} in {folder}",
            hint=f"name a folder that spantree {kind.made} made",
        ) from error
    except ValueError as error:
        raise RunError(
            f"{path} is damaged: {error}", hint=f"{kind.do} into another folder"
        ) from error
    newest = of.model_fields["schema_version"].default
    if isinstance(content, dict) and content.get("schema_version", 0) > newest:
        raise RunError(f"{path} is of a newer version", hint="update spantree to read it")
    try:
        return of.model_validate(content)
    except ValidationError as error:
        raise RunError(
            f"{path} is no manifest of an {kind.name}", hint="name another folder"
        ) from error


def check_same(folder: Path, kept: BaseModel, asked: BaseModel, what: str) -> None:
    """Raise RunError if what a folder holds (`what`: "evaluation") is not what was asked for."""
    changed = differences(kept, asked)
    if changed:
        more = [f"and {len(changed) - _TOLD} more"] if len(changed) > _TOLD else []
        told = "\n  ".join([*changed[:_TOLD], *more])
        raise RunError(
            f"{folder} holds another {what}:\n  {told}",
            hint=f"choose another folder (--out), or ask for what that {what} was begun with",
        )


def differences(old: BaseModel, new: BaseModel) -> list[str]:
    """What makes two manifests differ but for their notes, each as `where: old, now new`."""
    before, after = (_leaves(m.model_dump(mode="json", exclude={"notes"})) for m in (old, new))
    first, second = dict(before), dict(after)
    return [
        f"{where}: {_short(first.get(where))}, now {_short(second.get(where))}"
        for where in dict.fromkeys([*first, *second])
        if first.get(where) != second.get(where)
    ]


def _leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield where, value
        return
    for name, each in value.items():
        yield from _leaves(each, f"{where}.{name}" if where else name)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} items"
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
