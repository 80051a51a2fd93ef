"""The verb `eval`: programs over a question set, into a log."""

import typer

from spantree.cli import eval_options, options
from spantree.cli.settings import DEFAULT_LIMITS, DEFAULT_MODEL, common_settings


def evaluate(
    context: typer.Context,
    set: eval_options.Set,
    program: eval_options.Programs = "auto",
    bundle: eval_options.Bundles = None,
    model: options.Model = DEFAULT_MODEL,
    leaf_model: options.LeafModel = None,
    api_base: options.ApiBase = None,
    partition: options.Partitioner = "auto",
    leaf_characters: options.LeafCharacters = None,
    out: eval_options.Out = None,
    epochs: eval_options.Epochs = 1,
    limit: eval_options.Limit = None,
    split: eval_options.Split = None,
    seed: eval_options.Seed = 0,
    concurrency: eval_options.Concurrency = 4,
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
    """Evaluate programs on a question set; the same command goes on with what was interrupted.

    Every sample becomes a line of LOG/samples.jsonl as it ends. Limits (--max-calls ...) are those of one question.
    Nothing is judged by a model here: spantree rescore --judge does so afterwards.

    \b
    Examples:
      spantree eval --program recursive,direct,retrieve --set samples
      spantree eval --program rlm:tools,rlm:repl --set mixed --limit 50 --seed 7
      spantree eval --set ./my-set --model openai/gpt-4.1-mini --max-cost 0.05
      spantree eval --program recursive --bundle runs/mine/bundle --set ./my-set

    \b
    Exit status:
      0    every sample is in the log, errors among them
      1    more samples ended in errors than are tolerated (--max-errors)
      2    a mistake in what was asked for, or a log of something else
      130  interrupted; the command that goes on is printed
    """
    from spantree.cli.bundled import with_bundles
    from spantree.cli.evaluation import Evaluation, carry_out

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
    asked = Evaluation(
        programs=with_bundles(program, bundle, context),
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
    raise typer.Exit(carry_out(asked))
