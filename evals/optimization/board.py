"""The board: what every candidate scored so far, kept up as rollouts come in."""

import threading
from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from evals.objective import Objective, grade
from evals.optimization.progress import Spent, spent
from evals.optimization.rollouts import Rollout, RolloutKey
from runtime.ledger import Usage

TEACHER = "teacher"
"""What the variation of a teacher's rollouts begins with: they are none of the candidate's."""


class Board:
    """Scores by candidate and question, on validation questions and on others. Safe from several threads."""

    def __init__(self, objective: Objective, validation: Iterable[str]) -> None:
        self._objective = objective
        self._validation = frozenset(validation)
        self._seen: set[RolloutKey] = set()
        self._scores: dict[str, dict[str, float]] = defaultdict(dict)
        self._train: dict[str, list[float]] = defaultdict(list)
        self._spent = Spent()
        self._lock = threading.Lock()

    def add(self, rollout: Rollout) -> None:
        """Count a rollout in, once."""
        with self._lock:
            if rollout.key in self._seen:
                return
            self._seen.add(rollout.key)
            self._spent += spent([rollout])
            score = grade(rollout.record, self._objective).score
            kept = self._scores[rollout.candidate]
            if rollout.question_id not in self._validation:
                if not rollout.variation.startswith(TEACHER):
                    self._train[rollout.candidate].append(score)
            elif not rollout.variation:
                kept[rollout.question_id] = score

    def also_spent(self, rollouts: Iterable[Rollout]) -> None:
        """Count in what some rollouts spent that were made again, and nothing else of them."""
        self._spent += spent(rollouts)

    @property
    def rollouts(self) -> int:
        """How many were counted in."""
        return len(self._seen)

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return len(self._scores)

    @property
    def seed_score(self) -> float | None:
        """The mean of the program as it was given, once it was run on all validation questions."""
        first = next(iter(self._scores.values()), None)
        return self._mean(first) if first is not None else None

    @property
    def best(self) -> float | None:
        """The highest mean over all validation questions."""
        means = [self._mean(each) for each in list(self._scores.values())]
        return max((each for each in means if each is not None), default=None)

    def spent(self, proposals: Iterable[Usage]) -> Spent:
        """What the rollouts and some proposals used."""
        return self._spent + spent(proposals=proposals)

    def promise(self, candidate: str) -> float:
        """What a candidate scored on whatever it was run on: on validation questions, else on others."""
        found = [*self._scores[candidate].values()] or self._train[candidate]
        return fmean(found) if found else 0.0

    def _mean(self, scores: dict[str, float]) -> float | None:
        if len(scores) < len(self._validation):
            return None
        return fmean(scores.values())
