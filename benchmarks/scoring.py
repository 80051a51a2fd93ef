"""How long it takes to score 10,000 logged samples, and how much memory: to be under 60 s and under 1 GB.

    python -m benchmarks.scoring [--samples N] [--set NAME]

The questions of a set are answered once by `auto` with the embedded reader, and the answers repeated as lines of a log.
Then a process of its own reads the log, scores every line against the corpora, and summarizes: means, rates, intervals
by documents for every metric, and paired tests. Told are the seconds of each part and the most memory.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

from data.sets.shipped import find_set
from data.sets.storage import load_set, open_set_corpus
from evals.clusters import clusters
from evals.metrics import Ratio
from evals.score import SampleScore, score
from evals.stats import cluster_bootstrap_ratio, mcnemar_exact, paired, paired_signflip
from evals.summary import METRICS, summary
from programs.route import Auto
from runtime.models.make import make_lm


def main() -> None:
    """Write the log, and measure in a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--set", default="samples")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, log = Path(folder) / "store", Path(folder) / "log.jsonl"
        place = find_set(chosen.set, store=store)
        answered(place, store, log, chosen.samples)
        worker = multiprocessing.get_context("spawn").Process(
            target=measured, args=(place, store, log)
        )
        worker.start()
        worker.join()
        sys.exit(worker.exitcode)


def answered(place: Path, store: Path, log: Path, samples: int) -> None:
    """A log of many samples: the answers to the questions of a set, over and over."""
    made = load_set(place)
    corpora = {
        each.name: open_set_corpus(made, place, each.name, store=store) for each in made.corpora
    }
    program = Auto(lm=make_lm("extractive"))
    answers = [
        (each.id, program(question=each.question, corpus=corpora[each.corpus]).answer)
        for each in made.questions
    ]
    with log.open("w", encoding="utf-8") as file:
        for number in range(samples):
            question, answer = answers[number % len(answers)]
            row = {"question": question, "answer": answer.model_dump(mode="json")}
            file.write(json.dumps(row) + "\n")
    print(f"{samples:,} samples of {len(answers)} questions, {log.stat().st_size / 1e6:.0f} MB")


def measured(place: Path, store: Path, log: Path) -> None:
    """Score the log, and tell the seconds and the memory."""
    before = time.perf_counter()
    made = load_set(place)
    questions = {each.id: each for each in made.questions}
    corpora = {
        each.name: open_set_corpus(made, place, each.name, store=store) for each in made.corpora
    }
    opened = time.perf_counter()
    scores: list[SampleScore] = []
    with log.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            question = questions[row["question"]]
            found = score(question, row["answer"], corpora[question.corpus])
            scores.append(found.model_copy(update={"question_id": f"{question.id}#{number}"}))
    scored = time.perf_counter()
    table = summary(scores)
    summarized = time.perf_counter()
    statistics(scores)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    headline = table.means["verified_correct"]
    print(
        f"verified correct {headline.mean}, n = {headline.scored}, {headline.undefined} undefined"
    )
    print(f"open {opened - before:.1f} s, score {scored - opened:.1f} s", end=", ")
    print(f"summarize {summarized - scored:.1f} s, statistics {done - summarized:.1f} s")
    busy = time.process_time()
    print(f"in all {done - before:.1f} s ({busy:.1f} s of one core), {peak:.0f} MB at most")


def statistics(scores: list[SampleScore]) -> None:
    """An interval of every metric, and two paired tests of the log with its other half."""
    cluster_of = clusters(scores)
    for name in METRICS:
        grouped: dict[str, list[Ratio]] = {}
        for each in scores:
            value = getattr(each, name).value
            if value is not None:
                grouped.setdefault(cluster_of[each.question_id], []).append(Ratio(value, 1))
        cluster_bootstrap_ratio(grouped)
    values = {each.question_id: each.evidence_recall.value for each in scores}
    turned = dict(zip(values, reversed(values.values()), strict=True))
    differences = paired(values, turned).differences
    paired_signflip(differences.values())
    mcnemar_exact(*(sum(each == side for each in differences.values()) for side in (1, -1)))


if __name__ == "__main__":
    main()
