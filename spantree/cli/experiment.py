"""Experiment: what a file asks for, as the verbs ask for it: the same defaults, and the same checks."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from runtime.errors import UserError
from spantree.cli.eval import evaluate
from spantree.cli.experiment_file import SUFFIX, parsed, read_text
from spantree.cli.experiment_keys import Kind, ProgramKeys, SetKeys
from spantree.cli.experiment_request import MAKERS, Asked, Call, check
from spantree.cli.optimize import optimize
from spantree.cli.parameters import PARAMETERS
from spantree.cli.settings import known
from spantree.cli.sweep import sweep

VERBS: Mapping[Kind, Callable[..., None]] = {
    "evaluation": evaluate,
    "sweep": sweep,
    "optimization": optimize,
}
"""What does at the command line what a file of a kind does: defaults are its own."""
APART = ("context", "bundle", "out", "store", "json", "quiet", "retry_errors")
"""Parameters of the verbs that are no keys: they are given to `spantree run`, or are said otherwise (bundle:PATH)."""
MODELS = ("model", "leaf_model", "reflection_model", "teacher_model", "teacher_leaf_model")
"""Keys that name a model."""


@dataclass(frozen=True)
class Experiment:
    """A file, and what it says."""

    file: Path
    text: str
    keys: ProgramKeys

    @classmethod
    def read(cls, file: Path) -> "Experiment":
        """The experiment of a file. Raises UserError that tells what is wrong with it, and in which line."""
        text = read_text(file)
        return cls(file, text, parsed(text, file))

    def as_begun(self, kept: Path) -> "Experiment":
        """This experiment as a kept copy of its file says it was begun: paths are those beside the file itself."""
        text = read_text(kept)
        return Experiment(self.file, text, parsed(text, kept))

    @property
    def kind(self) -> Kind:
        """What is done."""
        return self.keys.kind

    @property
    def folder(self) -> Path:
        """Where its results lie, unless another folder is chosen: beside the file."""
        return self.file.with_name(self.file.name.removesuffix(SUFFIX))

    @cached_property
    def values(self) -> dict[str, Any]:
        """Everything that it asks for, by key, with what the verb takes where the file says nothing; paths resolved.

        Raises UserError for a set that is neither named nor built.
        """
        parameters = inspect.signature(VERBS[self.kind]).parameters
        defaults = {name: each.default for name, each in parameters.items() if name not in APART}
        found = {**defaults, **self.keys.given()}
        with self._mistakes():
            found["set"] = self._set()
        for name in MODELS:
            if found.get(name) is not None:
                found[name] = self._model(found[name])
        found["leaf_model"] = found["leaf_model"] or found["model"]
        found["program"] = ",".join(self._program(each) for each in found["program"].split(","))
        if self.kind == "sweep":
            found["vary"] = {name: self._varied(name, each) for name, each in found["vary"].items()}
        return found

    def asked(self, call: Call) -> Asked:
        """What the verb would ask for. Raises UserError for a mistake that can be seen at once, with the file."""
        values = self.values
        with self._mistakes():
            asked = MAKERS[self.kind](values, call)
            check(asked)
        return asked

    @contextmanager
    def _mistakes(self) -> Iterator[None]:
        """Name the file in what is raised for it."""
        try:
            yield
        except UserError as error:
            error.message = f"{self.file}: {error.message}"
            raise

    def _set(self) -> dict[str, Any]:
        """The set: its name or folder, or everything that it is built from."""
        keys: SetKeys = self.keys.set
        given = keys.given()
        if (keys.name is None) == (keys.family is None):
            said = "neither a set nor" if keys.name is None else "both a set and"
            raise UserError(
                f"the table set names {said} a family to build one of",
                hint='give set = "NAME", or a table with family = "NAME"',
            )
        if keys.name is not None:
            if len(given) > 1:
                raise UserError(
                    f"the set {keys.name!r} is named, and is not built:"
                    f" {', '.join(sorted(given.keys() - {'name'}))} would have no use",
                    hint='leave it out, or name the family: family = "NAME"',
                )
            return {"name": self._set_name(keys.name)}
        return self._set_built(keys, given)

    def _set_built(self, keys: SetKeys, given: dict[str, Any]) -> dict[str, Any]:
        """Everything that a set is built from, with what `spantree sets build` takes where the file says nothing."""
        from data.sets.generators import FAMILIES
        from data.sets.importers import IMPORTERS
        from data.sets.making import Wanted, shares_of

        known("family of questions", str(keys.family), [*FAMILIES, *IMPORTERS])
        if keys.split is not None:
            shares_of(keys.split)
        if keys.over is not None:
            given["over"] = tuple(self._path(each) for each in keys.over)
        if keys.source is not None:
            given["source"] = str(self._path(keys.source))
        made = asdict(Wanted(**given))
        return {**made, "over": [str(each) for each in made["over"]]}

    def _set_name(self, name: str) -> str:
        """A name as it is, or the folder that it means beside the file."""
        from data.sets.hub import HUB
        from data.sets.storage import SET_FILE

        return name if name.startswith(HUB) else self._named(name, SET_FILE)

    def _program(self, name: str) -> str:
        """The name of a program; of a bundle that is a folder, with its path."""
        from programs.bundle_files import FACTS
        from spantree.cli.bundled import BUNDLE

        name = name.strip()
        if not name.startswith(BUNDLE):
            return name
        return BUNDLE + self._named(name.removeprefix(BUNDLE), FACTS)

    def _named(self, name: str, file: str) -> str:
        """A name, or a path: what has several parts, or is a folder beside the file that has a certain file."""
        path = self._path(name)
        is_path = len(Path(name).parts) > 1 or name.startswith((".", "~"))
        return str(path) if is_path or (path / file).is_file() else name

    def _model(self, name: str) -> str:
        """The name of a model; of one that is a file, with its path."""
        from runtime.models.local.weights import PREFIX
        from runtime.models.local.weights import SUFFIX as WEIGHTS

        for prefix, ending in (("scripted:", ""), (PREFIX, WEIGHTS)):
            if name.startswith(prefix) and name.endswith(ending):
                return f"{prefix}{self._path(name.removeprefix(prefix))}"
        return name

    def _varied(self, name: str, values: list[Any]) -> list[Any]:
        is_model = name in PARAMETERS and PARAMETERS[name].model
        return [self._model(str(each)) for each in values] if is_model else values

    def _path(self, name: str) -> Path:
        """A path as it is meant from the folder of the file."""
        return (self.file.absolute().parent / Path(name).expanduser()).resolve()
