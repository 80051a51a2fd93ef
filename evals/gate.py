"""Gate: whether a program is not worse than a baseline by more than a margin (non-inferiority), for a CI.

With the 95 % interval of the paired gain: `pass` if all of it is at or above -margin, `fail` if all of it is below,
else `inconclusive`: the samples do not say. What the program lost by errors or silence cannot make it pass: were each
such sample as bad as can be, it would have to pass as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evals.compare import Difference, difference, interval
from evals.contenders import Contender, clusters_of
from evals.log import SampleRecord, stable
from evals.measures import Measure
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
    verdict, reasons = _verdict(gain, margin, found), []
    if measure.unit == "share" and unchanged(baseline, program):
        verdict, reasons = "pass", ["every answer is the same as in the baseline"]
    elif gain is None and measure.unit != "share" and found.pairs and not found.gained + found.lost:
        verdict, reasons = "pass", [f"not one of {found.pairs} pairs differs"]
    elif gain is None:
        reasons = [_too_little(found)]
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


def _verdict(gain: Interval | None, margin: float, found: Difference) -> Verdict:
    if gain is None or not found.pairs:
        return "inconclusive"
    if gain.low >= -margin:
        return "pass"
    return "fail" if gain.high < -margin else "inconclusive"


def _too_little(found: Difference) -> str:
    if not found.pairs:
        return "no question has a value in both"
    return f"{found.pairs} pairs in {found.clusters} clusters of documents: there is no interval"


def _despite_lost(
    baseline: Contender,
    program: Contender,
    measure: Measure,
    margin: float,
    cluster_of: Mapping[str, str],
    seed: int,
) -> tuple[Verdict, list[str]]:
    """Whether a pass holds although the program has no value where the baseline has one."""
    before, after = baseline.values(measure), program.values(measure)
    lost = [q for q, value in before.items() if value is not None and after.get(q) is None]
    if not lost:
        return "pass", []
    errors = sum(each in program.failed for each in lost)
    what = (
        f"{len(lost)} questions of the baseline have no value here ({errors} by errors or missing)"
    )
    if measure.unit != "share":
        return "inconclusive", [f"{what}, and nothing bounds what it could be"]
    worst = 0.0 if measure.higher else 1.0
    deltas = paired(before, after).differences
    imputed = {q: worst - value for q in lost if (value := before[q]) is not None}
    low = _gain(interval({**deltas, **imputed}, cluster_of, bounded=True, seed=seed), measure)
    if low is None or low.low < -margin:
        return "inconclusive", [f"{what}; were they as bad as can be, it would not pass"]
    return "pass", [f"{what}; were they as bad as can be, it would pass as well"]
