"""Experiment request: what a file asks for, in the form in which its verb asks for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spantree.cli.evaluation import Evaluation
from spantree.cli.experiment_keys import Kind
from spantree.cli.optimization import Optimization
from spantree.cli.parameters import checked, one_program
from spantree.cli.settings import Settings, common_settings
from spantree.cli.sweeping import Sweep
from spantree.cli.variants import Variant, variants


@dataclass(frozen=True, slots=True)
class Call:
    """How an experiment is carried out this time. `log` is the folder of its verb; `again` the command that goes on."""

    question_set: str
    log: Path
    again: str
    store: Path | None = None
    retry_errors: bool = False
    json: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class FiledEvaluation(Evaluation):
    """An evaluation that a file asks for, and which goes on by it."""

    again: str = ""

    def command(self, out: Path) -> str:
        """The command that goes on with this evaluation."""
        return self.again


@dataclass(frozen=True, slots=True)
class FiledSweep(Sweep):
    """A sweep that a file asks for, and which goes on by it."""

    again: str = ""

    def command(self, out: Path) -> str:
        """The command that goes on with this sweep."""
        return self.again


@dataclass(frozen=True, slots=True)
class FiledOptimization(Optimization):
    """An optimization that a file asks for, and which goes on by it."""

    again: str = ""

    def command(self, out: Path) -> str:
        """The command that goes on with this optimization."""
        return self.again


Asked = FiledEvaluation | FiledSweep | FiledOptimization


def check(asked: Asked) -> None:
    """Raise UserError for what can be seen to be wrong before anything is read or written."""
    if isinstance(asked, FiledOptimization):
        asked.plan()
        variant = asked.variant()
        variant.settings.models()
        asked.teacher(variant)
        asked.reflection_lm()
        return
    asked.check()
    evaluation = asked.evaluation if isinstance(asked, FiledSweep) else asked
    variants(evaluation.programs, evaluation.common)
    evaluation.common.models()


def programs_of(asked: Asked) -> list[Variant]:
    """The programs that are named."""
    if isinstance(asked, FiledEvaluation):
        return variants(asked.programs, asked.common)
    return [asked.variant if isinstance(asked, FiledSweep) else asked.variant()]


def _settings(values: Mapping[str, Any]) -> Settings:
    return common_settings(
        model=values["model"],
        leaf_model=values["leaf_model"],
        api_base=values["api_base"],
        partition=values["partition"],
        leaf_characters=values["leaf_characters"],
        max_calls=values["max_calls"],
        max_tokens=values["max_tokens"],
        max_cost=values["max_cost"],
        max_seconds=values["max_seconds"],
        max_depth=values["max_depth"],
    )


def _evaluation(values: Mapping[str, Any], call: Call) -> FiledEvaluation:
    return FiledEvaluation(
        programs=values["program"],
        common=_settings(values),
        question_set=call.question_set,
        out=call.log,
        epochs=values["epochs"],
        limit=values["limit"],
        split=values["split"],
        seed=values["seed"],
        concurrency=values["concurrency"],
        max_errors=values["max_errors"],
        retries=values["retries"],
        retry_errors=call.retry_errors,
        store=call.store,
        json=call.json,
        quiet=call.quiet,
        again=call.again,
    )


def _sweep(values: Mapping[str, Any], call: Call) -> FiledSweep:
    program = one_program(values["program"])
    varied = {name: checked(name, each, program) for name, each in values["vary"].items()}
    return FiledSweep(
        _evaluation(values, call), varied, values["random"], values["quality"], again=call.again
    )


def _optimization(values: Mapping[str, Any], call: Call) -> FiledOptimization:
    return FiledOptimization(
        program=values["program"],
        common=_settings(values),
        question_set=call.question_set,
        optimizer=values["optimizer"],
        reflection_model=values["reflection_model"],
        reflection_api_base=values["reflection_api_base"],
        teacher_model=values["teacher_model"],
        teacher_leaf_model=values["teacher_leaf_model"],
        teacher_api_base=values["teacher_api_base"],
        budget=values["max_metric_calls"],
        auto=values["auto"],
        objective=values["objective"],
        weights=values["weights"],
        cost_weight=values["cost_weight"],
        cost_tokens=values["cost_tokens"],
        threshold=values["threshold"],
        seed=values["seed"],
        threads=values["threads"],
        max_demos=values["max_demos"],
        shares=values["split_shares"],
        train_limit=values["train_limit"],
        validation_limit=values["validation_limit"],
        test_limit=values["test_limit"],
        options=values["option"] or {},
        retry_errors=call.retry_errors,
        out=call.log,
        store=call.store,
        json=call.json,
        quiet=call.quiet,
        again=call.again,
    )


MAKERS: Mapping[Kind, Callable[[Mapping[str, Any], Call], Asked]] = {
    "evaluation": _evaluation,
    "sweep": _sweep,
    "optimization": _optimization,
}
"""What asks for it, from what a file says and how it is carried out this time."""
