"""Bundles: programs as folders that can be trusted and loaded.

A bundle is data: JSON that says which program of the catalog to make, how, and with which instructions and demos.
Loading one imports nothing that the bundle names and executes nothing that it holds. What it says about models are
names: keys come from the environment of whoever loads it.
"""

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import dspy

from data.partition import PARTITIONERS
from programs.base import Program
from programs.bundle_facts import Facts, ModelFacts, Origin, versions
from programs.bundle_files import FACTS, read_files, write_files
from programs.bundle_signatures import signature_hashes
from programs.catalog import PROGRAMS
from programs.program_state import (
    PredictorState,
    apply_state,
    fitting,
    predictors_of,
    state_of,
)
from programs.progress import Listener
from runtime.errors import BundleError
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.make import make_lm

__all__ = ["Bundle", "Origin", "load", "read_bundle", "save_bundle", "shipped_bundles"]

_FORCE = "make a new bundle with what is installed; or load as much of it as fits: force=True"
_GIVE = "give the model yourself: load(..., lm=make_lm(NAME, ...)), or --model NAME --api-base URL"


@dataclass(frozen=True)
class Bundle:
    """A bundle as it lies in its folder."""

    folder: Path
    facts: Facts
    state: Mapping[str, PredictorState]

    @property
    def id(self) -> str:
        """16 hex digits over everything that is in it."""
        return self.facts.id

    def models(
        self, name: str, leaf_name: str, api_base: str | None = None
    ) -> tuple[dspy.LM, dspy.LM]:
        """Models by name, of all calls and of leaves, with the parameters that the bundle has for those that it names.

        Raises BundleError where the name does not make the same model, ModelError for what make_lm refuses.
        """
        main, leaf = self.facts.lm, self.facts.leaf_lm
        of_main = _named(name, main, leaf)
        of_leaf = _named(leaf_name, leaf, main)
        lm = _made(of_main, api_base) if of_main else make_lm(name, api_base=api_base)
        if (leaf_name, of_leaf) == (name, of_main):
            return lm, lm
        return lm, _made(of_leaf, api_base) if of_leaf else make_lm(leaf_name, api_base=api_base)

    def unlearned(self, **settings: Any) -> Program:
        """The program as it is without the bundle's state. Raises BundleError when there is no such program."""
        facts = self.facts
        if facts.program not in PROGRAMS:
            raise BundleError(
                f"the bundle {self.folder} is of a program {facts.program!r}, and there is none",
                hint=f"this spantree has {', '.join(PROGRAMS)}",
            )
        if facts.partitioner not in PARTITIONERS:
            raise BundleError(
                f"the bundle {self.folder} needs the partitioner {facts.partitioner!r}, and there is none",
                hint=f"this spantree has {', '.join(PARTITIONERS)}",
            )
        return _built(facts.program, facts.options, partitioner=facts.partitioner, **settings)

    def misfits(self) -> list[str]:
        """Why it does not fit what is installed, each in a sentence; empty when it does."""
        facts, program = self.facts, self.unlearned()
        found = []
        made, mine = facts.versions.get("dspy", ""), versions()["dspy"]
        if _minor(made) != _minor(mine):
            found.append(f"it was made with DSPy {made}, and this is {mine}")
        if facts.program_version != program.version:
            found.append(
                f"{facts.program} was of version {facts.program_version}, and is of {program.version}"
            )
        hashes = signature_hashes(program)
        found += [
            f"the signature of {name} has changed"
            for name, each in facts.signatures.items()
            if name in hashes and hashes[name] != each
        ]
        # All of it, also beside another reason: this is what is told of a load by force.
        return [*found, *fitting(program, self.state)[1]]


