"""The verb `optimize`: better instructions and demos for a program; its candidates are listed, picked and reported."""

from typing import TYPE_CHECKING, Any

import typer

from runtime.errors import UserError
from spantree.cli import optimize_options as own
from spantree.cli import options
from spantree.cli.bundled import BUNDLE
from spantree.cli.optimize_list import list_candidates
from spantree.cli.optimize_pick import pick_candidate
from spantree.cli.optimize_report import report_optimization
from spantree.cli.settings import DEFAULT_LIMITS, DEFAULT_MODEL, common_settings

if TYPE_CHECKING:
    from collections.abc import Mapping


def build() -> typer.Typer:
    """The verb with its own verbs."""
    app = typer.Typer(
        name="optimize",
        invoke_without_command=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(optimize)
    verbs = {
        "list": list_candidates,
        "pick": pick_candidate,
        "report": report_optimization,
    }
    for name, verb in verbs.items():
        app.command(name)(verb)
    return app


def optimize(
    context: typer.Context,
    program: own.Program = None,
    bundle: own.Bundle = None,
    set: own.Set = None,
    optimizer: own.Optimizer = None,
    model: options.Model = DEFAULT_MODEL,
    leaf_model: options.LeafModel = None,
    api_base: options.ApiBase = None,
    reflection_model: own.ReflectionModel = None,
    reflection_api_base: own.ItsApiBase = None,
    teacher_model: own.TeacherModel = None,
    teacher_leaf_model: own.TeacherLeafModel = None,
    teacher_api_base: own.ItsApiBase = None,
    max_metric_calls: own.MaxMetricCalls = None,
    auto: own.Auto = None,
    objective: own.Objective = None,
    weights: own.Weights = None,
    cost_weight: own.CostWeight = None,
    cost_tokens: own.CostTokens = None,
    threshold: own.Threshold = own.THRESHOLD,
    seed: own.Seed = 0,
    threads: own.Threads = 1,
    max_demos: own.MaxDemos = own.MAX_DEMOS,
    split_shares: own.SplitShares = own.SHARES,
    train_limit: own.TrainLimit = None,
    validation_limit: own.ValidationLimit = None,
    test_limit: own.TestLimit = None,
    option: own.OptimizerOption = None,
    retry_errors: own.RetryErrors = False,
    out: own.Out = None,
    partition: options.Partitioner = "auto",
    leaf_characters: options.LeafCharacters = None,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    max_seconds: options.MaxSeconds = None,
    max_depth: options.MaxDepth = DEFAULT_LIMITS.depth,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Optimize the instructions and demos of a program on a question set.

    The optimizer sees train and validation questions. None of them rests on a document that a test question rests on;
    a corpus may be that of several splits, and the result says so. The best candidate on the validation questions is
    compared with the program as it was given on the test questions. All candidates are kept. The same command goes on
    with what was interrupted, and asks no model twice; a folder of another program, set, seed or objective is refused.
    Limits (--max-calls ...) are those of one question.

    \b
    Examples:
      spantree optimize --program retrieve --set mixed --optimizer bootstrap
      spantree optimize --program recursive --set mixed --optimizer gepa \\
        --model ollama_chat/llama3.2 --reflection-model openai/gpt-5-mini \\
        --max-metric-calls 300 --seed 7
      spantree optimize list optimizations/mixed-recursive-gepa-1234abcd
      spantree optimize pick optimizations/mixed-recursive-gepa-1234abcd --within 0.02

    \b
    Exit status:
      0    it ended by itself or with its budget, also where nothing beat the
           program as it was given
      2    a mistake in what was asked for, a folder of something else, or too many
           runs that end in errors
      130  interrupted; the best candidate so far and the command that goes on are
           printed
    """
    if context.invoked_subcommand is not None:
        _check_nothing_given(context)
        return
    from spantree.cli.optimization import Optimization, carry_out, optimizer_options

    if program is not None and bundle is not None:
        raise UserError(
            "a program and a bundle are both given, and a bundle says which program it is",
            hint="give --program or --bundle",
        )
    program = program if bundle is None else f"{BUNDLE}{bundle}"
    wanted = _required({"--program": program, "--set": set, "--optimizer": optimizer})
    common = common_settings(
        model=model,
        leaf_model=leaf_model,
        api_base=api_base,
        partition=partition,
        leaf_characters=leaf_characters,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_cost=max_cost,
        max_seconds=max_seconds,
        max_depth=max_depth,
    )
    asked = Optimization(
        program=wanted["--program"],
        common=common,
        question_set=wanted["--set"],
        optimizer=wanted["--optimizer"],
        reflection_model=reflection_model,
        reflection_api_base=reflection_api_base,
        teacher_model=teacher_model,
        teacher_leaf_model=teacher_leaf_model,
        teacher_api_base=teacher_api_base,
        budget=max_metric_calls,
        auto=auto,
        objective=objective,
        weights=weights,
        cost_weight=cost_weight,
        cost_tokens=cost_tokens,
        threshold=threshold,
        seed=seed,
        threads=threads,
        max_demos=max_demos,
        shares=split_shares,
        train_limit=train_limit,
        validation_limit=validation_limit,
        test_limit=test_limit,
        options=optimizer_options(option or []),
        retry_errors=retry_errors,
        out=out,
        store=store,
        json=json,
        quiet=quiet,
    )
    raise typer.Exit(carry_out(asked))


def _required(given: "Mapping[str, str | None]") -> dict[str, str]:
    """What has to be given where no verb of its own is named. Raises UserError."""
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise UserError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            hint="see spantree optimize --help",
        )
    return {name: value for name, value in given.items() if value is not None}


def _check_nothing_given(context: typer.Context) -> None:
    """Raise UserError for options that stand before a verb of its own, where they would do nothing."""
    given = [
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]
    if given:
        flags: dict[str, Any] = {each.name or "": each.opts[0] for each in context.command.params}
        raise UserError(
            f"{flags[given[0]]} stands before {context.invoked_subcommand}, where it has no use",
            hint=f"put options behind it: spantree optimize {context.invoked_subcommand} --help",
        )
