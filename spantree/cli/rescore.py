"""The verb `rescore`: the metrics of a log, computed anew without a model."""

import sys

from spantree.cli import eval_options, options


def rescore(
    log: eval_options.Log,
    set: eval_options.SetOfLog = None,
    tau: eval_options.Tau = 0.5,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compute the metrics of a log anew from its answers. No model is called, no sample is rewritten.

    The scores go to LOG/scores.jsonl, from where everything that reads the log takes them. For new metrics, another
    --tau, or a set whose gold was mended.

    \b
    Examples:
      spantree rescore logs/samples-extractive-1f0c22ab
      spantree rescore logs/mine --set ./my-set --tau 1.0
    """
    from evals.log import read_log
    from evals.rescoring import rescore as rescored
    from evals.results import results
    from spantree.cli.evaluation_table import print_results
    from spantree.cli.progress import watcher
    from spantree.cli.question_set import opened_set
    from spantree.cli.store import store_folder

    manifest = read_log(log).manifest
    opened = opened_set(set or manifest.notes.set_folder, store_folder(store))
    with watcher(sys.stderr, quiet=quiet) as watching:
        opened.check(manifest.question_set.corpora, watching)
        found = rescored(log, opened.made, opened.corpus, tau=tau, progress=watching.rescored)
    if not quiet:
        print(f"scores: {log / 'scores.jsonl'}", file=sys.stderr)
    print_results(results(found), json=json, log=found)
