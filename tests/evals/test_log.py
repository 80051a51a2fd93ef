"""Logs of evaluations: what is on the disk is whole, and nothing is ever appended to another evaluation."""

import asyncio
import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from evals.log import (
    EvalLog,
    SampleRecord,
    line_of,
    planned,
    read_log,
    read_samples,
    stable,
)
from evals.log_writer import LogWriter
from evals.manifest import Manifest, Notes, differences, read_manifest
from evals.rescoring import rescore
from evals.results import results
from evals.run import Conduct, Plan, evaluate, manifest_of
from evals.selection import selected
from evals.tolerance import Tolerance
from programs.baselines import ChainOfThought, Direct, Retrieve
from runtime.errors import QuestionSetError, RunError
from runtime.limits import Limits
from runtime.models.make import make_lm
from tests.evals.small_set import Does, SmallSet, Told, answer


def evaluated(trains: SmallSet, out: Path, does: Does = answer, **given: Any) -> EvalLog:
    conduct = Conduct(concurrency=1, tolerance=Tolerance(share=1.0))
    programs = {"told": lambda: Told(does)}
    work = evaluate(programs, trains.made, trains.corpora, out, conduct=conduct, **given)
    return asyncio.run(work)


def manifest(trains: SmallSet, plan: Plan | None = None, **programs: Any) -> Manifest:
    plan = plan or Plan()
    questions = selected(trains.made, limit=plan.limit, seed=plan.seed)
    made = {name: lambda each=each: each for name, each in programs.items()} or {"told": Told}
    notes = Notes(created="2026-03-10T09:00:00+00:00", commit="c0ffee", dirty=True)
    return manifest_of(made, trains.made, questions, plan, notes)


def test_every_line_is_one_sample_and_reads_back_as_it_was(
    trains: SmallSet, tmp_path: Path
) -> None:
    log = evaluated(trains, tmp_path / "log")
    lines = (tmp_path / "log" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["question_id"] for line in lines] == [f"q{n}" for n in range(6)]
    assert tuple(SampleRecord.model_validate_json(line) for line in lines) == log.records


