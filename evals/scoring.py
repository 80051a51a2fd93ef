"""Scoring: by what the scores of logs were computed, and the refusal to compare those that differ in it."""

import shlex
from collections.abc import Sequence

from evals.asking import LIKELIHOOD, WORDS, default_way
from evals.log import EvalLog, JudgeName, Scoring
from runtime.errors import RunError
from runtime.models.facts import without_prefix


def scoring_of(logs: Sequence[EvalLog]) -> Scoring | None:
    """By what all scores of some logs were computed; None without a score.

    Raises RunError where they differ: between the logs, or within one that was rescored and then went on.
    """
    by_log = [(log, log.scorings) for log in logs]
    found = [each for _, scorings in by_log for each in scorings]
    if len(set(found)) > 1:
        told = "; ".join(
            f"{log.folder} by {' and by '.join(map(str, scorings))}" for log, scorings in by_log
        )
        raise RunError(f"these scores were not computed alike: {told}", hint=_hint(by_log, found))
    return found[0] if found else None


def _hint(by_log: Sequence[tuple[EvalLog, tuple[Scoring, ...]]], found: Sequence[Scoring]) -> str:
    """The commands after which all scores are alike: as those of the first sample, and by one set."""
    tau = found[0].tau
    other_sets = len({each.set_version for each in found}) > 1
    folders = [log.manifest.notes.set_folder for log, _ in by_log]
    made = next(filter(None, folders), "SET") if other_sets else ""
    return "; ".join(
        _command(log, made, tau)
        for log, scorings in by_log
        if other_sets or any(each.tau != tau for each in scorings)
    )


def _command(log: EvalLog, made: str, tau: float) -> str:
    words = ["spantree", "rescore", str(log.folder)]
    words += ["--set", made] if made else []
    words += ["--tau", f"{tau:g}"]
    words += _judge(log.judge) if log.judge else []
    return shlex.join(words)


def _judge(judge: JudgeName) -> list[str]:
    """The options that ask the same judge in the same way."""
    words = ["--judge", without_prefix(judge.model)]
    if judge.threshold is not None:
        return [*words, "--judge-by", LIKELIHOOD, "--judge-threshold", str(judge.threshold)]
    return words if default_way(judge.model) == WORDS else [*words, "--judge-by", WORDS]
