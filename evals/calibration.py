"""Calibration: how far the verdicts of a support judge can be trusted, where that was measured."""

from dataclasses import dataclass

from evals.log import JudgeName


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cohen's kappa with people on the claims of ExpertQA.

    `same`: with the passages that were cited for the claim; `other`: completely supported claims, half of them with the
    passages of another question.
    """

    same: float
    other: float


MEASURED = {("spantree/extractive", "ab1d4d8e69dec7c8"): Calibration(0.05, 0.60)}
"""By model and version, from `benchmarks/judge.py`. A judge with another prompt or settings has to be measured anew."""


def caveat(judge: JudgeName) -> str:
    """What has to be said beside a rate that rests on the verdicts of a judge."""
    told = f"judged by {judge.model}, version {judge.version}: a model's opinion, not the truth"
    known = MEASURED.get((judge.model, judge.version))
    if known is None:
        return f"{told}; how far it agrees with people was not measured (benchmarks/judge.py)"
    return (
        f"{told}; its agreement with people is weak: kappa {known.same:.2f} on the passages that were cited for a"
        f" claim, {known.other:.2f} where those of other questions are to be told from them"
    )
