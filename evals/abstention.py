"""Abstention: who answered where there is an answer, and who where there is none. By typed states, never by wording."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from evals.metrics import Ratio


@dataclass(frozen=True, slots=True)
class Abstention:
    """The table of abstention. An error and a partial answer are neither an answer nor an abstention.

    `recall`: of the questions without an answer, those left unanswered. `precision`: of the abstentions, those that
    were right. `false_abstention`: of the questions with an answer, those left unanswered. `answered_unanswerable`: of
    the questions without one, those answered. `answer_precision` and `answer_recall`: the same of answering.
    `counts` by whether there is an answer ("answerable", "unanswerable") and state.
    """

    recall: Ratio
    precision: Ratio
    false_abstention: Ratio
    answered_unanswerable: Ratio
    answer_recall: Ratio
    answer_precision: Ratio
    counts: dict[str, dict[str, int]]

    @property
    def macro_f1(self) -> float | None:
        """The mean of the F1 of answering and of abstaining (Trust-Score); None where either is undefined."""
        answering = f1(self.answer_precision, self.answer_recall)
        abstaining = f1(self.precision, self.recall)
        return None if answering is None or abstaining is None else (answering + abstaining) / 2


def abstention(rows: Iterable[tuple[bool, str]]) -> Abstention:
    """The table of (answerable, state) rows; the states are those of `SampleScore.state`."""
    counts = Counter(rows)
    sizes = Counter[bool]()
    for (answerable, _), number in counts.items():
        sizes[answerable] += number
    right, wrong = counts[False, "abstain"], counts[True, "abstain"]
    answered, misled = counts[True, "answer"], counts[False, "answer"]
    return Abstention(
        recall=Ratio(right, sizes[False]),
        precision=Ratio(right, right + wrong),
        false_abstention=Ratio(wrong, sizes[True]),
        answered_unanswerable=Ratio(misled, sizes[False]),
        answer_recall=Ratio(answered, sizes[True]),
        answer_precision=Ratio(answered, answered + misled),
        counts={
            name: {state: n for (a, state), n in sorted(counts.items()) if a == answerable}
            for name, answerable in (("answerable", True), ("unanswerable", False))
        },
    )


def f1(precision: Ratio, recall: Ratio) -> float | None:
    """The harmonic mean; None where either is undefined, 0 where both are 0."""
    p, r = precision.value, recall.value
    if p is None or r is None:
        return None
    return 2 * p * r / (p + r) if p + r else 0.0
