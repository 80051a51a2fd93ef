"""The summary of many scores: means with what they leave out, rates over all claims, the table of abstention, costs.

What is undefined in a sample is left out of its mean and counted. Since a program could hide behind that, `of_all`
has the same successes over all samples that gold can grade: an error or an answer that cannot be read is none there.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evals.abstention import Abstention, abstention
from evals.metrics import Ratio
from evals.score import SampleScore
from evals.stats import quantile_nearest

Metric = Literal[
    "verified_correct",
    "correct",
    "set_f1",
    "evidence_recall",
    "evidence_hit",
    "citation_precision",
    "citation_validity",
    "quote_validity",
    "target_coverage",
    "partition_coverage",
    "characters_read",
    "characters_shown",
    "source_coverage",
    "unsupported",
]
METRICS: tuple[Metric, ...] = Metric.__args__
"""The metrics that every sample has, the headline first. Lower is better of `unsupported`; coverages only describe."""
MICRO: tuple[Metric, ...] = ("citation_validity", "quote_validity", "unsupported")
"""Metrics that are also given over all citations or claims of all samples: the sum of parts, not a mean of ratios."""


class Table(BaseModel):
    """Base of what a summary holds: frozen, JSON without NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Mean(Table):
    """The mean over questions, None without any; epochs of one question are averaged first.

    `scored` questions have a value in at least one epoch, `undefined` have none. Of `repeated` questions there are
    values of several epochs, and of `unstable` ones these differ.
    """

    mean: float | None
    scored: int
    undefined: int
    repeated: int = 0
    unstable: int = 0


class Costs(Table):
    """What the samples used. `cost_usd` is the sum of the known costs; `cost_unknown` samples have none.

    Seconds (nearest rank) are of `timed` samples; `cached` ones, which had a call answered from a cache, are left out.
    """

    calls: int
    cached_calls: int
    failed_calls: int
    retries: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    cost_unknown: int
    timed: int
    cached: int
    seconds_median: float | None
    seconds_p95: float | None


class Summary(Table):
    """Many scores as a table. `samples` counts scores, `questions` their distinct questions.

    `errors` are samples without an answer: they are in `of_all` and nowhere else.
    """

    samples: int
    errors: int
    questions: int
    means: dict[Metric, Mean]
    micro: dict[Metric, Ratio]
    of_all: dict[Metric, Ratio]
    unjudged: int
    states: dict[str, int]
    correctness: dict[str, int]
    abstention: Abstention
    answered_without_citation: Ratio
    empty_answers: Ratio
    degraded: Ratio
    costs: Costs
    by_kind: dict[str, "Summary"]


def summary(
    scores: Iterable[SampleScore], *, epochs: int = 1, errors: Iterable[str | None] = ()
) -> Summary:
    """The summary of scores, whatever their order. Raises ValueError where a question has more scores than epochs.

    `errors` are the kinds of the samples without an answer that gold could grade, None for one that is not known: it
    is in the table of all questions and in none of a kind.
    """
    rows = sorted(scores, key=lambda each: each.question_id)
    _check_repeats(rows, epochs)
    kinds: dict[str, list[SampleScore]] = defaultdict(list)
    for each in rows:
        kinds[each.kind].append(each)
    crashed = Counter(errors)
    named = sorted({*kinds, *filter(None, crashed)})
    by_kind = {kind: _summary(kinds[kind], {}, crashed[kind]) for kind in named}
    return _summary(rows, by_kind, crashed.total())


def _check_repeats(rows: Sequence[SampleScore], epochs: int) -> None:
    for question, count in Counter(each.question_id for each in rows).items():
        if count > epochs:
            raise ValueError(f"{question} has {count} scores in {epochs} epochs: a duplicate id")


def _summary(rows: Sequence[SampleScore], by_kind: Mapping[str, Summary], errors: int) -> Summary:
    states = Counter(each.state for each in rows)
    given = states["answer"] + states["partial"]
    graded = [each for each in rows if each.correctness != "ungraded"]
    return Summary(
        samples=len(rows),
        errors=errors,
        questions=len({each.question_id for each in rows}),
        means={
            name: mean((each.question_id, getattr(each, name)) for each in rows) for name in METRICS
        },
        micro={name: total(getattr(each, name) for each in rows) for name in MICRO},
        of_all={
            name: Ratio(
                sum(getattr(each, name).value or 0 for each in graded), len(graded) + errors
            )
            for name in ("verified_correct", "correct")
        },
        unjudged=sum(each.unjudged for each in rows),
        states=dict(sorted(states.items())),
        correctness=dict(sorted(Counter(each.correctness for each in rows).items())),
        abstention=abstention((each.answerable, each.state) for each in rows),
        answered_without_citation=Ratio(
            sum(each.answered_without_citation for each in rows), given
        ),
        empty_answers=Ratio(sum(each.empty_answer for each in rows), given),
        degraded=Ratio(sum(each.degraded for each in rows), len(rows)),
        costs=_costs(rows),
        by_kind=dict(by_kind),
    )


def mean(values: Iterable[tuple[str, Ratio]]) -> Mean:
    """The macro mean of (question, ratio) pairs."""
    found: dict[str, list[float | None]] = defaultdict(list)
    for question, ratio in values:
        found[question].append(ratio.value)
    known = [[each for each in epochs if each is not None] for epochs in found.values()]
    scored = [math.fsum(each) / len(each) for each in known if each]
    return Mean(
        mean=math.fsum(scored) / len(scored) if scored else None,
        scored=len(scored),
        undefined=len(known) - len(scored),
        repeated=sum(len(each) > 1 for each in known),
        unstable=sum(len(set(each)) > 1 for each in known),
    )


def total(ratios: Iterable[Ratio]) -> Ratio:
    """The micro rate: the sum of numerators over the sum of denominators."""
    found = list(ratios)
    return Ratio(math.fsum(each.num for each in found), math.fsum(each.den for each in found))


def _costs(rows: Sequence[SampleScore]) -> Costs:
    known = [each.cost_usd for each in rows if each.cost_usd is not None]
    seconds = [each.seconds for each in rows if not each.cached_calls]
    return Costs(
        calls=sum(each.calls for each in rows),
        cached_calls=sum(each.cached_calls for each in rows),
        failed_calls=sum(each.failed_calls for each in rows),
        retries=sum(each.retries for each in rows),
        input_tokens=sum(each.input_tokens for each in rows),
        output_tokens=sum(each.output_tokens for each in rows),
        cost_usd=math.fsum(known),
        cost_unknown=len(rows) - len(known),
        timed=len(seconds),
        cached=len(rows) - len(seconds),
        seconds_median=quantile_nearest(seconds, 0.5),
        seconds_p95=quantile_nearest(seconds, 0.95),
    )
