"""Gold: what an evaluation measures with is checked before anything is measured."""

import shlex
from collections.abc import Callable, Sequence

from data.corpus import Corpus
from data.questions import Question, QuestionSet
from data.sets.lint import lint_selected
from runtime.errors import QuestionSetError

_SHOWN = 3


def check_gold(
    made: QuestionSet,
    questions: Sequence[Question],
    corpora: Callable[[str], Corpus],
    *,
    place: str = "",
) -> None:
    """Raise QuestionSetError where the gold of the selected questions does not hold. `place` is where the set lies."""
    faults = lint_selected(made, questions, corpora)
    if not faults:
        return
    told = [
        f"{each.question}: {each.code}: {each.message}"
        if each.question
        else f"{each.code}: {each.message}"
        for each in faults[:_SHOWN]
    ]
    more = f"; and {len(faults) - _SHOWN:,} more" if len(faults) > _SHOWN else ""
    number = "1 fault" if len(faults) == 1 else f"{len(faults):,} faults"
    raise QuestionSetError(
        f"the gold of the set {made.name} has {number}: {'; '.join(told)}{more}",
        hint=f"see all of them and mend the set: {shlex.join(['spantree', 'sets', 'lint', place or made.name])}",
    )
