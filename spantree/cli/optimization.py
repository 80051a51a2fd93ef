"""Optimization: from what was asked at the command line to a folder with candidates, a comparison and a report."""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors import (
    LimitsError,
    QuestionSetError,
    RunCancelled,
    RunError,
    UserError,
)
from spantree.cli.command_words import joined, limit_options, model_options
from spantree.cli.display import say_banner
from spantree.cli.exits import OK, Interrupted, then
from spantree.cli.optimization_result import print_optimized, write_report
from spantree.cli.optimize_options import MAX_DEMOS, SHARES, THRESHOLD
from spantree.cli.progress import watcher
from spantree.cli.question_set import OpenedSet, opened_set
from spantree.cli.settings import Settings
from spantree.cli.store import store_folder
from spantree.cli.variants import Variant, variants

if TYPE_CHECKING:
    import dspy

    from evals.optimization import Listener, Optimized, Plan
    from programs.base import Program

OPTIMIZATIONS = "optimizations"
REPORT = "report.html"
_APART = ("budget", "auto", "threads", "retry_errors", "out", "store", "json", "quiet")
"""What makes no other optimization of one: more budget goes on with it."""


@dataclass(frozen=True, slots=True)
class Optimization:
    """What was asked for. `options` are those of the optimizer, by name; None is what the Python API has by default.

    `program` is NAME, NAME:CHOICE, or bundle:PATH for one that was optimized before.
    """

    program: str
    common: Settings
    question_set: str
    optimizer: str
    reflection_model: str | None
    reflection_api_base: str | None
    teacher_model: str | None
    teacher_leaf_model: str | None
    teacher_api_base: str | None
    budget: int | None
    auto: str | None
    objective: str | None
    weights: str | None
    cost_weight: float | None
    cost_tokens: int | None
    threshold: float
    seed: int
    threads: int
    max_demos: int
    shares: str
    train_limit: int | None
    validation_limit: int | None
    test_limit: int | None
    options: Mapping[str, Any]
    retry_errors: bool
    out: Path | None
    store: Path | None
    json: bool
    quiet: bool

    def command(self, out: Path) -> str:
        """The command that goes on with this optimization."""
        given = {
            "--program": self.program,
            "--set": self.question_set,
            "--optimizer": self.optimizer,
            **model_options(self.common),
            "--reflection-model": self.reflection_model,
            "--reflection-api-base": self.reflection_api_base,
            "--teacher-model": self.teacher_model,
            "--teacher-leaf-model": self.teacher_leaf_model,
            "--teacher-api-base": self.teacher_api_base,
            "--max-metric-calls": self.budget,
            "--auto": self.auto,
            "--objective": self.objective,
            "--weights": self.weights,
            "--cost-weight": self.cost_weight,
            "--cost-tokens": self.cost_tokens,
            "--threshold": None if self.threshold == THRESHOLD else self.threshold,
            "--seed": self.seed or None,
            "--threads": None if self.threads == 1 else self.threads,
            "--max-demos": None if self.max_demos == MAX_DEMOS else self.max_demos,
            "--split-shares": None if self.shares == SHARES else self.shares,
            "--train-limit": self.train_limit,
            "--validation-limit": self.validation_limit,
            "--test-limit": self.test_limit,
            "--out": out,
            "--store": self.store,
            **limit_options(self.common),
        }
        options = [
            word
            for name, value in self.options.items()
            for word in ("--option", f"{name}={json.dumps(value)}")
        ]
        return joined("optimize", given, *options)

    def plan(self) -> "Plan":
        """How it is optimized. Raises UserError for what can be seen to be wrong before anything is read."""
        from data.sets.making import shares_of
        from evals.objective import Objective
        from evals.optimization import Plan

        if self.objective is not None and self.weights is not None:
            raise UserError(
                "an objective and weights of another one are both given",
                hint="give --objective or --weights",
            )
        costs = {"cost_weight": self.cost_weight, "budget_tokens": self.cost_tokens}
        given = {name: value for name, value in costs.items() if value is not None}
        objective = Objective.parse(self.objective or "verified_correct", self.weights, **given)
        train, validation, test = shares_of(self.shares).values()
        plan = Plan(
            optimizer=self.optimizer,  # type: ignore[arg-type]  # checked by the plan
            objective=objective,
            budget=self.budget,
            auto=self.auto,  # type: ignore[arg-type]
            threshold=self.threshold,
            seed=self.seed,
            threads=self.threads,
            shares=(train, validation, test),
            train_limit=self.train_limit,
            validation_limit=self.validation_limit,
            test_limit=self.test_limit,
            max_demos=self.max_demos,
            options=dict(self.options),
        )
        plan.check(reflects=self.reflection_model is not None, taught=self.is_taught)
        return plan

    @property
    def is_taught(self) -> bool:
        """Whether demos are made by other models than those that are to use them."""
        return self.teacher_model is not None or self.teacher_leaf_model is not None

    def variant(self) -> Variant:
        """The one program that is named. Raises UserError."""
        found = variants(self.program, self.common)
        if len(found) > 1:
            raise UserError(
                f"--program names {len(found)} programs: one is optimized at a time",
                hint=f"for example --program {found[0].name}",
            )
        return found[0]

    def teacher(self, variant: Variant) -> "Program | None":
        """The same program with the models of the teacher, None without one. Raises ModelError."""
        if not self.is_taught:
            if self.teacher_api_base is not None:
                raise UserError(
                    "--teacher-api-base has no use without a teacher",
                    hint="name one: --teacher-model",
                )
            return None
        taught = replace(
            variant.settings,
            model=self.teacher_model or self.common.model,
            leaf_model=self.teacher_leaf_model or self.teacher_model or self.common.leaf_model,
            api_base=self.teacher_api_base,
        )
        return Variant(variant.name, taught).factory(taught.models())()

    def reflection_lm(self) -> "dspy.LM | None":
        """The model that writes instructions, None for an optimizer that needs none. Raises ModelError."""
        from evals.optimization.plan import REFLECTING
        from runtime.models.make import make_lm

        if self.reflection_model is not None and self.optimizer in REFLECTING:
            return make_lm(self.reflection_model, api_base=self.reflection_api_base)
        given = {
            "--reflection-model": self.reflection_model,
            "--reflection-api-base": self.reflection_api_base,
        }
        for name, value in given.items():
            if value is not None:
                raise UserError(
                    f"{name} has no use with {self.optimizer}, which has nothing written",
                    hint=f"leave it out, or choose one of {', '.join(sorted(REFLECTING))}",
                )
        return None


