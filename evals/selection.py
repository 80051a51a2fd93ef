"""Selection: which questions of a set are evaluated."""

import random
from collections import Counter

from data.questions import Question, QuestionSet
from runtime.errors import QuestionSetError


def selected(
    made: QuestionSet, *, split: str | None = None, limit: int | None = None, seed: int = 0
) -> tuple[Question, ...]:
    """The questions of a split, `limit` of them drawn by `seed`, in the order of the set.

    Drawn and not the first ones, since a set is often ordered by kind or document. Raises QuestionSetError if nothing
    is left, or an id occurs twice: records of two questions could not be told apart.
    """
    times = Counter(each.id for each in made.questions)
    twice = sorted(each for each, number in times.items() if number > 1)
    if twice:
        raise QuestionSetError(
            f"the set {made.name} has questions of the same id: {', '.join(twice[:5])}",
            hint="see what else is wrong: spantree sets lint",
        )
    chosen = [each for each in made.questions if split in (None, each.split)]
    if limit is not None and limit < len(chosen):
        drawn = random.Random(seed).sample(range(len(chosen)), max(0, limit))
        chosen = [chosen[at] for at in sorted(drawn)]
    if not chosen:
        of = f" of the split {split}" if split else ""
        raise QuestionSetError(
            f"the set {made.name} has no questions{of} to evaluate",
            hint="see what is in it: spantree sets show",
        )
    return tuple(chosen)
