"""Calibration: how far the verdicts of a support judge can be trusted, where that was measured."""

from collections.abc import Mapping
from dataclasses import dataclass

from evals.log import JudgeName

WEAK = 0.4
"""Cohen's kappa below which agreement is not even moderate (Landis and Koch, 1977)."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cohen's kappa with people on `claims` of ExpertQA.

    `same`: with the passages that were cited for the claim; `other`: completely supported claims, half of them with the
    passages of another question. `threshold`: the likelihood of support for which it holds; None for verdicts in words.
    """

    same: float
    other: float
    claims: int
    threshold: float | None = None


MEASURED: Mapping[tuple[str, str], Calibration] = {
    ("spantree/extractive", "ab1d4d8e69dec7c8"): Calibration(0.05, 0.60, 793),
    ("local/qwen2.5-coder-1.5b", "ead5c10731945384"): Calibration(0.06, 0.00, 40),
    ("local/qwen2.5-coder-1.5b", "26b6f5cf7ae9bf6c"): Calibration(0.31, 0.79, 118, 0.48),
}
"""By model and version, from `benchmarks/judge.py`. A judge with another prompt or settings has to be measured anew."""

THRESHOLDS: Mapping[str, float] = {
    model: known.threshold for (model, _), known in MEASURED.items() if known.threshold is not None
}
"""By model, the likelihood of support that agrees best with people; fitted on other claims than those of `MEASURED`."""


def caveat(judge: JudgeName) -> str:
    """What has to be said beside a rate that rests on the verdicts of a judge."""
    told = f"judged by {judge}: a model's opinion, not the truth"
    known = MEASURED.get((judge.model, judge.version))
    if known is None or known.threshold != judge.threshold:
        return f"{told}; how far it agrees with people was not measured (benchmarks/judge.py)"
    weak = "weak: " if known.same < WEAK else ""
    return (
        f"{told}; its agreement with people is {weak}kappa {known.same:.2f} on the passages that were cited for a"
        f" claim, {known.other:.2f} where those of other questions are to be told from them"
        f" ({known.claims:,} claims of ExpertQA)"
    )
