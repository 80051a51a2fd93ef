"""The manifest of an optimization: everything that makes two of them the same.

It is written before the first rollout. A folder is never gone on with by another program, set, seed or metric: what is
recorded there would be given to it as its own. The budget is none of it: more of the same is the same.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from evals.manifest import (
    MANIFEST,
    OPTIMIZATION,
    Notes,
    Part,
    ProgramIdentity,
    SetIdentity,
    check_same,
    read_as,
    write_manifest,
)
from evals.objective import Objective
from evals.provenance import library_versions

SCHEMA = 1
_LIBRARIES = ("gepa", "optuna", "numpy")
_METRIC = (
    "abstention",
    "adapters",
    "call_facts",
    "correctness",
    "cuts",
    "excerpts",
    "executor",
    "feedback",
    "harmless",
    "metrics",
    "numerals",
    "objective",
    "reading_excerpt",
    "score",
    "shown_text",
    "texts",
    "values",
    "wording",
)
"""The modules of evals that a score or a feedback comes from."""


class Splits(Part):
    """Ids of the questions of each split, in order. Those of `test` never reach an optimizer."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]


class OptimizationManifest(Part):
    """What is optimized, how, and on what. `parent` is the id of the bundle that the program was loaded from.

    `shared_corpora` are those that questions of several splits are asked of: there, train questions are answered from
    text that has documents of the test questions too.

    `notes` and `budget` make no difference.
    """

    schema_version: int = SCHEMA
    optimizer: str
    options: dict[str, Any]
    objective: Objective
    threshold: float
    max_demos: int
    seed: int
    question_set: SetIdentity
    splits: Splits
    shared_corpora: tuple[str, ...]
    program_name: str
    program: ProgramIdentity
    teacher: ProgramIdentity | None = None
    parent: str
    reflection_model: str
    reflection_parameters: dict[str, Any]
    versions: dict[str, str]
    code: str
    metric: str
    notes: Notes = Notes()
    budget: int = 0


def versions() -> dict[str, str]:
    """The versions of what a result depends on."""
    return library_versions(*_LIBRARIES)


@cache
def metric_hash() -> str:
    """16 hex digits over the source of what scores a rollout, tells about it, and conducts the optimizers."""
    here = Path(__file__).parent
    paths = [here.parent / f"{name}.py" for name in _METRIC]
    digest = hashlib.sha256()
    for path in (*paths, *sorted(here.glob("*.py"))):
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def agreed(folder: Path, asked: OptimizationManifest) -> OptimizationManifest:
    """The manifest of a folder, written if there is none, or with the new budget.

    Raises RunError if the folder holds another optimization.
    """
    if (folder / MANIFEST).exists():
        kept = read_manifest(folder)
        free = {"budget": 0, "notes": Notes()}
        check_same(
            folder, kept.model_copy(update=free), asked.model_copy(update=free), "optimization"
        )
        asked = kept.model_copy(update={"budget": asked.budget})
    write_manifest(folder, asked)
    return asked


def read_manifest(folder: Path) -> OptimizationManifest:
    """The manifest of a folder. Raises RunError when there is none, it is damaged, or of a newer version."""
    return read_as(OptimizationManifest, folder, OPTIMIZATION)
