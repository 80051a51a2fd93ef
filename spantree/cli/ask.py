"""The verb `ask`: a question over paths, answered with citations."""

from dataclasses import replace

import typer

from spantree.cli import options
from spantree.cli.settings import DEFAULT_LIMITS, DEFAULT_MODEL, common_settings


def ask(
    context: typer.Context,
    question: options.Question,
    paths: options.Paths,
    program: options.Program = "auto",
    bundle: options.Bundle = None,
    model: options.Model = DEFAULT_MODEL,
    leaf_model: options.LeafModel = None,
    api_base: options.ApiBase = None,
    partition: options.Partitioner = "auto",
    refine: options.Refine = None,
    action_space: options.ActionSpace = None,
    sandbox: options.Sandbox = None,
    max_turns: options.MaxTurns = None,
    window: options.Window = None,
    top_k: options.TopK = None,
    leaf_characters: options.LeafCharacters = None,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    max_seconds: options.MaxSeconds = None,
    max_depth: options.MaxDepth = DEFAULT_LIMITS.depth,
    concurrency: options.Concurrency = DEFAULT_LIMITS.in_flight,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    show_stack: options.ShowStack = False,
) -> None:
    """Answer a question, with every statement traced to its lines.

    A limit that is reached ends in a partial answer, which says what it covers and what not.

    \b
    Examples:
      spantree ask 'How many lines mention "Failed password"?' sshd.log
      spantree ask 'What led to the outage?' logs/ --model openai/gpt-4.1-mini
      spantree ask 'What led to the outage?' logs/ --bundle runs/mine/bundle
      journalctl -u nginx | spantree ask 'Which upstream timed out?' -

    \b
    Exit status:
      0    a result: answered, partial, or found to be absent
      1    no result: the run failed, or it was handed to a person
      2    a mistake in what was asked for: one message says which
      130  interrupted; the command that resumes the run is printed
    """
    from spantree.cli.answering import answer_question
    from spantree.cli.bundled import with_bundle
    from spantree.cli.display import Display

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
        concurrency=concurrency,
    )
    settings = replace(
        common,
        program=program,
        refine=refine,
        action_space=action_space,
        sandbox=sandbox,
        max_turns=max_turns,
        window=window,
        top_k=top_k,
    )
    if bundle is not None:
        settings = with_bundle(bundle, settings, context)
    display = Display(store=store, json=json, quiet=quiet, show_stack=show_stack)
    raise typer.Exit(answer_question(question, paths, settings, display))