def test_a_line_that_a_kill_cut_in_half_is_dropped_and_its_sample_evaluated_again(
    trains: SmallSet, tmp_path: Path
) -> None:
    whole = evaluated(trains, tmp_path / "log")
    path = tmp_path / "log" / "samples.jsonl"
    raw = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(raw) if byte == ord("\n")]
    for kept in (0, 1, 5):
        begun = ends[kept - 1] if kept else 0
        for cut in (begun + 1, (begun + ends[kept]) // 2, ends[kept] - 1):
            path.write_bytes(raw[:cut])
            found = read_log(tmp_path / "log")
            assert (len(found.records), found.cut) == (kept, True)
            assert len(found.missing) == 6 - kept
            again = evaluated(trains, tmp_path / "log")
            assert again.cut
            assert [stable(each) for each in again.records] == [
                stable(each) for each in whole.records
            ]
            assert path.read_bytes().startswith(raw[:begun])


def test_a_damaged_line_is_told_by_its_number(trains: SmallSet, tmp_path: Path) -> None:
    evaluated(trains, tmp_path / "log")
    path = tmp_path / "log" / "samples.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"program": "told"}\n', *lines[2:]]))
    with pytest.raises(RunError, match="line 3 is no SampleRecord"):
        read_log(tmp_path / "log")


def test_a_folder_of_something_else_is_refused_and_left_alone(
    trains: SmallSet, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match="no evaluation log"):
        evaluated(trains, other)
    assert [each.name for each in other.iterdir()] == ["notes.txt"]
    with pytest.raises(RunError, match="cannot be written"):
        evaluated(trains, other / "notes.txt")
    with pytest.raises(RunError, match="there is no evaluation log"):
        read_log(other)


def test_another_evaluation_is_never_appended_to_and_what_changed_is_told(
    trains: SmallSet, tmp_path: Path
) -> None:
    evaluated(trains, tmp_path / "log")
    raw = (tmp_path / "log" / "samples.jsonl").read_bytes()
    with pytest.raises(RunError) as refused:
        evaluated(trains, tmp_path / "log", plan=Plan(epochs=2, seed=4))
    assert "epochs: 1, now 2" in refused.value.message
    assert "seed: 0, now 4" in refused.value.message
    assert (tmp_path / "log" / "samples.jsonl").read_bytes() == raw


def test_one_process_at_a_time_writes_a_log(trains: SmallSet, tmp_path: Path) -> None:
    with LogWriter(tmp_path / "log", manifest(trains)), pytest.raises(RunError, match="another"):
        LogWriter(tmp_path / "log", manifest(trains))
    LogWriter(tmp_path / "log", manifest(trains)).close()


def test_the_manifest_tells_programs_set_corpora_model_versions_and_code(
    trains: SmallSet,
) -> None:
    made = manifest(trains, direct=Direct(lm=make_lm("extractive"), limits=Limits(calls=9)))
    assert made.question_set.version == trains.made.version
    assert made.question_set.corpora == {"trains": trains.corpus.version}
    direct = made.programs["direct"]
    assert direct.type.endswith(".Direct")
    assert direct.configuration["model"] == "extractive"
    assert direct.configuration["limits"]["calls"] == 9
    assert len(direct.state) == len(direct.signatures) == len(made.code) == 16
    assert {"python", "spantree", "dspy"} <= made.versions.keys()


def test_what_makes_another_evaluation_and_what_does_not(trains: SmallSet) -> None:
    lm = make_lm("extractive")
    base = manifest(trains, direct=Direct(lm=lm))
    assert manifest(trains, direct=Direct(lm=lm)).identity == base.identity
    noted = base.model_copy(update={"notes": base.notes.model_copy(update={"commit": "other"})})
    assert noted.identity == base.identity
    assert differences(base, noted) == []
    tuned = Direct(lm=lm)
    predictor: Any = tuned.named_predictors()[-1][1]
    predictor.signature = predictor.signature.with_instructions("Say less.")
    others = {
        "programs.direct.state": manifest(trains, direct=tuned),
        "programs.direct.configuration.limits.calls": manifest(
            trains, direct=Direct(lm=lm, limits=Limits(calls=50))
        ),
        "programs.direct.configuration.model": manifest(
            trains, direct=Direct(lm=make_lm("simulated:recall=0.5"))
        ),
        "programs.retrieve.type": manifest(trains, direct=Direct(lm=lm), retrieve=Retrieve(lm=lm)),
        "seed": manifest(trains, Plan(seed=1), direct=Direct(lm=lm)),
        "questions": manifest(trains, Plan(limit=2), direct=Direct(lm=lm)),
    }
    for where, other in others.items():
        assert other.identity != base.identity
        assert any(each.startswith(f"{where}: ") for each in differences(base, other))


def test_what_is_within_a_compiled_module_makes_another_evaluation(trains: SmallSet) -> None:
    """`_compiled` hides predictors from named_predictors: two programs that differ there passed for the same."""
    base, tuned = (ChainOfThought(lm=make_lm("extractive")) for _ in range(2))
    for each in (base, tuned):
        reader: Any = each.analyze_leaf
        reader._compiled = True
    reader = tuned.analyze_leaf
    reader.predict.signature = reader.predict.signature.with_instructions("Say less.")
    first, second = (manifest(trains, cot=each) for each in (base, tuned))
    assert any(each.startswith("programs.cot.state: ") for each in differences(first, second))


def test_secrets_of_a_model_are_not_in_the_manifest(trains: SmallSet) -> None:
    lm = make_lm("openai/qwen", api_base="http://127.0.0.1:9/v1", api_key="sk-very-secret")
    made = manifest(trains, direct=Direct(lm=lm))
    assert "very-secret" not in made.model_dump_json()
    assert made.programs["direct"].configuration["api_base"] == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "damaged"), ("{}", "no manifest"), ('{"schema_version": 99}', "newer version")],
)
def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(RunError, match=message):
        read_manifest(tmp_path)


def test_a_lone_surrogate_survives_and_there_is_no_nan(tmp_path: Path) -> None:
    """inspect_ai#4491: NaN became null, and null became 0."""
    record = SampleRecord(
        program="told",
        question_id="q\udc80",
        epoch=1,
        state="error",
        error="bytes \udcff 晚点",
        seconds=1.0,
        started="2026-03-10T09:00:00+00:00",
    )
    path = tmp_path / "samples.jsonl"
    path.write_bytes(line_of(record))
    assert read_samples(path) == ([record], False)
    with pytest.raises(ValueError, match="JSON"):
        line_of(record.model_copy(update={"seconds": float("nan")}))


def test_the_plan_asks_all_programs_a_question_before_the_next(trains: SmallSet) -> None:
    made = manifest(trains, Plan(epochs=2), one=Told(), other=Told())
    keys = list(planned(made))
    assert keys[:3] == [("one", "q0", 1), ("other", "q0", 1), ("one", "q1", 1)]
    assert len(keys) == made.total == 24


