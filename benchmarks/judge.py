"""How far a support judge agrees with people, on ExpertQA: claims with the passages that were cited for them.

    python -m benchmarks.judge [--model NAME] [--api-base URL] [--by words|likelihood] [--limit N]
        [--longest CHARACTERS] [--cache FILE]

People called the support of a claim complete, incomplete or partial: the last two are "unsupported" here, which means
that a part is not there. A claim is judged with the passages cited for it, and one that is completely supported once
more with the passages of another question, which do not support it. The data is read from ../shared/data.

A judge that tells likelihoods needs a threshold. It is fitted on the claims of one half of the questions (the highest
kappa over both kinds of pairs; the middle one of several), and the tables are of the other half. Intervals of 95 %: of
shares Wilson's, of kappa and AUC by drawing the questions again, 2,000 times.
"""

import argparse
import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.support import Pair, pairs
from evals.agreement import Agreement, agreement
from evals.asking import EVEN, WAYS, asked_by
from evals.judge import Judge
from evals.stats import wilson
from evals.verdict_cache import VerdictCache
from runtime.limits import Limits
from runtime.models.make import make_lm

PEOPLE = {"Complete": "supported", "Incomplete": "unsupported", "Partial": "unsupported"}
DRAWS = 2_000
BINS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)


class Judged(NamedTuple):
    """A claim that people and the judge judged. `other`: with the passages of another question."""

    question: str
    other: bool
    people: str
    verdict: str
    likelihood: float | None

    def by(self, threshold: float) -> "Judged":
        """The verdict by another threshold; as it is where no likelihood was told."""
        if self.likelihood is None:
            return self
        said = "supported" if self.likelihood >= threshold else "unsupported"
        return self._replace(verdict=said)


def main() -> None:
    """Print the tables of agreement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--by", choices=WAYS)
    parser.add_argument("--api-base")
    parser.add_argument("--limit", type=int, help="claims, chosen at random")
    parser.add_argument(
        "--longest", type=int, help="only claims with passages of so many characters"
    )
    parser.add_argument("--cache", type=Path)
    chosen = parser.parse_args()
    found = [
        each
        for each in pairs()
        if each.label in PEOPLE
        and (chosen.longest is None or sum(map(len, each.passages)) <= chosen.longest)
    ]
    random.Random(0).shuffle(found)
    cache = VerdictCache(chosen.cache)
    lm = make_lm(chosen.model, api_base=chosen.api_base)
    judge = Judge(lm, cache=cache, limits=Limits(in_flight=8), asking=asked_by(lm, chosen.by))
    said = asyncio.run(judged(judge, found[: chosen.limit]))
    cache.close()
    if judge.name.threshold is None:
        tables(said)
    else:
        calibrated(said)
    print(f"\n{lm.model}, judge {judge.version}: {judge.spent.calls} calls")


async def judged(judge: Judge, found: Sequence[Pair]) -> list[Judged]:
    """What people and the judge say of the claims with their own passages, and with those of other questions."""
    chance = random.Random(1)
    asked = [(each, False, PEOPLE[each.label], each.passages) for each in found]
    asked += [
        (each, True, "unsupported", chance.choice(others).passages)
        for each in found
        if each.label == "Complete"
        and (others := [other for other in found if other.question != each.question])
    ]
    said = await asyncio.gather(
        *(judge.judge(each.claim, passages) for each, _, _, passages in asked)
    )
    return [
        Judged(each.question, other, people, verdict.verdict, verdict.likelihood)
        for (each, other, people, _), verdict in zip(asked, said, strict=True)
    ]


def calibrated(said: Sequence[Judged]) -> None:
    """Fit a threshold on half of the questions, and print the tables of the others by it."""
    questions = sorted({each.question for each in said})
    random.Random(2).shuffle(questions)
    half = set(questions[: len(questions) // 2])
    fitting = [each for each in said if each.question in half]
    threshold = fitted(fitting)
    held_out = [each.by(threshold) for each in said if each.question not in half]
    print(f"threshold {threshold:.2f}, fitted on {len(fitting)} pairs of {len(half)} questions")
    tables(held_out)
    print("\nlikelihood of support, all pairs: share that people call supported")
    for low, high in pairwise(BINS):
        within = [
            each
            for each in said
            if each.likelihood is not None
            and (low <= each.likelihood < high or each.likelihood == high == BINS[-1])
        ]
        supported = sum(each.people == "supported" for each in within)
        print(f"  {low:.1f} to {high:.1f}: {supported:4d} of {len(within):4d}")


def fitted(said: Sequence[Judged]) -> float:
    """The threshold, in hundredths, with the highest kappa; the middle one of several."""
    kappas = {at: kappa([each.by(at / 100) for each in said]) for at in range(1, 100)}
    known = {at: each for at, each in kappas.items() if not math.isnan(each)}
    best = [at for at, each in known.items() if each == max(known.values())]
    return best[len(best) // 2] / 100 if best else EVEN


def tables(said: Sequence[Judged]) -> None:
    """Print both tables."""
    own = [each for each in said if not each.other]
    told("with the passages cited for them", own)
    told(
        "completely supported ones, and the same with another's passages",
        [each for each in said if each.other or each.people == "supported"],
    )


def kappa(said: Sequence[Judged]) -> float:
    """Cohen's kappa; NaN where it is undefined."""
    found = agreed(said).kappa
    return math.nan if found is None else found


