"""The splits of an optimization: train, validation and test questions that share no document."""

from collections.abc import Sequence

from data.corpus import Corpus
from data.questions import Question, QuestionSet, Split
from data.sets.splits import SPLITS, assign_splits, leaks
from evals.optimization.manifest import Splits
from evals.optimization.plan import Plan
from evals.run import Corpora
from evals.selection import selected
from runtime.errors import QuestionSetError


def split(made: QuestionSet, corpora: Corpora, plan: Plan) -> tuple[QuestionSet, Splits]:
    """The set with its questions in splits, and the ids of those that are used.

    The set's own splits are taken where it has all three; else they are dealt out by the seed, in about the shares of
    the plan. Raises QuestionSetError where a split is empty, a document is in two of them, or the set has two
    of the three: its test questions would be dealt out as train questions.
    """
    opened = {each.name: corpora(each.name) for each in made.corpora}
    own = {each.split for each in made.questions}
    if len(own) == 2:
        (lacking,) = set(SPLITS) - own
        raise QuestionSetError(
            f"the set {made.name} has splits of its own, and no {lacking} questions",
            hint="build it with all three, or with none to have them dealt out: spantree sets build --help",
        )
    if own != set(SPLITS):
        made = _dealt(made, opened, plan)
    limits = (plan.train_limit, plan.validation_limit, plan.test_limit)
    chosen: dict[Split, Sequence[Question]] = {
        name: _drawn(made, name, limit, plan.seed)
        for name, limit in zip(SPLITS, limits, strict=True)
    }
    _check(made, chosen, opened)
    return made, Splits(
        **{name: tuple(each.id for each in found) for name, found in chosen.items()}
    )


def shared_corpora(made: QuestionSet, splits: Splits) -> tuple[str, ...]:
    """The corpora that questions of several splits are asked of: a program reads the documents of all of them there."""
    corpora = {each.id: each.corpus for each in made.questions}
    used = [{corpora[each] for each in ids} for ids in splits.model_dump().values()]
    return tuple(
        each.name for each in made.corpora if sum(each.name in names for names in used) > 1
    )


def _dealt(made: QuestionSet, opened: dict[str, Corpus], plan: Plan) -> QuestionSet:
    """The set with its questions dealt out: whole corpora where there are enough of them, else documents."""
    shares = dict(zip(SPLITS, plan.shares, strict=True))
    found = assign_splits(made, opened, shares, seed=plan.seed, by_corpus=True)
    if {each.split for each in found.questions} == set(SPLITS):
        return found
    return assign_splits(made, opened, shares, seed=plan.seed)


def _drawn(made: QuestionSet, name: Split, limit: int | None, seed: int) -> Sequence[Question]:
    try:
        return selected(made, split=name, limit=limit, seed=seed)
    except QuestionSetError as error:
        documents = len({each for one in made.questions for each in one.documents})
        raise QuestionSetError(
            f"the set {made.name} has too few documents ({documents}) for a {name} split",
            hint="take a larger set, or one with splits of its own: spantree sets build --help",
        ) from error


def _check(
    made: QuestionSet, chosen: dict[Split, Sequence[Question]], opened: dict[str, Corpus]
) -> None:
    found = leaks((each for name in SPLITS for each in chosen[name]), opened)
    if found:
        raise QuestionSetError(
            f"the splits of {made.name} share documents: {found[0].message}",
            hint="see them all with spantree sets lint; build the set with --split to have them dealt out",
        )
