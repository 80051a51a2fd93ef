"""The verb `sweep`: a search over the parameters of a program."""

from typing import Annotated

import typer

from spantree.cli import eval_options, options
from spantree.cli.settings import DEFAULT_LIMITS, DEFAULT_MODEL, common_settings

_Program = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="The program that is varied; NAME:CHOICE as eval takes it: rlm:repl."
    ),
]
_Vary = Annotated[
    list[str],
    typer.Option(
        metavar="NAME=A,B,...",
        help="A parameter and its values; more than once for a grid.",
        show_default=False,
    ),
]
_Random = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Only N points of the grid, drawn by the seed, none twice.",
        show_default="all",
    ),
]
_Quality = Annotated[
    str,
    typer.Option(
        metavar="METRIC",
        help="What costs are held against: evidence_recall, citation_precision or verified_correct.",
    ),
]
_Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Only train, validation or test questions; keep those of test for what is chosen.",
        show_default="all",
    ),
]
_Concurrency = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Questions at the same time. More than 1 is faster, and the seconds are worse.",
    ),
]


def sweep(
    set: eval_options.Set,
    vary: _Vary,
    program: _Program = "recursive",
    random: _Random = None,
    quality: _Quality = "evidence_recall",
    split: _Split = None,
    model: options.Model = DEFAULT_MODEL,
    leaf_model: options.LeafModel = None,
    api_base: options.ApiBase = None,
    partition: options.Partitioner = "auto",
    leaf_characters: options.LeafCharacters = None,
    out: eval_options.Out = None,
    epochs: eval_options.Epochs = 1,
    limit: eval_options.Limit = None,
    seed: eval_options.Seed = 0,
    concurrency: _Concurrency = 1,
    max_errors: eval_options.MaxErrors = "10%",
    retries: eval_options.Retries = 0,
    retry_errors: eval_options.RetryErrors = False,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    max_seconds: options.MaxSeconds = None,
    max_depth: options.MaxDepth = DEFAULT_LIMITS.depth,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Search over parameters of a program: leaf size, depth, top-k, concurrency, models.

    All configurations and the default are evaluated into one log, which the same command goes on with; then they are
    held against the default, and quality against tokens, calls and seconds: LOG/sweep.html, LOG/front-*.svg.

    \b
    Parameters, where the program has a use for them:
      leaf_characters         how much text one reader is shown at most
      depth, steps_per_frame  how deep the tree of tasks may be, and how wide
      in_flight               calls at the same time
      model, leaf_model       of all calls, and of those that read
      top_k, window           what retrieve, direct and cot read
      refine, max_turns, action_space, sandbox, partition

    \b
    Examples:
      spantree sweep --set mixed --vary depth=1,2 --vary leaf_characters=4000,8000
      spantree sweep --program retrieve --set mixed --vary top_k=4,8,16,32
      spantree sweep --set mixed --split validation --random 4 --seed 7 \\
        --vary in_flight=1,4 --vary leaf_model=extractive,simulated:recall=0.8

    \b
    Exit status:
      0    every sample is in the log, errors among them
      1    more samples ended in errors than are tolerated (--max-errors)
      2    a mistake in what was asked for, or a log of something else
      130  interrupted; the command that goes on is printed
    """
    from spantree.cli.evaluation import Evaluation
    from spantree.cli.parameters import one_program, parsed
    from spantree.cli.sweeping import Sweep, carry_out

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
    evaluation = Evaluation(
        programs=program,
        common=common,
        question_set=set,
        out=out,
        epochs=epochs,
        limit=limit,
        split=split,
        seed=seed,
        concurrency=concurrency,
        max_errors=max_errors,
        retries=retries,
        retry_errors=retry_errors,
        store=store,
        json=json,
        quiet=quiet,
    )
    varied = parsed(vary, one_program(program))
    raise typer.Exit(carry_out(Sweep(evaluation, varied, random, quality)))
