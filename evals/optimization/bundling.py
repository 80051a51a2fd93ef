"""Bundling: a candidate of an optimization as a bundle that can be handed on.

It is checked first: instructions and demos must hold no document, and nothing of the gold of the test questions.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dspy

from data.questions import QuestionSet
from data.sets.storage import load_set, open_set_corpus
from evals.leakage import check_leaks
from evals.log import EvalLog
from evals.optimization.candidates import Candidate
from evals.optimization.manifest import OptimizationManifest
from evals.optimization.results import Optimized, read_test
from evals.results import SHOWN, results
from evals.run import Corpora
from programs.base import Program
from programs.bundles import Bundle, Origin, save_bundle
from programs.catalog import PROGRAMS
from programs.program_state import apply_state
from runtime.errors import BundleError, RunError
from runtime.limits import Limits
from runtime.models.make import make_lm


def bundle_of(
    found: Optimized,
    candidate: Candidate,
    folder: Path,
    *,
    program: Program | None = None,
    made: QuestionSet | None = None,
    corpora: Corpora | None = None,
) -> Bundle:
    """Write a candidate as a bundle.

    Without a program it is made as the manifest says, and the question set is read from where it was. Raises
    BundleError when the candidate holds what must not be handed on, or the folder is taken; RunError when the question
    set cannot be found; ModelError when a model cannot be made.
    """
    manifest = found.manifest
    chosen = _options(manifest)
    if made is None or corpora is None:
        made, corpora = _question_set(manifest)
    before = found.seed.state if found.seed else None
    splits = manifest.splits.model_dump()
    check_leaks(candidate.state, made, corpora, splits, known=before)
    made_of = program.deepcopy() if program is not None else _program(manifest, chosen)
    apply_state(made_of, candidate.state)
    origin = Origin(
        optimizer=manifest.optimizer,
        options=manifest.options,
        objective=manifest.objective.model_dump(mode="json"),
        set_name=manifest.question_set.name,
        set_version=manifest.question_set.version,
        corpora=manifest.question_set.corpora,
        splits=splits,
        seed=manifest.seed,
        reports={
            "validation": _validation(found, candidate),
            "test": _test(read_test(found.folder, candidate.id)),
        },
        parent=manifest.parent or None,
    )
    return save_bundle(made_of, manifest.program_name, folder, origin=origin, settings=chosen)


def _question_set(manifest: OptimizationManifest) -> tuple[QuestionSet, Corpora]:
    folder, store = manifest.notes.set_folder, manifest.notes.store
    if not folder or not Path(folder).exists():
        raise RunError(
            f"the question set {manifest.question_set.name} is not where it was: {folder or 'nobody noted where'}",
            hint="put it there again: what a bundle must not hold is checked against it",
        )
    place, kept = Path(folder), Path(store) if store else None
    made = load_set(place)
    return made, lambda name: open_set_corpus(made, place, name, store=kept)


def _options(manifest: OptimizationManifest) -> dict[str, Any]:
    """The options of the program that only some programs have, under their names in the catalog."""
    if manifest.program_name not in PROGRAMS:
        raise BundleError(
            f"{manifest.program_name} is no program of the catalog, and a bundle names one that is",
            hint="add it to programs/catalog.py",
        )
    entry, kept = PROGRAMS[manifest.program_name], manifest.program.configuration
    return {
        name: kept[keyword]
        for name, keyword in entry.keywords.items()
        if kept.get(keyword) is not None
    }


def _program(manifest: OptimizationManifest, chosen: Mapping[str, Any]) -> Program:
    kept, settings = manifest.program.configuration, manifest.program.parameters
    base = kept["api_base"] or None
    lm = _model(kept["model"], base, settings["model"])
    same = (kept["leaf_model"], settings["leaf_model"]) == (kept["model"], settings["model"])
    return PROGRAMS[manifest.program_name].build(
        chosen,
        limits=Limits.model_validate(kept["limits"]),
        partitioner=kept["partitioner"],
        lm=lm,
        leaf_lm=lm if same else _model(kept["leaf_model"], base, settings["leaf_model"]),
    )


def _model(name: str, base: str | None, parameters: Mapping[str, Any]) -> dspy.LM:
    """A model with the settings that the manifest noted. Raises RunError for one that cannot be given again."""
    given = {each: value for each, value in parameters.items() if value is not None}
    given.pop("api_base", None)
    temperature = given.pop("temperature", None)
    tokens = [given.pop(each, None) for each in ("max_tokens", "max_completion_tokens")]
    if given:
        raise RunError(
            f"the model {name} was used with {', '.join(given)}, which are not given again here",
            hint="in Python: bundle_of(found, candidate, folder, program=...), with the program as it was",
        )
    return make_lm(name, api_base=base, temperature=temperature, max_tokens=tokens[0] or tokens[1])


def _validation(found: Optimized, candidate: Candidate) -> dict[str, Any]:
    named = {"before": found.seed, "after": candidate}
    return {
        name: {"score": each.score, **each.scores, "questions": each.validated}
        for name, each in named.items()
        if each is not None
    }


def _test(log: EvalLog | None) -> dict[str, Any] | None:
    if log is None:
        return None
    return {
        each.program: {
            **{name: each.estimates[name].mean for name in SHOWN},
            "questions": each.samples,
            "errors": each.errors,
        }
        for each in results(log).programs
    }
