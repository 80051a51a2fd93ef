"""Experiment folder: the file as it was begun, the set that was built for it, and the folder of its verb.

FOLDER/experiment.toml           the file, as it was when the experiment was begun
FOLDER/sets/FAMILY/              the set, where the file says how it is built
FOLDER/evaluation/               what the verb writes: evaluation, sweep or optimization

Into the folder of an experiment whose file changed nothing is written, but for what only says how it is carried out.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pydantic import RootModel

from data.store import write_atomically
from evals.lines import locked, prepared
from evals.log import SAMPLES
from evals.manifest import differences
from evals.optimization.rollouts import ROLLOUTS
from runtime.errors import RunError
from spantree.cli.experiment import Experiment
from spantree.cli.experiment_keys import Kind

KEPT = "experiment.toml"
_SETS = "sets"
_TOLD = 5
CONDUCT: Mapping[Kind, tuple[str, ...]] = {
    "evaluation": ("concurrency", "max_errors"),
    "sweep": ("max_errors",),
    "optimization": ("max_metric_calls", "auto", "threads"),
}
"""Keys that may change: the verbs go on with another value of them, too."""


def log_of(experiment: Experiment, folder: Path) -> Path:
    """The folder of the verb."""
    return folder / experiment.kind


def is_begun(folder: Path) -> bool:
    """Whether anything was measured there. Before that, a file is only a draft."""
    paths = (folder / kind / name for kind in CONDUCT for name in (SAMPLES, ROLLOUTS))
    return any(path.is_file() and path.stat().st_size for path in paths)


def check_unchanged(experiment: Experiment, folder: Path) -> None:
    """Raise RunError if the folder holds an experiment that was begun by a file that said something else."""
    kept = folder / KEPT
    if not kept.exists() or not is_begun(folder):
        return
    changed = _changes(experiment.as_begun(kept), experiment)
    if changed:
        more = [f"and {len(changed) - _TOLD} more"] if len(changed) > _TOLD else []
        told = "\n  ".join([*changed[:_TOLD], *more])
        raise RunError(
            f"{experiment.file} changed since the experiment in {folder} was begun:\n  {told}",
            hint=f"choose another folder (--out), or take the file as it was begun: {kept}",
        )


@contextmanager
def held(experiment: Experiment, folder: Path) -> Iterator[None]:
    """Keep the file in its folder, and the folder for this process. Raises RunError for the folder of anything else."""
    prepared(folder, KEPT, "experiment")
    with closing(locked(folder, "used")):
        check_unchanged(experiment, folder)
        if not is_begun(folder):
            _draft(experiment, folder)
        yield


def set_named(experiment: Experiment, folder: Path) -> str:
    """The set by its name or folder; one that has to be built is in the folder of the experiment."""
    keys = experiment.values["set"]
    return keys["name"] if "name" in keys else str(folder / _SETS / keys["family"])


def build_set(experiment: Experiment, folder: Path, store: Path) -> None:
    """Build the set of the experiment, unless it is only named or there already. Raises QuestionSetError."""
    from data.sets.making import Wanted, make_set
    from data.sets.storage import SET_FILE

    keys = experiment.values["set"]
    place = Path(set_named(experiment, folder))
    if "name" in keys or (place / SET_FILE).is_file():
        return
    wanted = Wanted(**{**keys, "over": tuple(map(Path, keys["over"]))})
    make_set(wanted, place, store=store)


def _draft(experiment: Experiment, folder: Path) -> None:
    """Keep the file. What another one prepared goes: a set, and a folder in which nothing was measured."""
    kept = folder / KEPT
    if kept.exists() and kept.read_bytes() != experiment.text.encode():
        for name in (_SETS, *CONDUCT):
            shutil.rmtree(folder / name, ignore_errors=True)
    write_atomically(kept, experiment.text.encode())


def _changes(begun: Experiment, now: Experiment) -> list[str]:
    """What makes another experiment of it, each as `key: old, now new`."""
    if begun.kind != now.kind:
        old, new = {"kind": begun.kind}, {"kind": now.kind}
    else:
        old, new = _measured(begun), _measured(now)
    return differences(*(RootModel[dict[str, Any]](each) for each in (old, new)))


def _measured(experiment: Experiment) -> dict[str, Any]:
    apart = CONDUCT[experiment.kind]
    return {name: _told(each) for name, each in experiment.values.items() if name not in apart}


def _told(value: Any) -> Any:
    """A value with its lists as they are read: what changed in one is told whole."""
    if isinstance(value, dict):
        return {name: _told(each) for name, each in value.items()}
    return json.dumps(value) if isinstance(value, list) else value