def optimizer_options(words: list[str]) -> dict[str, Any]:
    """The options in NAME=VALUE, values as JSON; a word that is none is a text. Raises UserError."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not name or not equals or name in found:
            what = "is given twice" if name in found else "is not NAME=VALUE"
            raise UserError(
                f"--option {word!r} {what}",
                hint="for example --option reflection_minibatch_size=5",
            )
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


@dataclass(frozen=True, slots=True)
class _Made:
    """What is made of what was asked for, before anything is read: `name` is the variant's."""

    plan: "Plan"
    name: str
    catalog_name: str
    program: "Program"
    teacher: "Program | None"
    reflection_lm: "dspy.LM | None"

    @classmethod
    def of(cls, asked: Optimization) -> "_Made":
        """Check everything that can be checked. Raises UserError."""
        from programs.base import checked_limits

        plan, variant = asked.plan(), asked.variant()
        reflection_lm = asked.reflection_lm()
        program = variant.factory(variant.settings.models())()
        checked_limits(program.limits, program.min_calls)
        teacher = asked.teacher(variant)
        name = variant.settings.program
        return cls(plan, variant.name, name, program, teacher, reflection_lm)


def carry_out(asked: Optimization) -> int:
    """Check everything that can be checked, then optimize, compare and print. Returns the exit status."""
    made = _Made.of(asked)
    store = store_folder(asked.store)
    say_banner(asked.common, quiet=asked.quiet)
    opened = opened_set(asked.question_set, store)
    out = asked.out or _default_out(asked, made.name, opened)
    command = asked.command(out)
    with watcher(sys.stderr, quiet=asked.quiet) as watching:
        opened.check((each.corpus for each in opened.made.questions), watching)
        found = _optimized(made, opened, out, asked, command, watching.optimized)
    report = write_report(found, out / REPORT)
    print_optimized(found, json=asked.json, quiet=asked.quiet, report=report)
    if found.stopped == "interrupted":
        raise Interrupted(command)
    return OK


def _optimized(
    made: _Made,
    opened: OpenedSet,
    out: Path,
    asked: Optimization,
    command: str,
    listener: "Listener",
) -> "Optimized":
    """Optimize. An interrupt ends it with what was found so far, a mistake with the command that goes on after it."""
    from evals.manifest import MANIFEST
    from evals.optimization import optimize, read_optimization

    try:
        return optimize(
            made.program,
            opened.made,
            opened.corpus,
            out,
            made.plan,
            name=made.catalog_name,
            reflection_lm=made.reflection_lm,
            teacher=made.teacher,
            retry_errors=asked.retry_errors,
            notes=opened.notes(command),
            listener=listener,
        )
    except (KeyboardInterrupt, RunCancelled) as interrupt:
        try:
            return read_optimization(out)
        except RunError:
            raise Interrupted(command) from interrupt
    except (LimitsError, QuestionSetError, RunError):
        raise  # the same command would end in the same way
    except UserError as error:
        if (out / MANIFEST).exists():
            then(error, command)
        raise


def _default_out(asked: Optimization, program: str, opened: OpenedSet) -> Path:
    """A folder that the same command finds again, by the same code on the same set."""
    from evals.optimization.manifest import metric_hash, versions
    from evals.provenance import code_hash

    told = {name: value for name, value in asdict(asked).items() if name not in _APART}
    made = [told, program, opened.made.version, code_hash(), metric_hash(), versions()]
    digest = hashlib.sha256(json.dumps(made, sort_keys=True, default=str).encode()).hexdigest()
    name = f"{opened.made.name}-{program.replace(':', '-')}-{asked.optimizer}-{digest[:8]}"
    return Path(OPTIMIZATIONS) / name