def save_bundle(
    program: Program,
    name: str,
    folder: Path,
    *,
    origin: Origin | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Bundle:
    """Write a program into a folder; a bundle that is there is replaced.

    `name` is the program's in the catalog; `settings` are the options that it was made with, under the names that they
    have there. Whether instructions and demos hold what they must not is for those to check who know the questions
    (evals/leakage.py). Raises BundleError when name and settings do not make this program, or the folder is taken.
    """
    options = {each: value for each, value in (settings or {}).items() if value is not None}
    _check_same(program, name, options)
    _check_plain(program)
    lm = program.main_lm or dspy.settings.lm
    leaf = program.leaf_lm
    source = origin or Origin(parent=program.bundle or None)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    state = state_of(program)
    facts = Facts(
        program=name,
        program_version=program.version,
        options=options,
        partitioner=program.partitioner,
        limits=program.limits,
        lm=ModelFacts.of(lm) if lm is not None else None,
        leaf_lm=ModelFacts.of(leaf) if leaf is not None and leaf is not lm else None,
        signatures=signature_hashes(program),
        versions=versions(),
        origin=source.model_copy(update={"created": source.created or now}),
        state_sha256="",
    )
    return Bundle(folder, write_files(folder, facts, state), state)


def read_bundle(name: str | Path) -> Bundle:
    """A bundle by its folder, or by the name of one that ships. Raises BundleError when it is missing or damaged."""
    folder = _found(name)
    facts, state = read_files(folder)
    return Bundle(folder, facts, state)


def load(
    name: str | Path,
    *,
    force: bool = False,
    lm: dspy.BaseLM | None = None,
    leaf_lm: dspy.BaseLM | None = None,
    limits: Limits | None = None,
    journal: Journal | Path | None = None,
    progress: Listener | None = None,
) -> Program:
    """The program of a bundle, ready to be called: a folder, or the name of a bundle that ships.

    Models and limits are those that it was made with, unless others are given here. `program.bundle` is the id of the
    bundle; runs note it. Raises BundleError when it does not fit what is installed (another version of the program or
    of DSPy, a changed signature): `force` loads as much of it as fits, with a warning.
    A damaged bundle is never loaded. Raises ModelError for what make_lm refuses.
    """
    bundle = read_bundle(name)
    misfits = bundle.misfits()
    if misfits and not force:
        raise BundleError(
            f"the bundle {bundle.folder} does not fit: {'; '.join(misfits)}", hint=_FORCE
        )
    if misfits:
        warnings.warn(
            f"the bundle {bundle.folder} is loaded by force: {'; '.join(misfits)}", stacklevel=2
        )
    facts = bundle.facts
    program = bundle.unlearned(
        limits=limits or facts.limits,
        lm=lm or (_made(facts.lm) if facts.lm else None),
        leaf_lm=leaf_lm or (_made(facts.leaf_lm) if facts.leaf_lm else None),
        journal=journal,
        progress=progress,
    )
    apply_state(program, fitting(program, bundle.state)[0])
    program.bundle, program.bundle_folder = bundle.id, str(bundle.folder.resolve())
    return program


def shipped_bundles() -> list[str]:
    """The names of the bundles that ship."""
    return sorted(path.parent.name for path in _shipped().glob(f"*/{FACTS}"))


def _shipped() -> Path:
    return Path(str(files("programs"))) / "shipped"


def _found(name: str | Path) -> Path:
    try:
        path = Path(name).expanduser()
        if path.exists():
            return path
    except (OSError, RuntimeError) as error:  # too long, not to be entered; a home that nobody has
        raise BundleError(
            f"{str(name)!r} is no bundle: {getattr(error, 'strerror', None) or error}",
            hint=f"name a folder with {FACTS}",
        ) from error
    if str(name) in shipped_bundles():
        return _shipped() / str(name)
    names = ", ".join(shipped_bundles()) or "none so far"
    raise BundleError(
        f"there is no bundle {str(name)!r}",
        hint=f"name a folder with {FACTS}, or one that ships: {names}",
    )


def _built(name: str, options: Mapping[str, Any], **settings: Any) -> Program:
    entry = PROGRAMS[name]
    unknown = [each for each in options if each not in entry.keywords]
    if unknown:
        raise BundleError(
            f"the program {name} has no option {unknown[0]!r}",
            hint=f"its options are: {', '.join(entry.keywords) or 'none'}",
        )
    try:
        return entry.build(options, **settings)
    except TypeError as error:  # a number where a word belongs
        raise BundleError(
            f"the options {dict(options)} make no {name}: {error}",
            hint="give them as they are meant",
        ) from error


def _check_same(program: Program, name: str, options: Mapping[str, Any]) -> None:
    """Refuse to say of a program that it is made so if it is not."""
    if name not in PROGRAMS:
        raise BundleError(f"there is no program {name!r}", hint=f"one of: {', '.join(PROGRAMS)}")
    twin = _built(
        name,
        options,
        limits=program.limits,
        partitioner=program.partitioner,
        lm=program.main_lm,
        leaf_lm=program.leaf_lm,
    )
    ours, its = (each.configuration(program.limits) for each in (program, twin))
    differing = [each for each in {**ours, **its} if ours.get(each) != its.get(each)]
    if type(program) is not type(twin) or differing:
        what = f"it differs in {', '.join(differing)}" if differing else "it is another class"
        raise BundleError(
            f"the program is not what {name} with the options {dict(options)} makes: {what}",
            hint="say how it was made: the name in the catalog of programs and all options that were given",
        )


def _check_plain(program: Program) -> None:
    """Refuse to leave out what else can be set on predictors, and makes a difference."""
    known = (None, program.main_lm, program.leaf_lm)
    for name, predictor in predictors_of(program).items():
        own = [each for each in ("config", "fields") if getattr(predictor, each)]
        if not any(predictor.lm is each for each in known):
            own.append("lm")
        if own:
            raise BundleError(
                f"the predictor {name} has a {own[0]} of its own, which a bundle does not keep",
                hint="set it on the models of the program, or take it off",
            )


def _named(name: str, *models: ModelFacts | None) -> ModelFacts | None:
    """The first of some models that has this name."""
    return next((each for each in models if each is not None and each.name == name), None)


def _made(facts: ModelFacts, api_base: str | None = None) -> dspy.LM:
    """A model by its name, the same as the bundle was made with, or an error. `api_base` is for its own server."""
    if facts.own_server and api_base is None:
        raise BundleError(
            f"the bundle was made with {facts.name} on a server of its own, whose address is not kept",
            hint=_GIVE,
        )
    settings: dict[str, Any] = facts.parameters
    lm = make_lm(
        facts.name,
        api_base=api_base,
        temperature=settings.get("temperature"),
        max_tokens=settings.get("max_tokens", settings.get("max_completion_tokens")),
    )
    if ModelFacts.of(lm).parameters != facts.parameters:
        raise BundleError(
            f"the bundle was made with {facts.name} under {facts.parameters}: its name alone does not make that",
            hint=_GIVE,
        )
    return lm


def _minor(version: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+", version)[:2])
