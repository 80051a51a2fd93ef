"""The evaluation behind the README's table: all programs on the set `mixed`, with embedded and simulated readers.

    python benchmarks/evaluation.py [--out DIR] [--set NAME] [--limit N] [--only PROGRAM ...] [--seed S] [--markdown]

Runs `spantree eval` once a reader; the same command goes on with what was interrupted, and prints the same bytes again
under the same seed. The simulated readers are the embedded one with a recall that decays with the length of the prompt
and in its middle: a stand-in, no measurement of any model. Cells: verified-correct with its 95 % interval over
documents, evidence recall / citation precision, calls a question.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

READERS = {
    "extractive": "extractive",
    "simulated, mild": "simulated:seed=1,recall=0.95,half_length=200000,middle=0.3",
    "simulated, strong": "simulated:seed=1,recall=0.85,half_length=60000,middle=0.7,malformed=0.02",
}
PROGRAMS = (
    "direct",
    "cot",
    "retrieve",
    "map_reduce",
    "plan_execute",
    "react",
    "rlm:tools",
    "rlm:repl",
    "recursive",
    "auto",
)


def evaluated(
    model: str, programs: Sequence[str], out: Path, given: argparse.Namespace
) -> dict[str, Any]:
    """The results of one reader, by program."""
    command = [sys.executable, "-m", "spantree", "eval", "--json", "--set", given.set,
               "--program", ",".join(programs), "--model", model, "--out", str(out),
               "--seed", str(given.seed), "--concurrency", str(given.concurrency)]  # fmt: skip
    if given.limit:
        command += ["--limit", str(given.limit)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    made = json.loads(ended.stdout)
    print(f"{model}: digest {made['digest']}", file=sys.stderr)
    return {each["program"]: each for each in made["programs"]}


def cells(result: dict[str, Any]) -> list[str]:
    """The three cells of one program with one reader."""
    estimates = result["estimates"]
    quality = estimates["verified_correct"]
    low, high = (_share(quality[end]) for end in ("low", "high"))
    recall, precision = (
        _share(estimates[name]["mean"]) for name in ("evidence_recall", "citation_precision")
    )
    asked = result["samples"] or 1
    return [
        f"{_share(quality['mean'])} ({low}-{high}), n {quality['questions']}",
        f"{recall} / {precision}",
        f"{result['calls'] / asked:.1f}",
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("logs") / "evaluation")
    parser.add_argument("--set", default="mixed")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--only", nargs="+", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    for reader, model in READERS.items():
        folder = given.out / reader.replace(", ", "-")
        results = evaluated(model, given.only, folder, given)
        print(f"\n{reader} ({model})\n")
        head = ["program", "verified-correct %", "recall / precision %", "calls"]
        rows = [[name, *cells(results[name])] for name in given.only]
        if given.markdown:
            print("\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * 4, *rows)))
        else:
            print("\n".join("{:<14}{:<24}{:<22}{:>6}".format(*row) for row in (head, *rows)))


if __name__ == "__main__":
    main()
