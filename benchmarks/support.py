"""How well the support check tells claims from quotes that have nothing to do with them, on ExpertQA.

Claims with human labels and the passages that were cited for them; the data is read from ../shared/data. A quote is the
one or two sentences of the passage that share most with the claim, the whole passage, or a random sentence of the
same passage, of another claim's or of another question's. Usage: python -m benchmarks.support
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from runtime import support

DATA = Path(__file__).parents[1].parent / "shared" / "data" / "expertqa" / "rand_test.jsonl"
SHARES = (0.1, 0.15, 0.2, 0.25, 1 / 3)
SHORTEST = 80
"""Code points of a passage; what is shorter is an address without a text."""


class Pair(NamedTuple):
    """A claim, the passages cited for it, and what people said of their support."""

    question: str
    claim: str
    passages: tuple[str, ...]
    label: str


def pairs() -> Iterator[Pair]:
    """The claims of the data that have passages."""
    for line in DATA.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for answer in record["answers"].values():
            for each in answer["claims"]:
                passages = tuple(
                    text for one in each["evidence"] if len(text := passage(one)) > SHORTEST
                )
                claim = re.sub(r"\s*\[\^?\d+\^?\](\([^)]*\))?", "", each["claim_string"])
                if passages:
                    yield Pair(record["question"], claim, passages, each["support"])


def passage(evidence: str) -> str:
    """The text behind the number and the address of a reference."""
    text = re.sub(r"^\[\d+\]\s*", "", evidence)
    head, _, body = text.partition("\n\n")
    return body if head.startswith("http") else text


def sentences(passages: Sequence[str]) -> list[str]:
    """The sentences of passages that are long enough to quote."""
    found = [each for text in passages for each in re.split(r"(?<=[.!?])\s+", text)]
    return [each for each in found if len(each.split()) >= 5] or list(passages)


def best(pair: Pair, most: int) -> list[str]:
    """The sentences that share most with the claim."""
    return sorted(sentences(pair.passages), key=lambda each: -support.share(pair.claim, [each]))[
        :most
    ]


def quoted(found: Sequence[Pair]) -> dict[str, list[tuple[str, list[str]]]]:
    """Claims with quotes, by what they are."""
    chance = random.Random(0)
    sets: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for pair in found:
        ways = {"best": best(pair, 1), "best two": best(pair, 2), "whole": list(pair.passages)}
        for way, quotes in ways.items():
            sets[f"{pair.label}, {way}"].append((pair.claim, quotes))
        if pair.label != "Complete":
            continue
        strange = [each for each in found if each.question != pair.question]
        near = [each for each in found if each.question == pair.question]
        near = [each for each in near if each.passages != pair.passages] or strange
        for way, others in (
            ("same passage", [pair]),
            ("other claim", near),
            ("other question", strange),
        ):
            quotes = [chance.choice(sentences(chance.choice(others).passages))]
            sets[f"random, {way}"].append((pair.claim, quotes))
    return sets


def main() -> None:
    """Print the share of claims that are called inferred, at several thresholds."""
    sets = quoted(list(pairs()))
    print(f"{'claims and quotes':28s} {'n':>5s}", *(f"{share:6.2f}" for share in SHARES))
    for name in sorted(sets):
        shares = [support.share(claim, quotes) for claim, quotes in sets[name]]
        called = [sum(each < share for each in shares) / len(shares) for share in SHARES]
        print(f"{name:28s} {len(shares):5d}", *(f"{each:6.3f}" for each in called))


if __name__ == "__main__":
    main()
