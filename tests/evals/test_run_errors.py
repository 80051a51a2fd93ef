"""Errors in evaluations: each is a record and never a zero, nothing is lost by it, and too many stop the evaluation."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import dspy
import pytest

from data.corpus import Corpus
from evals.executor import Executor
from evals.log import SampleRecord, read_log
from evals.metrics import Ratio
from evals.progress import Moment
from evals.results import ProgramResult, results
from evals.run import Conduct, evaluate
from evals.tolerance import Tolerance, TooManyErrors
from programs.baselines import Direct
from runtime.errors import (
    LimitsError,
    ModelError,
    PatternError,
    RunError,
    TimeoutFailure,
    UserError,
)
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.make import make_lm
from runtime.models.scripted import Reply, ScriptedEngine
from tests.evals.small_set import (
    TOLERANT,
    Does,
    SmallSet,
    Told,
    answer,
    evaluated,
    failing,
    number_of,
    small_set,
)


def test_an_error_is_a_record_with_class_message_and_place_and_has_no_score(
    trains: SmallSet, tmp_path: Path
) -> None:
    """DESIGN 4, dspy.Evaluate: an error is never a zero."""
    does = failing(n2=KeyError("no such thing"), n4=PatternError("what a pattern"))
    log = evaluated(trains, tmp_path / "log", does)
    assert len(log.records) == 6
    crash, pattern = log.errors
    assert (crash.question_id, crash.error_class, crash.error) == (
        "q2",
        "KeyError",
        "'no such thing'",
    )
    assert crash.traceback[-1].startswith("evals/small_set.py:")
    assert crash.traceback[-1].endswith(" in aforward")
    assert (crash.answer, crash.score) == (None, None)
    assert crash.spent is not None
    assert crash.spent.calls == 0
    assert pattern.error_class == "PatternError"
    assert log.error_classes == {"KeyError": 1, "PatternError": 1}


@pytest.mark.parametrize(
    ("said", "error_class", "message"),
    [
        (dspy.Prediction(text="no answer"), "MalformedOutput", "NoneType"),
        (dspy.Prediction(answer="42"), "MalformedOutput", "str"),
        ("42", "MalformedOutput", "NoneType"),
        (TimeoutFailure("the model took too long"), "TimeoutFailure", "took too long"),
        (TimeoutError(), "TimeoutError", ""),
    ],
)
def test_what_is_no_answer_is_an_error(
    trains: SmallSet, tmp_path: Path, said: Any, error_class: str, message: str
) -> None:
    [record] = evaluated(trains, tmp_path / "log", failing(n1=said)).errors
    assert record.error_class == error_class
    assert message in record.error


def test_a_program_that_hangs_is_cut_off(trains: SmallSet, tmp_path: Path) -> None:
    def does(question: str, corpus: Corpus) -> Any:
        return asyncio.sleep(3600) if number_of(question) == 3 else answer(question, corpus)

    conduct = Conduct(tolerance=TOLERANT, executor=Executor(patience=0.2))
    [record] = evaluated(trains, tmp_path / "log", does, conduct=conduct).errors
    assert (record.question_id, record.error_class) == ("q3", "CutOff")
    assert record.error == "no answer within 0.2 s"


@pytest.mark.parametrize(
    "error", [ModelError("unknown model"), LimitsError("too few calls"), RunError("held")]
)
def test_what_concerns_all_samples_stops_the_evaluation_at_once(
    trains: SmallSet, tmp_path: Path, error: UserError
) -> None:
    calls: list[str] = []
    with pytest.raises(type(error)):
        evaluated(
            trains,
            tmp_path / "log",
            failing(n0=error),
            calls=calls,
            conduct=Conduct(concurrency=1),
        )
    assert len(calls) == 1
    assert read_log(tmp_path / "log").records == ()


def test_limits_too_small_for_a_program_stop_before_anything_is_recorded(
    trains: SmallSet, tmp_path: Path
) -> None:
    def build() -> Direct:
        return Direct(lm=make_lm("extractive"), limits=Limits(calls=1))

    with pytest.raises(LimitsError):
        asyncio.run(evaluate({"direct": build}, trains.made, trains.corpora, tmp_path / "log"))
    assert read_log(tmp_path / "log").records == ()


def test_too_many_errors_stop_it_and_what_ended_is_kept(trains: SmallSet, tmp_path: Path) -> None:
    does = failing(n0=ValueError("a"), n1=ValueError("b"), n2=OSError("c"))
    calls: list[str] = []
    conduct = Conduct(concurrency=1, tolerance=Tolerance.parse("1"))
    with pytest.raises(TooManyErrors) as stopped:
        evaluated(trains, tmp_path / "log", does, calls=calls, conduct=conduct)
    assert str(stopped.value) == (
        "stopped: 2 of 6 samples ended in errors, more than the 1 that are tolerated: ValueError (2)"
    )
    assert len(calls) == 2
    assert len(read_log(tmp_path / "log").records) == 2
    with pytest.raises(TooManyErrors):
        evaluated(trains, tmp_path / "log", does, calls=calls, conduct=conduct)
    assert len(calls) == 2, "what is already too much starts nothing"
    patient = Conduct(tolerance=Tolerance.parse("50%"))
    log = evaluated(trains, tmp_path / "log", does, calls=calls, conduct=patient)
    assert len(calls) == len(log.records) == 6
    assert len(log.errors) == 3


@pytest.mark.parametrize(
    ("text", "total", "allowed"),
    [("0", 9, 0), ("12", 9, 12), ("0.1", 2000, 200), ("5%", 19, 0), ("5%", 20, 1), ("1.0", 7, 7)],
)
def test_tolerance_is_a_number_or_a_share_of_all(text: str, total: int, allowed: int) -> None:
    assert Tolerance.parse(text).allowed(total) == allowed


@pytest.mark.parametrize("text", ["", "many", "-1", "1.5", "200%", "nan"])
def test_a_tolerance_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--max-errors"):
        Tolerance.parse(text)


def fault_of(number: int) -> Any:
    """Every twentieth sample fails, in one of five ways."""
    kinds = (
        TimeoutFailure("the service did not answer"),
        RuntimeError("crashed"),
        dspy.Prediction(text="no answer"),
        dspy.Prediction(answer={"text": "half an answer"}),
        asyncio.sleep(3600),
    )
    chosen = kinds[number // 20 % 5] if number % 20 == 7 else None
    for each in kinds:
        if asyncio.iscoroutine(each) and each is not chosen:
            each.close()
    return chosen


def test_two_thousand_samples_of_which_one_in_twenty_fails(tmp_path: Path) -> None:
    """Nothing is lost, no error is counted as a zero, and the tolerance is kept."""
    trains = small_set(tmp_path, 2_000)

    def does(question: str, corpus: Corpus) -> Any:
        return fault_of(number_of(question)) or answer(question, corpus)

    patient = Executor(patience=0.3)
    strict = Conduct(64, Tolerance.parse("2%"), patient)
    with pytest.raises(TooManyErrors):
        evaluated(trains, tmp_path / "log", does, conduct=strict)
    stopped = read_log(tmp_path / "log")
    assert 41 <= len(stopped.errors) < 41 + 64
    assert len(stopped.records) < 2_000

    log = evaluated(trains, tmp_path / "log", does, conduct=Conduct(64, Tolerance(), patient))
    assert len(log.records) == 2_000
    assert log.missing == ()
    assert log.error_classes == {
        "TimeoutFailure": 20,
        "RuntimeError": 20,
        "MalformedOutput": 40,
        "CutOff": 20,
    }
    assert {record.question_id for record in log.errors} == {
        f"q{n}" for n in range(2_000) if n % 20 == 7
    }
    assert all(record.score is None for record in log.errors)
    scores = [record.score for record in log.records if record.score]
    assert len(scores) == 1_900
    assert {score.verified_correct.value for score in scores} == {1.0}


def test_faults_of_a_model_are_left_to_the_program(trains: SmallSet, tmp_path: Path) -> None:
    """A real program meets timeouts and replies that cannot be parsed with an outcome: that is an answer."""

    def build() -> Direct:
        said = [Reply(error="timeout"), Reply("no JSON at all"), Reply(error="server")]
        engine = ScriptedEngine(respond=lambda _: said[len(engine.log) % 3])
        return Direct(lm=engine.lm(), limits=Limits(retries=0))

    log = asyncio.run(evaluate({"direct": build}, trains.made, trains.corpora, tmp_path / "log"))
    assert log.errors == ()
    outcomes = {record.score.outcome for record in log.records if record.score}
    assert outcomes <= {"failed", "partial"}


def test_a_bug_in_scoring_is_raised_and_costs_no_answer(
    trains: SmallSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("evals.run.score", broken)
    with pytest.raises(ZeroDivisionError):
        evaluated(trains, tmp_path / "log", conduct=Conduct(concurrency=1))
    [record] = read_log(tmp_path / "log").records
    assert isinstance(record, SampleRecord)
    assert (record.state, record.score) == ("done", None)
    assert record.answer is not None


def flaky(fails: int) -> tuple[Does, Counter[str]]:
    """A program that fails the first times that it is asked about train 2."""
    asked: Counter[str] = Counter()

    def does(question: str, corpus: Corpus) -> Any:
        asked[question] += 1
        if number_of(question) == 2 and asked[question] <= fails:
            return OSError(f"failure {asked[question]}")
        return answer(question, corpus)

    return does, asked


def test_retries_are_made_and_listed(trains: SmallSet, tmp_path: Path) -> None:
    does, _ = flaky(2)
    conduct = Conduct(tolerance=TOLERANT, executor=Executor(retries=2))
    log = evaluated(trains, tmp_path / "log", does, conduct=conduct)
    assert log.errors == ()
    record = log.by_key["told", "q2", 1]
    assert record.attempt == 3
    assert [(each.attempt, each.error) for each in record.retries] == [
        (1, "failure 1"),
        (2, "failure 2"),
    ]
    assert sum(bool(each.retries) for each in log.records) == 1


class Spending(Told):
    """A told program that asks a model first, whose calls are in its journal."""

    async def aforward(self, question: str, corpus: Corpus, limits: Any = None) -> Any:
        asking = Direct(lm=make_lm("extractive"), journal=self.journal)
        await asking.acall(question=question, corpus=corpus)
        return await super().aforward(question, corpus, limits)


def test_what_failed_attempts_spent_is_counted(trains: SmallSet, tmp_path: Path) -> None:
    """Calls and tokens are those of all attempts, those of earlier executions too, whether it ends well or not."""
    does, _ = flaky(3)

    def build() -> Spending:
        return Spending(does)

    retrying = Conduct(tolerance=TOLERANT, executor=Executor(retries=1), again=True)
    out, moments = tmp_path / "log", list[Moment]()

    def run() -> ProgramResult:
        work = evaluate(
            {"told": build},
            trains.made,
            trains.corpora,
            out,
            conduct=retrying,
            listener=moments.append,
        )
        return results(asyncio.run(work)).programs[0]

    first = run()
    failed = read_log(out).by_key["told", "q2", 1]
    once = failed.spent
    assert once is not None
    assert once.calls > 0
    assert [each.spent for each in failed.retries] == [once]
    assert (first.errors, first.calls) == (1, 5 * 3 + 2 * once.calls)
    assert first.tokens == 5 * 110 + 2 * (once.input_tokens + once.output_tokens)
    last = run()
    assert (last.errors, last.calls) == (0, 6 * 3 + 3 * once.calls)
    assert last.attempts_unaccounted == 0
    assert (moments[-1].calls, moments[-1].tokens) == (last.calls, last.tokens)


def test_attempts_of_which_nobody_knows_what_they_spent_are_counted(
    trains: SmallSet, tmp_path: Path
) -> None:
    does, _ = flaky(2)
    with Journal.open(None) as own:
        work = evaluate(
            {"told": lambda: Told(does, journal=own)},
            trains.made,
            trains.corpora,
            tmp_path / "log",
            conduct=Conduct(tolerance=TOLERANT, executor=Executor(retries=2)),
        )
        [found] = results(asyncio.run(work)).programs
    assert (found.errors, found.attempts_unaccounted) == (0, 2)


def test_errors_are_no_success_of_all_and_failed_answers_are_counted(
    trains: SmallSet, tmp_path: Path
) -> None:
    """The outcome `failed` is an answer: it is no error, is not tried again, and is shown as what it is."""

    def does(question: str, corpus: Corpus) -> Any:
        told = answer(question, corpus)
        number = number_of(question)
        if number == 5:
            return told.model_copy(update={"outcome": "failed", "claims": (), "value": None})
        return told if number == 0 else OSError("no such disk")

    log = evaluated(trains, tmp_path / "log", does)
    [found] = results(log).programs
    assert (found.samples, found.errors, found.failed) == (6, 4, 1)
    assert found.summary.of_all["verified_correct"] == Ratio(1, 6)


def test_errors_are_kept_on_going_on_unless_they_are_to_be_tried_again(
    trains: SmallSet, tmp_path: Path
) -> None:
    does, asked = flaky(2)
    evaluated(trains, tmp_path / "log", does)
    assert len(evaluated(trains, tmp_path / "log", does).errors) == 1
    assert asked.total() == 6
    again = Conduct(tolerance=TOLERANT, again=True)
    assert len(evaluated(trains, tmp_path / "log", does, conduct=again).errors) == 1
    log = evaluated(trains, tmp_path / "log", does, conduct=again)
    assert asked.total() == 8
    assert log.errors == ()
    record = log.by_key["told", "q2", 1]
    assert (record.attempt, [each.error for each in record.retries]) == (
        3,
        ["failure 1", "failure 2"],
    )