def wrong(question: str, corpus: Any) -> Any:
    return answer(question, corpus, value=99)


def test_rescoring_computes_new_metrics_and_leaves_the_samples_alone(
    trains: SmallSet, tmp_path: Path
) -> None:
    log = evaluated(trains, tmp_path / "log", wrong)
    raw = (tmp_path / "log" / "samples.jsonl").read_bytes()
    assert not log.rescored
    mended = trains.made.model_copy(
        update={
            "questions": tuple(
                each.model_copy(
                    update={"answer": each.answer.model_copy(update={"values": ("99",)})}
                )
                for each in trains.made.questions
            )
        }
    )
    seen: list[tuple[int, int]] = []
    again = rescore(
        tmp_path / "log", mended, trains.corpora, tau=1.0, progress=lambda *at: seen.append(at)
    )
    assert again.rescored
    assert [r.score.correct.value for r in log.records if r.score] == [0.0] * 6
    assert [r.score.correct.value for r in again.records if r.score] == [1.0] * 6
    assert {r.score.tau for r in again.records if r.score} == {1.0}
    assert seen[-1] == (6, 6)
    assert (tmp_path / "log" / "samples.jsonl").read_bytes() == raw
    assert read_log(tmp_path / "log").records == again.records
    back = rescore(tmp_path / "log", trains.made, trains.corpora)
    assert back.records == log.records


def test_rescoring_with_another_set_is_refused(trains: SmallSet, tmp_path: Path) -> None:
    evaluated(trains, tmp_path / "log")
    first, *rest = trains.made.questions
    other = first.model_copy(update={"question": "Another one?"})
    for questions in ((other, *rest), tuple(rest)):
        made = trains.made.model_copy(update={"questions": questions})
        with pytest.raises(QuestionSetError, match="the question q0 changed since"):
            rescore(tmp_path / "log", made, trains.corpora)
    entry = trains.made.corpora[0].model_copy(update={"version": "0" * 16})
    made = trains.made.model_copy(update={"corpora": (entry,)})
    with pytest.raises(QuestionSetError, match="the corpus trains"):
        rescore(tmp_path / "log", made, trains.corpora)
    assert not (tmp_path / "log" / "scores.jsonl").exists()


def test_results_count_errors_in_no_metric_and_leave_cached_samples_out_of_latency(
    trains: SmallSet, tmp_path: Path
) -> None:
    def does(question: str, corpus: Any) -> Any:
        if '"train 1 is"' in question:
            return OSError("gone")
        return answer(question, corpus, cached_calls=int('"train 2 is"' in question))

    found = results(evaluated(trains, tmp_path / "log", does))
    [told] = found.programs
    assert (told.planned, told.samples, told.errors, told.unscored) == (6, 6, 1, 0)
    assert told.error_classes == {"OSError": 1}
    verified = told.estimates["verified_correct"]
    assert (verified.mean, verified.questions) == (1.0, 5)
    assert verified.low is None  # one document
    assert (told.calls, told.tokens) == (15, 550)
    assert (found.latency["told"].timed, found.latency["told"].cached) == (4, 1)
    assert found.latency["told"].p95_high is None
    assert found.complete


def test_results_are_the_same_but_for_latency(trains: SmallSet, tmp_path: Path) -> None:
    first, other = (results(evaluated(trains, tmp_path / name)) for name in ("a", "b"))
    assert first.digest == other.digest
    assert first.model_dump(exclude={"latency"}) == other.model_dump(exclude={"latency"})
    changed = results(evaluated(trains, tmp_path / "c", wrong))
    assert changed.digest != first.digest


def test_an_unfinished_log_says_so(trains: SmallSet, tmp_path: Path) -> None:
    evaluated(trains, tmp_path / "log")
    path = tmp_path / "log" / "samples.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]))
    found = results(read_log(tmp_path / "log"))
    assert not found.complete
    assert (found.programs[0].samples, found.programs[0].planned) == (4, 6)


def test_a_disk_that_is_full_stops_it_and_leaves_whole_lines(
    trains: SmallSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = os.fsync
    left = 3

    def full(number: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        synced(number)

    with monkeypatch.context() as patch:
        patch.setattr("evals.lines.os.fsync", full)
        told = pytest.raises(RunError, match="cannot be written: No space left")
        with told:
            evaluated(trains, tmp_path / "log")
    kept = read_log(tmp_path / "log")
    assert not kept.cut
    assert 0 < len(kept.records) < 6
    log = evaluated(trains, tmp_path / "log")
    assert log.missing == ()
