"""Gate: whether a program is not worse than a baseline by more than a margin (non-inferiority), for a CI.

With the 95 % interval of the paired gain: `pass` if all of it is at or above -margin, `fail` if all of it is below,
else `inconclusive`: the samples do not say, nor do those on fewer than FEWEST_CLUSTERS documents. What the program lost
by errors or silence cannot make it pass: were each such sample, be it one epoch of several, as bad as can be, it would
have to pass as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.compare import Difference, difference
from evals.contenders import Contender, clusters_of, is_answered
from evals.intervals import FEWEST_CLUSTERS, difference_interval
from evals.log import SampleRecord, stable
from evals.measures import Measure
from evals.numerals import plural
from evals.stats import Interval, paired

Verdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict on a program. `gain` is the interval of the difference so that more is better; `reasons` say why."""

    verdict: Verdict
    program: str
    baseline: str
    margin: float
    gain: Interval | None
    difference: Difference
    reasons: tuple[str, ...]


def gate(
    baseline: Contender, program: Contender, measure: Measure, margin: float, *, seed: int = 0
) -> Gate:
    """The verdict on a program against a baseline. `margin` is in the unit of the measure and not negative."""
    cluster_of = clusters_of([baseline, program])
    found = difference(baseline, program, measure, cluster_of, seed=seed)
    gain = _gain(found.interval, measure)
    verdict, reasons = _verdict(gain, margin), []
    if measure.unit == "share" and unchanged(baseline, program):
        verdict, reasons = "pass", ["every answer is the same as in the baseline"]
    elif found.clusters < FEWEST_CLUSTERS:
        verdict, reasons = "inconclusive", [_too_little(baseline, program, found)]
    elif gain is None and measure.unit != "share" and not found.gained + found.lost:
        verdict, reasons = "pass", [f"not one of {found.pairs} pairs differs"]
    elif verdict == "inconclusive":
        reasons = [f"the interval lies on both sides of {-margin:g}"]
    if verdict == "pass":
        verdict, told = _despite_lost(baseline, program, measure, margin, cluster_of, seed)
        reasons.extend(told)
    if found.power and verdict == "inconclusive":
        reasons.append(found.power)
    return Gate(verdict, program.label, baseline.label, margin, gain, found, tuple(reasons))


def unchanged(baseline: Contender, program: Contender) -> bool:
    """Whether both have an answer to each question, and all answers are the same but for clocks and ids."""
    first, second = ({r.key[1:]: _answer(r) for r in each.records} for each in (baseline, program))
    manifest = baseline.log.manifest
    whole = len(first) == len(manifest.questions) * manifest.epochs
    return whole and None not in first.values() and first == second


def _answer(record: SampleRecord) -> object:
    """What an answer says and cites; not which program gave it, nor what it used."""
    answer = stable(record)["answer"]
    return {**answer, "receipt": None, "program": None} if answer else None


def _gain(found: Interval | None, measure: Measure) -> Interval | None:
    if found is None or measure.higher:
        return found
    return Interval(-found.high, -found.low)


def _verdict(gain: Interval | None, margin: float) -> Verdict:
    if gain is None:
        return "inconclusive"
    if gain.low >= -margin:
        return "pass"
    return "fail" if gain.high < -margin else "inconclusive"


def _too_little(baseline: Contender, program: Contender, found: Difference) -> str:
    judges = [each.log.judge for each in (baseline, program)]
    if found.measure == "unsupported" and judges[0] != judges[1]:
        told = " and ".join(str(each or "nobody") for each in judges)
        return f"the statements were judged by {told}, whose verdicts are not of one kind"
    if not found.pairs:
        return "no question has a value in both"
    few = f"too few documents: {plural(found.pairs, 'pair')} in {plural(found.clusters, 'cluster')} of documents"
    without = " have no interval, and" if found.interval is None else ""
    return f"{few}{without or ','} a verdict needs {FEWEST_CLUSTERS}"


def _despite_lost(
    baseline: Contender,
    program: Contender,
    measure: Measure,
    margin: float,
    cluster_of: Mapping[str, str],
    seed: int,
) -> tuple[Verdict, list[str]]:
    """Whether a pass holds although the program has no value for samples of questions on which the baseline has one."""
    before, after = baseline.values(measure), program.values(measure)
    lost = _lost(baseline, program, measure)
    if not lost:
        return "pass", []
    errors = sum(each.errors for each in lost.values())
    samples = sum(each.samples for each in lost.values())
    what = (
        f"{plural(samples, 'sample')} of {plural(len(lost), 'question')} of the baseline without a value here"
        f" ({errors:,} by errors or missing)"
    )
    if measure.unit != "share":
        return "inconclusive", [f"{what}, and nothing bounds what it could be"]
    worst = 0.0 if measure.higher else 1.0
    imputed = {
        q: (each.sum + worst * each.weight) / (each.known + each.weight) for q, each in lost.items()
    }
    deltas = paired(before, {**after, **imputed}).differences
    low = _gain(difference_interval(deltas, cluster_of, bounded=True, seed=seed), measure)
    if low is None or low.low < -margin:
        return "inconclusive", [f"{what}; were they as bad as can be, it would not pass"]
    return "pass", [f"{what}; were they as bad as can be, it would pass as well"]


@dataclass(frozen=True, slots=True)
class _Lost:
    """A question of which `samples` have no value, `errors` of these by errors or since they were not evaluated.

    `known` others have one, and its `sum`. `weight` is how many count as lost: of silence, only what the baseline
    had not as well.
    """

    samples: int
    errors: int
    known: int
    sum: float
    weight: float


def _lost(baseline: Contender, program: Contender, measure: Measure) -> dict[str, _Lost]:
    """What the program lost, by question on which the baseline has a value."""
    found = {}
    epochs = program.log.manifest.epochs
    for question, records in baseline.by_question.items():
        silence = _silent(records, measure) / len(records)
        if all(measure.value(each) is None for each in records):
            continue
        own = program.by_question.get(question, ())
        known = [value for each in own if (value := measure.value(each)) is not None]
        silent = _silent(own, measure)
        errors = epochs - len(known) - silent
        weight = errors + max(0.0, silent - silence * epochs)
        if weight:
            found[question] = _Lost(silent + errors, errors, len(known), sum(known), weight)
    return found


def _silent(records: Sequence[SampleRecord], measure: Measure) -> int:
    """Samples that were answered and yet have no value."""
    return sum(measure.value(each) is None and is_answered(each) for each in records)
