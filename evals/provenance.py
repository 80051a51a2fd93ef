"""Provenance: what can be said about the code, the libraries and the programs that an evaluation runs."""

import hashlib
import json
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import dspy

from evals.manifest import ProgramIdentity
from programs.base import Program
from programs.bundle_signatures import told_fields
from programs.program_state import predictors_of
from runtime.models.facts import told_parameters
from runtime.versions import installed_versions

_ROOMS = ("programs", "data", "runtime", "signatures")
"""The packages that make an answer. Scores can be computed again, so that evals is not among them."""
_LIBRARIES = ("spantree", "dspy", "pydantic", "pyarrow", "bm25s")
_GIT_SECONDS = 10


def library_versions(*more: str) -> dict[str, str]:
    """The versions of what an answer depends on, Python included, and of more libraries."""
    return installed_versions((*_LIBRARIES, *more))


@cache
def code_hash() -> str:
    """16 hex digits over the source files of the packages that make an answer."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        folder = Path(str(import_module(room).__file__)).parent
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"{room}/{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def checkout() -> tuple[str | None, bool | None]:
    """The commit of this code and whether its files differ from it; None and None where it is no checkout."""
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        return None, None
    commit, status = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain")
    return commit or None, None if status is None else bool(status)


def _git(root: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def program_identity(program: Program) -> ProgramIdentity:
    """What makes a program the same one. Keys and other secrets of a model are left out."""
    predictors = predictors_of(program)
    state = {name: _state(each) for name, each in predictors.items()}
    signatures = {name: _signature(each.signature) for name, each in predictors.items()}
    return ProgramIdentity(
        type=f"{type(program).__module__}.{type(program).__qualname__}",
        version=program.version,
        configuration=program.configuration(program.limits),
        parameters={
            "model": model_parameters(program.main_lm or dspy.settings.lm),
            "leaf_model": model_parameters(program.leaf_lm or program.main_lm or dspy.settings.lm),
        },
        state=_hashed(state),
        signatures=_hashed(signatures),
    )


def _state(predictor: Any) -> dict[str, Any]:
    """What optimizers change of a predictor: instructions and demos. Its model is told elsewhere."""
    state = predictor.dump_state()
    return {name: value for name, value in state.items() if name in ("demos", "signature")}


def _signature(signature: Any) -> list[Any]:
    return [signature.__name__, signature.instructions, told_fields(signature, repr)]


def model_parameters(lm: dspy.BaseLM | None) -> dict[str, Any]:
    """The settings of a model, without keys and other secrets."""
    return {
        name: value if isinstance(value, str | int | float | bool | None) else repr(value)
        for name, value in told_parameters(lm).items()
    }


def _hashed(value: Any) -> str:
    plain = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]
