"""Bundle files: the two files of a bundle, written whole or not at all, and read with distrust.

program.json has the state of every predictor, bundle.json everything else, with a hash of the former and an id over
all of it. The id tells damage and edits by hand; it is no signature: who can write both files can write any bundle.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from data.store import temporary_name, write_atomically
from programs.bundle_facts import SCHEMA, Facts, Part, SavedState
from programs.program_state import PredictorState, State
from runtime.errors import BundleError, UserError

FACTS = "bundle.json"
STATE = "program.json"
_DAMAGED = "make the bundle again, or copy it again: a damaged one is never loaded"
_MOST = 64 << 20
"""Bytes of a file. A bundle has some kilobytes; what is no file at all (a pipe, a device) may have no end."""
P = TypeVar("P", bound=Part)


def write_files(folder: Path, facts: Facts, state: State) -> Facts:
    """Write a bundle, in place of one that is there, and return its facts with hash and id.

    Raises BundleError when the folder holds other files, cannot be written, or JSON cannot hold the facts.
    """
    raw = _written({"schema_version": SCHEMA, "predictors": state})
    facts = facts.model_copy(update={"state_sha256": hashlib.sha256(raw).hexdigest()})
    try:
        content = json.loads(_written(facts.model_dump(mode="json")))
        made = facts.model_copy(update={"id": _id(content)})
        told = _written(made.model_dump(mode="json"))
    except (ValueError, PydanticSerializationError) as error:
        raise BundleError(
            f"what is said about the bundle is not JSON: {error}",
            hint="options, objective and reports hold texts, finite numbers, lists and dicts",
        ) from error
    try:
        _put(folder, {STATE: raw, FACTS: told})
    except OSError as error:
        raise BundleError(
            f"the bundle {folder} cannot be written: {error.strerror or error}",
            hint="make room, or choose another folder",
        ) from error
    return made


def read_files(folder: Path) -> tuple[Facts, dict[str, PredictorState]]:
    """The two files of a bundle. Raises BundleError when they are missing, damaged, changed, or of a newer version."""
    facts_path, state_path = folder / FACTS, folder / STATE
    content, raw = _read(facts_path), _bytes(state_path)
    _check_schema(facts_path, content)
    if content.get("id") != _id(content):
        raise _changed(facts_path)
    facts = _validated(facts_path, Facts, content)
    if hashlib.sha256(raw).hexdigest() != facts.state_sha256:
        raise _changed(state_path)
    state = _parsed(state_path, raw)
    _check_schema(state_path, state)
    saved = _validated(state_path, SavedState, state)
    if facts.signatures.keys() != saved.predictors.keys():
        raise BundleError(
            f"{facts_path} is damaged: its signatures are not those of the predictors in {STATE}",
            hint=_DAMAGED,
        )
    return facts, {
        name: {"instructions": each.instructions, "demos": each.demos}
        for name, each in saved.predictors.items()
    }


def _written(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    # A lone surrogate becomes its JSON escape.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    """A folder with these files, made beside its place; what it replaces goes last."""
    there = {each.name for each in folder.iterdir()} if folder.exists() else set()
    strangers = sorted(there - files.keys())
    if strangers:
        raise BundleError(
            f"{folder} holds other files: {', '.join(strangers[:3])}",
            hint="choose a folder that does not exist yet",
        )
    place, replaced = temporary_name(folder.resolve()), temporary_name(folder.resolve())
    try:
        for name, content in files.items():
            write_atomically(place / name, content)
        if folder.exists():
            folder.resolve().rename(replaced)
        place.rename(folder.resolve())
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if replaced.exists():
        shutil.rmtree(replaced)


def _id(content: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "id"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:16]


def _read(path: Path) -> dict[str, Any]:
    return _parsed(path, _bytes(path))


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST or not path.is_file():
            raise BundleError(f"{path} is no file of a bundle", hint=_DAMAGED)
        return path.read_bytes()
    except FileNotFoundError as error:
        raise BundleError(
            f"{path.parent} is no bundle: it has no {path.name}", hint=f"name a folder with {FACTS}"
        ) from error
    except OSError as error:
        raise BundleError(
            f"{path} cannot be read: {error.strerror}", hint="see to its permissions"
        ) from error


def _parsed(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        content = json.loads(raw, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is damaged: {error}", hint=_DAMAGED) from error
    if not isinstance(content, dict):
        raise BundleError(f"{path} is damaged: it is no JSON object", hint=_DAMAGED)
    return content


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _check_schema(path: Path, content: Mapping[str, Any]) -> None:
    version = content.get("schema_version")
    if not isinstance(version, int):
        raise BundleError(f"{path} does not say of which version it is", hint=_DAMAGED)
    if version > SCHEMA:
        raise BundleError(
            f"{path} is of version {version}, and this spantree reads up to {SCHEMA}",
            hint="update spantree to load it",
        )


def _validated(path: Path, kind: type[P], content: dict[str, Any]) -> P:
    try:
        return kind.model_validate(content)
    except (ValidationError, UserError) as error:
        raise BundleError(f"{path} is damaged: {_reason(error)}", hint=_DAMAGED) from error


def _reason(error: ValidationError | UserError) -> str:
    if isinstance(error, UserError):
        return error.message
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _changed(path: Path) -> BundleError:
    return BundleError(f"{path} was changed after the bundle was made", hint=_DAMAGED)
