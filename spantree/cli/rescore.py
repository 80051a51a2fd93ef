"""The verb `rescore`: the metrics of a log, computed anew without a model, or with the verdicts of a judge."""

import sys

from spantree.cli import eval_options, options
from spantree.cli.judging import ChosenJudge


def rescore(
    log: eval_options.Log,
    set: eval_options.SetOfLog = None,
    tau: eval_options.Tau = 0.5,
    judge: eval_options.Judge = None,
    judge_by: eval_options.JudgeBy = None,
    judge_threshold: eval_options.JudgeThreshold = None,
    judge_cache: eval_options.JudgeCache = None,
    api_base: options.ApiBase = None,
    concurrency: eval_options.InFlight = None,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    max_seconds: options.MaxSeconds = None,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compute the metrics of a log anew from its answers. No model is called, no sample is rewritten.

    The scores go to LOG/scores.jsonl, from where everything that reads the log takes them. For new metrics, another
    --tau, or a set whose gold was mended.

    With --judge a model is asked, once for each cited statement, whether its quotes support it, for the rate of
    unsupported statements. It is an opinion: python -m benchmarks.judge measures its agreement with people. Limits
    (--max-calls ...) are those of all its calls; what they leave is unjudged. Without --judge no verdict counts.

    \b
    Examples:
      spantree rescore logs/samples-extractive-1f0c22ab
      spantree rescore logs/mine --set ./my-set --tau 1.0
      spantree rescore logs/mine --judge openai/gpt-4.1-mini --max-cost 1
      spantree rescore logs/mine --judge local/qwen2.5-coder-1.5b
    """
    from evals.log import read_log
    from evals.rescoring import rescore as rescored
    from evals.results import results
    from spantree.cli.evaluation_table import print_results
    from spantree.cli.progress import watcher
    from spantree.cli.question_set import opened_set
    from spantree.cli.store import store_folder

    asked = ChosenJudge.of(
        judge,
        way=judge_by,
        threshold=judge_threshold,
        cache=judge_cache,
        api_base=api_base,
        concurrency=concurrency,
        calls=max_calls,
        tokens=max_tokens,
        cost_usd=max_cost,
        wall_seconds=max_seconds,
    )
    manifest = read_log(log).manifest
    opened = opened_set(set or manifest.notes.set_folder, store_folder(store))
    with watcher(sys.stderr, quiet=quiet) as watching:
        opened.check(manifest.question_set.corpora, watching)
        judged = asked.judged(log, watching) if asked else None
        found = rescored(
            log, opened.made, opened.corpus, tau=tau, judged=judged, progress=watching.rescored
        )
    if not quiet:
        told = asked.told() if asked else []
        print("\n".join([f"scores: {log / 'scores.jsonl'}", *told]), file=sys.stderr)
    more = {"judging": asked.to_json()} if asked else None
    print_results(results(found), json=json, log=found, more=more)