def auc(said: Sequence[Judged]) -> float:
    """The probability that a supported claim has the higher likelihood of one supported and one that is not."""
    yes, no = (
        [each.likelihood for each in said if each.people == people and each.likelihood is not None]
        for people in ("supported", "unsupported")
    )
    higher = sum((one > other) + (one == other) / 2 for one in yes for other in no)
    return higher / (len(yes) * len(no)) if yes and no else math.nan


def drawn(said: Sequence[Judged], figure: Callable[[Sequence[Judged]], float]) -> str:
    """A figure with its interval, over questions that are drawn again."""
    by_question = defaultdict(list)
    for each in said:
        by_question[each.question].append(each)
    groups, chance = list(by_question.values()), random.Random(3)
    found = sorted(
        value
        for _ in range(DRAWS)
        if not math.isnan(
            value := figure(
                [one for group in chance.choices(groups, k=len(groups)) for one in group]
            )
        )
    )
    if not found:
        return "undefined"
    low, high = found[round(0.025 * (len(found) - 1))], found[round(0.975 * (len(found) - 1))]
    return f"{figure(said):.2f} [{low:.2f}, {high:.2f}]"


def agreed(said: Sequence[Judged]) -> Agreement:
    """The agreement on some claims."""
    return agreement((each.people, each.verdict) for each in said)


def told(what: str, said: Sequence[Judged]) -> None:
    """Print one table."""
    found = agreed(said)
    print(f"\nclaims {what}: n = {found.judged}, {found.unjudged} unjudged")
    print(f"  {'kappa':28s} {drawn(said, kappa)}")
    if any(each.likelihood is not None for each in said):
        print(f"  {'AUC':28s} {drawn(said, auc)}")
    for name, ratio in (
        ("accuracy", found.accuracy),
        ('precision of "unsupported"', found.precision),
        ('recall of "unsupported"', found.recall),
    ):
        interval = wilson(ratio.num, int(ratio.den))
        value = "undefined"
        if interval is not None and ratio.value is not None:
            value = f"{ratio.value:.2f} [{interval.low:.2f}, {interval.high:.2f}] of {ratio.den:g}"
        print(f"  {name:28s} {value}")
    for (people, verdict), count in found.confusion.items():
        print(f"    people {people:12s} judge {verdict:12s} {count:5d}")


if __name__ == "__main__":
    main()
