"""How far a support judge agrees with people, on ExpertQA: claims with the passages that were cited for them.

    python -m benchmarks.judge [--model NAME] [--api-base URL] [--limit N] [--longest CHARACTERS] [--cache FILE]

People called the support of a claim complete, incomplete or partial: the last two are "unsupported" here, which means
that a part is not there. A claim is judged with the passages cited for it, and one that is completely supported once
more with the passages of another question, which do not support it. The data is read from ../shared/data.

The embedded reader (562 complete, 231 not): kappa 0.05 on the passages cited, 0.60 with those of other questions. It
knows quotes about something else from others; whether quotes about the same thing are enough it cannot tell.
"""

import argparse
import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

from benchmarks.support import Pair, pairs
from evals.agreement import Agreement, agreement
from evals.judge import Judge
from evals.stats import wilson
from evals.verdict_cache import VerdictCache
from runtime.limits import Limits
from runtime.models.make import make_lm

PEOPLE = {"Complete": "supported", "Incomplete": "unsupported", "Partial": "unsupported"}


def main() -> None:
    """Print the tables of agreement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="extractive")
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
    judge = Judge(lm, cache=cache, limits=Limits(in_flight=8))
    asyncio.run(tables(judge, found[: chosen.limit]))
    cache.close()
    print(f"\n{chosen.model}, judge {judge.version}: {judge.spent.calls} calls")


async def tables(judge: Judge, found: Sequence[Pair]) -> None:
    """Judge the claims with their own passages, and with those of other questions."""
    own = await judged(judge, [(PEOPLE[each.label], each.claim, each.passages) for each in found])
    chance = random.Random(1)
    strange = [
        ("unsupported", each.claim, chance.choice(others).passages)
        for each in found
        if each.label == "Complete"
        and (others := [other for other in found if other.question != each.question])
    ]
    other = await judged(judge, strange)
    told("with the passages cited for them", agreement(own))
    complete = [pair for pair in own if pair[0] == "supported"]
    told(
        "completely supported ones, and the same with another's passages",
        agreement(complete + other),
    )


async def judged(
    judge: Judge, claims: Sequence[tuple[str, str, Sequence[str]]]
) -> list[tuple[str, str]]:
    """What people and the judge say."""
    said = await asyncio.gather(*(judge.judge(claim, quotes) for _, claim, quotes in claims))
    return [(people, each.verdict) for (people, _, _), each in zip(claims, said, strict=True)]


def told(what: str, found: Agreement) -> None:
    """Print one table."""
    kappa = "undefined" if found.kappa is None else f"{found.kappa:.2f}"
    print(f"\nclaims {what}: n = {found.judged}, {found.unjudged} unjudged, kappa {kappa}")
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
