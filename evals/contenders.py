"""Contenders: the programs of some logs, side by side, each with its values by question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from evals.clusters import clusters
from evals.log import EvalLog, SampleRecord
from evals.measures import Measure
from evals.scoring import scoring_of
from runtime.errors import RunError

Values = dict[str, float | None]
"""A value by question; None where it is undefined."""


@dataclass(frozen=True)
class Contender:
    """One program of one log. `label` tells it from all others that it is compared to."""

    label: str
    program: str
    log: EvalLog

    @property
    def family(self) -> str:
        """The program without the choices that its name in the log may have: `rlm` of `rlm:repl`."""
        return self.program.split("[")[0].split(":")[0]

    @cached_property
    def records(self) -> tuple[SampleRecord, ...]:
        """Its samples, in the order of the plan."""
        return self.log.of(self.program)

    @cached_property
    def by_question(self) -> dict[str, tuple[SampleRecord, ...]]:
        """Its samples by question: one an epoch."""
        found: dict[str, list[SampleRecord]] = defaultdict(list)
        for record in self.records:
            found[record.question_id].append(record)
        return {question: tuple(each) for question, each in found.items()}

    @cached_property
    def lost_samples(self) -> dict[str, int]:
        """By question, how many of its samples ended without an answer or were not evaluated, where there are any."""
        epochs = self.log.manifest.epochs
        answered = Counter(each.question_id for each in self.records if is_answered(each))
        lost = {each: epochs - answered[each] for each in self.log.manifest.questions}
        return {question: count for question, count in lost.items() if count}

    def errors(self, within: Iterable[str] | None = None) -> int:
        """How many samples ended in an error, of some questions or of all."""
        chosen = None if within is None else set(within)
        failed = (each.question_id for each in self.records if not is_answered(each))
        return sum(chosen is None or each in chosen for each in failed)

    def values(self, measure: Measure) -> Values:
        """The measure by question: the mean over those epochs in which it is defined."""
        return {
            question: _mean([measure.value(each) for each in records])
            for question, records in self.by_question.items()
        }


def is_answered(record: SampleRecord) -> bool:
    """Whether a sample has an answer that is not an error."""
    return record.state == "done" and (record.score is None or record.score.state != "error")


def contenders(logs: Sequence[EvalLog], only: Iterable[str] = ()) -> list[Contender]:
    """Every program of every log, or those that are named. Raises RunError where the logs cannot be compared."""
    _check_sets(logs)
    found = [(log, program) for log in logs for program in log.programs]
    wanted = set(only)
    unknown = wanted - {program for _, program in found}
    if unknown:
        known = ", ".join(dict.fromkeys(program for _, program in found))
        raise RunError(f"no log has {', '.join(sorted(unknown))}", hint=f"they have: {known}")
    chosen = [each for each in found if not wanted or each[1] in wanted]
    return [
        Contender(label, program, log)
        for (log, program), label in zip(chosen, _labels(chosen), strict=True)
    ]


def clusters_of(entered: Iterable[Contender]) -> dict[str, str]:
    """The cluster of each question that somebody was scored on."""
    scores = (record.score for each in entered for record in each.records)
    return clusters(score for score in scores if score is not None)


def _check_sets(logs: Sequence[EvalLog]) -> None:
    folders = [log.folder.resolve() for log in logs]
    if len(set(folders)) < len(folders):
        raise RunError("a log is named twice", hint="one log is compared by its programs alone")
    sets = {log.manifest.question_set.version: log for log in logs if not log.rescored}
    if len(sets) > 1:
        named = ", ".join(
            f"{log.folder} ({log.manifest.question_set.name} {version})"
            for version, log in sets.items()
        )
        raise RunError(
            f"these logs are of different question sets: {named}",
            hint="evaluate both on one version of the set",
        )
    scoring_of(logs)


def _labels(found: Sequence[tuple[EvalLog, str]]) -> list[str]:
    """The program where that is unambiguous, else with its log."""
    programs = Counter(program for _, program in found)
    short = Counter((program, log.folder.name) for log, program in found)
    return [
        program
        if programs[program] == 1
        else f"{program} ({log.folder.name if short[program, log.folder.name] == 1 else log.folder})"
        for log, program in found
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else None
