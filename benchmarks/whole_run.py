"""Overhead of a whole run: what it does for each leaf, against bare `dspy.Predict` calls of the same leaves.

    python benchmarks/whole_run.py [--lines 20000] [--rounds 5]

The model is the scripted engine with no latency, so that what is measured is the suite: partitions, spans, prompts, the
ledger, the journal on disk with its intents and commits, verification, coverage. Both sides show the same spans.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import dspy
from log_file import write_log

from data.corpus import Corpus, open_corpus
from programs.evidence import shown
from programs.recursive import Recursive
from programs.workspace import Workspace
from runtime.journal import Journal
from runtime.models.scripted import Rule, ScriptedEngine
from signatures import AnalyzeLeaf

QUESTION = "What went wrong with the requests?"
NOTHING = {"claims": [], "evidence": [], "fields_found": [], "unknowns": [], "claim_count": 0}
STEPS = [("s1", "analyze", QUESTION), ("s2", "conclude", "")]
RULES = [
    Rule(
        signature="ClassifyQuestion",
        reply={"kind": "list", "requires_all": True, "patterns": [], "reason": "all"},
    ),
    Rule(
        signature="Plan",
        reply={
            "think": "read everything",
            "steps": [
                {
                    "id": id,
                    "description": f"{action} what there is",
                    "action": action,
                    "patterns": [],
                    "query": query,
                    "targets": [],
                    "operation": "",
                    "depends_on": [],
                }
                for id, action, query in STEPS
            ],
            "step_count": len(STEPS),
        },
    ),
    Rule(
        signature="Refine",
        reply={"think_next": "", "decision": "keep", "reason": "", "steps": [], "step_count": 0},
    ),
    Rule(signature="AnalyzeLeaf", reply=NOTHING),
    Rule(signature="Conclude", reply={"statements": [], "unknowns": [], "statement_count": 0}),
]


def bare(corpus: Corpus, lm: dspy.LM) -> float:
    """Seconds for the leaf calls alone, with the same spans, eight in flight."""
    workspace = Workspace(corpus)
    leaf = dspy.Predict(AnalyzeLeaf)
    inputs = [
        {
            "question": QUESTION,
            "kind": "list",
            "patterns": [],
            "spans": shown(corpus, workspace.partitioning.spans(each.id)),
            "term_statistics": [],
        }
        for each in workspace.partitioning.partitions
    ]

    async def work() -> None:
        gate = asyncio.Semaphore(8)

        async def call(each: dict) -> None:
            async with gate:
                await leaf.acall(**each)

        await asyncio.gather(*(call(each) for each in inputs))

    started = time.perf_counter()
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        asyncio.run(work())
    return time.perf_counter() - started


def whole(corpus: Corpus, lm: dspy.LM, journal: Journal) -> float:
    """Seconds for a run of the recursive program that reads every partition."""
    started = time.perf_counter()
    answer = Recursive(lm=lm, journal=journal)(question=QUESTION, corpus=corpus).answer
    assert len(answer.coverage.completed) == answer.coverage.partitions
    return time.perf_counter() - started


def main() -> None:
    """Build the corpus, measure both sides in turn, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lm = ScriptedEngine(rules=RULES).lm()
    with tempfile.TemporaryDirectory(prefix="spantree-run-") as folder, dspy.context(trace=None):
        log = Path(folder) / "requests.log"
        write_log(log, options.lines)
        corpus = open_corpus([log], store=Path(folder) / "store")
        leaves = len(corpus.partitions().partitions)
        with Journal.open(Path(folder) / "runs.db") as journal:
            pairs = [(bare(corpus, lm), whole(corpus, lm, journal)) for _ in range(options.rounds)]
    alone = statistics.median(each for each, _ in pairs)
    run = statistics.median(each for _, each in pairs)
    ratio = statistics.median(second / first for first, second in pairs)
    print(f"{leaves} leaves, medians of {options.rounds} rounds")
    print(f"bare dspy.Predict calls {alone:8.2f} s   {1000 * alone / leaves:7.2f} ms a leaf")
    print(f"whole run               {run:8.2f} s   {1000 * run / leaves:7.2f} ms a leaf")
    print(f"ratio                   {ratio:8.2f}")


if __name__ == "__main__":
    main()
