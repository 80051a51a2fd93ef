"""Judging: the verdicts of a support judge on the cited statements of many answers, each statement asked for once."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.judge import Judge, Judgment, Statement, statements
from evals.log import JudgeName, SampleRecord
from runtime.claims import Claim
from runtime.ledger import Usage

WIDTH = 8
"""Statements that are judged at the same time."""


@dataclass(frozen=True)
class Judging:
    """What a judge said of some statements. `spent` is what it used, apart from what the programs did.

    `tally` counts statements by verdict as often as they were made, whether or not in the same words. `reasons` has
    the class of what left a different statement without a verdict, `cached` those that nobody had to be asked about.
    """

    judge: JudgeName
    said: Mapping[Statement, Judgment]
    tally: Mapping[str, int]
    spent: Usage

    @property
    def cached(self) -> int:
        """Different statements whose verdict was known."""
        return sum(each.cached for each in self.said.values())

    @property
    def reasons(self) -> Mapping[str, int]:
        """Why different statements have no verdict: classes of errors with their number."""
        unjudged = (each for each in self.said.values() if each.verdict == "unjudged")
        return dict(sorted(Counter(each.reason.split(":")[0] for each in unjudged).items()))

    def verdicts(self, record: SampleRecord) -> dict[str, bool | None]:
        """What a score needs to know of the claims of a record, by claim id."""
        return {id: self.said[each].supported for id, each in _stated(record).items()}


async def judged(
    judge: Judge,
    records: Iterable[SampleRecord],
    *,
    width: int = WIDTH,
    progress: Callable[[int, int], None] | None = None,
) -> Judging:
    """The verdicts on all cited statements of the answers of some records, `width` of them at a time.

    Raises ModelError where the model cannot be asked at all, LimitsError where money is limited and it has no price.
    """
    made = Counter(each for record in records for each in _stated(record).values())
    said = await _asked(judge, list(made), width, progress or (lambda done, total: None))
    tally = Counter[str]()
    for each, times in made.items():
        tally[said[each].verdict] += times
    return Judging(judge.name, said, dict(sorted(tally.items())), judge.spent)


async def _asked(
    judge: Judge, different: Sequence[Statement], width: int, progress: Callable[[int, int], None]
) -> dict[Statement, Judgment]:
    """A few workers and one queue: a task for each of many thousand statements would only wait."""
    said: dict[Statement, Judgment] = {}
    queue = iter(different)

    async def work() -> None:
        for statement in queue:
            said[statement] = await judge.judge(*statement)
            progress(len(said), len(different))

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(min(width, len(different))):
                workers.create_task(work())
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    return said


def _stated(record: SampleRecord) -> dict[str, Statement]:
    claims = (record.answer or {}).get("claims", ())
    return statements(Claim.model_validate(each) for each in claims)
