"""The verbs `eval` and `rescore`: programs over a question set, into a log that survives everything."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from evals.log import read_log, stable
from evals.progress import Moment
from evals.results import results
from spantree.cli.app import build
from spantree.cli.progress import Lines, metric_words
from tests.evals.small_set import SmallSet, small_set

ROOT = Path(__file__).parents[2]
PATIENCE = 60


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trains(tmp_path: Path) -> SmallSet:
    return small_set(tmp_path, 8)


def spantree(*words: str | Path) -> Result:
    """Run the command line; a bug is raised."""
    return CliRunner().invoke(build(), [str(word) for word in words], catch_exceptions=False)


def evaluate(trains: SmallSet, out: Path, *words: str | Path) -> Result:
    """Evaluate `retrieve` on the set, or what the words say."""
    program = () if "--program" in words else ("--program", "retrieve")
    return spantree("eval", "--set", trains.folder, "--out", out, *program, *words)


def lines_of(out: Path) -> list[bytes]:
    """The whole lines of the samples so far."""
    path = out / "samples.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def wait_for(out: Path, number: int) -> None:
    """Wait until so many samples are in the log."""
    deadline = time.monotonic() + PATIENCE
    while len(lines_of(out)) < number:
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.02)


def stopped_by(
    number: signal.Signals, trains: SmallSet, out: Path, model: str
) -> tuple[int, str, str]:
    """Evaluate slowly in a process and stop it in the middle: exit status, output, error output."""
    words = ["eval", "--set", trains.folder, "--out", out, "--program", "retrieve,direct"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "spantree",
            *map(str, words),
            "--model",
            model,
            "--concurrency",
            "2",
        ],
        cwd=ROOT,
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(out, 3)
    process.send_signal(number)
    printed, complained = process.communicate(timeout=PATIENCE)
    return process.returncode, printed, complained


def test_a_table_within_eighty_columns_and_a_log(trains: SmallSet, tmp_path: Path) -> None:
    result = evaluate(trains, tmp_path / "log", "--program", "retrieve,direct,rlm:tools")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == (
        ["program", "n", "err", "verified-correct", "recall", "prec", "abst", "calls", "tokens"]
    )
    assert [line.split()[:3] for line in lines[1:4]] == [
        ["retrieve", "8", "0"],
        ["direct", "8", "0"],
        ["rlm:tools", "8", "0"],
    ]
    assert all(cell_len(line) <= 80 for line in lines)
    assert "trains: 8 questions, seed 0, digest" in result.stdout
    assert f"log: {tmp_path / 'log'}" in result.stderr
    assert "not a language model" in result.stderr
    assert "seconds a sample, retrieve: median" in result.stderr
    log = read_log(tmp_path / "log")
    assert len(log.records) == 24
    assert log.manifest.programs["rlm:tools"].configuration["action_space"] == "tools"
    notes = log.manifest.notes
    assert notes.set_folder == str(trains.folder)
    assert notes.command.startswith("spantree eval --program retrieve,direct,rlm:tools --set ")


def test_the_same_seed_gives_the_same_bytes(trains: SmallSet, tmp_path: Path) -> None:
    words = ("--model", "simulated:recall=0.6,malformed=0.1,timeout=0.2,seed=4", "--epochs", "2")
    first = evaluate(trains, tmp_path / "a", *words, "--concurrency", "1")
    other = evaluate(trains, tmp_path / "b", *words, "--concurrency", "6")
    assert first.exit_code == 0
    assert first.stdout_bytes == other.stdout_bytes


def test_json_is_one_object_with_everything(trains: SmallSet, tmp_path: Path) -> None:
    result = evaluate(trains, tmp_path / "log", "--json", "--quiet", "--limit", "3")
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert (told["question_set"], told["questions"], told["complete"]) == ("trains", 3, True)
    [program] = told["programs"]
    assert program["program"] == "retrieve"
    assert program["estimates"]["verified_correct"].keys() == {
        "mean",
        "low",
        "high",
        "questions",
        "undefined",
    }
    assert told["latency"]["retrieve"]["timed"] == 3
    assert told["log"] == str(tmp_path / "log")


def test_broken_gold_is_refused_before_anything_is_measured(
    trains: SmallSet, tmp_path: Path
) -> None:
    """Field reports, "dataset linter (refuse to run)": also on going on; what is not selected does not matter."""
    path, out = trains.folder / "questions.jsonl", tmp_path / "log"
    whole = path.read_text()
    rows = [json.loads(line) for line in whole.splitlines()]
    for row in rows:
        if row["split"] == "train":
            row["gold"][0][0][0]["start"] += 1
            row["answer"] = {"type": "date", "values": ["20260105"], "accepted": []}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = evaluate(trains, out)
    assert (refused.exit_code, refused.stdout) == (2, "")
    told = " ".join(refused.stderr.split())
    assert "the gold of the set trains has 8 faults: q1: answer: '20260105' is not of type" in told
    assert "q1: quote: monday.log" in told
    assert "and 5 more" in told
    assert f"spantree sets lint {trains.folder}" in told
    assert not out.exists()
    assert evaluate(trains, out, "--split", "test").exit_code == 0

    raw = lines_of(out)
    rows[0]["gold"] *= 2
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    going_on = evaluate(trains, out, "--split", "test")
    assert going_on.exit_code == 2
    assert "q0: duplicate_fact" in going_on.stderr
    assert lines_of(out) == raw
    path.write_text(whole)
    assert evaluate(trains, tmp_path / "other").exit_code == 0


def test_answers_that_failed_are_told_beside_the_table(trains: SmallSet, tmp_path: Path) -> None:
    result = evaluate(
        trains, tmp_path / "log", "--program", "direct", "--model", "simulated:timeout=1"
    )
    [program] = results(read_log(tmp_path / "log")).programs
    assert program.failed > 0
    assert f"direct: {program.failed} answers failed: no success, and no error" in result.stdout


def test_without_out_the_same_command_finds_its_log_again(trains: SmallSet, tmp_path: Path) -> None:
    words = ("eval", "--set", trains.folder, "--program", "retrieve", "--quiet")
    first = spantree(*words)
    [log] = (tmp_path / "logs").iterdir()
    assert log.name.startswith("trains-extractive-")
    raw = lines_of(log)
    again = spantree(*words)
    assert again.stdout == first.stdout
    assert lines_of(log) == raw
    spantree(*words, "--seed", "5")
    assert len(list((tmp_path / "logs").iterdir())) == 2


def test_a_killed_evaluation_does_the_rest_only_and_ends_as_one_that_was_not(
    trains: SmallSet, tmp_path: Path
) -> None:
    model = "simulated:recall=0.7,latency=0.1,timeout=0.1,seed=2"
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    status, printed, _ = stopped_by(signal.SIGKILL, trains, killed, model)
    assert (status, printed) == (-signal.SIGKILL, "")
    kept = lines_of(killed)
    if not kept[-1].endswith(b"\n"):
        kept.pop()
    assert 3 <= len(kept) < 16
    with (killed / "samples.jsonl").open("ab") as file:
        file.write(b'{"program": "retrieve", "quest')
    words = ("--program", "retrieve,direct", "--model", model, "--concurrency", "8")
    resumed = evaluate(trains, killed, *words)
    assert resumed.exit_code == 0, resumed.output
    assert "a half-written line of the log was dropped" in resumed.stderr
    done = lines_of(killed)
    assert done[: len(kept)] == kept
    assert len(done) == 16
    uninterrupted = evaluate(trains, whole, *words)
    assert resumed.stdout == uninterrupted.stdout
    first, other = read_log(killed), read_log(whole)
    assert [stable(each) for each in first.records] == [stable(each) for each in other.records]


def test_an_interrupt_exits_130_and_names_the_command_that_goes_on(
    trains: SmallSet, tmp_path: Path
) -> None:
    out = tmp_path / "log"
    status, printed, complained = stopped_by(
        signal.SIGINT, trains, out, "simulated:recall=0.9,latency=0.1"
    )
    assert (status, printed) == (130, "")
    assert "Traceback" not in complained
    kept = lines_of(out)
    assert all(line.endswith(b"\n") for line in kept)
    last = complained.splitlines()[-1]
    assert last.startswith("next: spantree eval --program retrieve,direct --set ")
    result = spantree(*shlex.split(last.removeprefix("next: spantree ")))
    assert result.exit_code == 0, result.output
    assert lines_of(out)[: len(kept)] == kept
    assert len(lines_of(out)) == 16


def test_another_evaluation_in_the_same_folder_is_refused(trains: SmallSet, tmp_path: Path) -> None:
    evaluate(trains, tmp_path / "log", "--limit", "2")
    raw = lines_of(tmp_path / "log")
    refused = evaluate(trains, tmp_path / "log", "--limit", "2", "--max-calls", "9", "--seed", "1")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "holds another evaluation:" in refused.stderr
    assert "configuration.limits.calls: nothing, now 9" in refused.stderr
    assert "seed: 0, now 1" in refused.stderr
    assert "next: choose another folder" in refused.stderr
    assert lines_of(tmp_path / "log") == raw


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--program", "recursive,magic"], "there is no program named 'magic'"),
        (["--program", "direct,,cot"], "--program names no program"),
        (["--program", "direct,direct"], "names direct more than once"),
        (["--program", "rlm:maybe"], "there is no choice 'maybe'"),
        (["--program", "direct:repl"], "--action-space has no use with the program direct"),
        (["--model", "magic"], "no provider is known"),
        (["--model", "openai/gpt-4.1-mini"], "OPENAI_API_KEY"),
        (["--partition", "magic"], "there is no partitioner"),
        (["--split", "magic"], "there is no split 'magic'"),
        (["--max-errors", "many"], "--max-errors is 'many'"),
        (["--max-calls", "0"], "--max-calls"),
        (["--max-calls", "1"], "calls: 1 is too few"),
    ],
)
def test_a_mistake_is_told_and_leaves_no_sample(
    trains: SmallSet, tmp_path: Path, words: list[str], message: str
) -> None:
    result = evaluate(trains, tmp_path / "log", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert lines_of(tmp_path / "log") == []


def test_a_set_that_is_not_there_or_changed_is_a_mistake(trains: SmallSet, tmp_path: Path) -> None:
    result = spantree("eval", "--set", "no-such-set", "--out", tmp_path / "log")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no question set 'no-such-set'" in result.stderr
    (trains.folder / "corpora" / "trains" / "monday.log").write_text("other\n")
    changed = evaluate(trains, tmp_path / "log")
    assert (changed.exit_code, changed.stdout) == (2, "")
    assert "its gold was made for" in changed.stderr
    assert not (tmp_path / "log").exists()


def test_too_many_errors_exit_1_and_name_the_command(
    trains: SmallSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: Any, **__: Any) -> Any:
        raise RuntimeError("boom")

    with monkeypatch.context() as patch:
        patch.setattr("programs.baselines.Retrieve.work", crash)
        result = evaluate(trains, tmp_path / "log", "--max-errors", "2", "--concurrency", "1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "stopped: 3 of 8 samples ended in errors" in result.stderr
    assert "RuntimeError (3)" in result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.endswith("--retry-errors")
    again = spantree(*shlex.split(last.removeprefix("next: spantree ")))
    assert again.exit_code == 0, again.output
    log = read_log(tmp_path / "log")
    assert log.errors == ()
    assert [len(each.retries) for each in log.records] == [1, 1, 1, 0, 0, 0, 0, 0]
    assert "retrieve: 3 samples took several attempts" in again.stdout


def test_rescore_computes_the_table_without_a_model(
    trains: SmallSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(trains, tmp_path / "log", "--quiet")
    raw = lines_of(tmp_path / "log")

    def no_model(*_: Any, **__: Any) -> Any:
        raise AssertionError("a model was made")

    monkeypatch.setattr("runtime.models.make.make_lm", no_model)
    again = spantree("rescore", tmp_path / "log")
    assert again.exit_code == 0
    assert again.stdout == first.stdout
    assert f"scores: {tmp_path / 'log' / 'scores.jsonl'}" in again.stderr
    assert lines_of(tmp_path / "log") == raw
    strict = spantree("rescore", tmp_path / "log", "--tau", "1", "--json", "--quiet")
    assert json.loads(strict.stdout)["rescored"] is True
    missing = spantree("rescore", tmp_path / "nothing")
    assert missing.exit_code == 2
    assert "there is no evaluation log" in missing.stderr


def moment(done: int, verified: float | None = None, errors: int = 0) -> Moment:
    return Moment(done, 300, 0, errors, verified, verified, 1234, 5)


def test_progress_has_the_metrics_so_far_and_says_nothing_at_first() -> None:
    stream = io.StringIO()
    now = [0.0]
    lines = Lines(stream, clock=lambda: now[0])
    lines.evaluated(moment(1))
    now[0] = 2.0
    lines.evaluated(moment(120, 0.5, errors=1))
    assert stream.getvalue() == (
        "evaluating: 120/300, verified-correct 0.50, recall 0.50, 1 error, 1,234 calls\n"
    )
    assert metric_words(replace(moment(0), kept=7)) == "1,234 calls, 7 from before"
