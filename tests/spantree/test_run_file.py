"""The verb `run`: an experiment in a file, into its own folder, which it goes on with and defends."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from evals.lines import locked
from evals.log import read_log, stable
from tests.evals.small_set import SmallSet, small_set
from tests.spantree.run_file_desk import RETRIEVE, content, refused, spantree, written

ROOT = Path(__file__).parents[2]
PATIENCE = 60
TWO = RETRIEVE.replace('"retrieve"', '["retrieve", "direct"]')


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trains(tmp_path: Path) -> SmallSet:
    """A set in the folder `set` beside the files of the tests."""
    return small_set(tmp_path, 8)


def samples(folder: Path) -> list[bytes]:
    """The lines of a log so far."""
    path = folder / "evaluation" / "samples.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def test_a_file_is_evaluated_into_its_folder_and_nothing_is_done_again(
    trains: SmallSet, tmp_path: Path
) -> None:
    file = written(tmp_path, TWO)
    first = spantree("run", file)
    assert first.exit_code == 0, first.output
    assert [line.split()[:3] for line in first.stdout.splitlines()[1:3]] == [
        ["retrieve", "8", "0"],
        ["direct", "8", "0"],
    ]
    folder = tmp_path / "trial"
    assert (folder / "experiment.toml").read_text() == TWO
    assert f"log: {folder / 'evaluation'}" in first.stderr
    notes = read_log(folder / "evaluation").manifest.notes
    assert notes.command.startswith(f"spantree run {file} --store ")
    before = content(folder)
    again = spantree("run", file)
    assert again.stdout == first.stdout
    assert content(folder) == before


def test_it_is_the_evaluation_that_the_verb_makes(trains: SmallSet, tmp_path: Path) -> None:
    """The same samples, byte for byte in the table; the verb even goes on with the log of the file, and the other
    way round."""
    more = 'model = "simulated:recall=0.6,malformed=0.1,seed=4"\nepochs = 2\nlimit = 5\nseed = 3\n'
    filed = spantree("run", written(tmp_path, TWO + more), "--quiet")
    words = ["--program", "retrieve,direct", "--set", trains.folder, "--epochs", 2, "--limit", 5]
    words += ["--seed", 3, "--model", "simulated:recall=0.6,malformed=0.1,seed=4", "--quiet"]
    typed = spantree("eval", *map(str, words), "--out", "typed")
    assert filed.exit_code == 0
    assert filed.stdout == typed.stdout
    raw = samples(tmp_path / "trial")
    assert spantree("eval", *map(str, words), "--out", "trial/evaluation").stdout == typed.stdout
    assert samples(tmp_path / "trial") == raw


def test_out_store_json_and_quiet_are_those_of_the_verbs(trains: SmallSet, tmp_path: Path) -> None:
    file, store = written(tmp_path, RETRIEVE), tmp_path / "elsewhere"
    words = ["--out", tmp_path / "my trial", "--store", store, "--json", "--quiet"]
    result = spantree("run", file, *words)
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert (told["questions"], told["complete"]) == (8, True)
    assert told["log"] == str(tmp_path / "my trial" / "evaluation")
    assert (store / "corpora").is_dir()
    assert not (tmp_path / "trial").exists()
    [command] = {read_log(Path(told["log"])).manifest.notes.command}
    assert shlex.split(command) == ["spantree", "run", str(file), *map(str, words[:4])]


def test_paths_are_meant_from_the_file(trains: SmallSet, tmp_path: Path) -> None:
    """Also a set that could be a name, a model that is a file, and from another working directory."""
    script = {"rules": [{"reply": {"claims": [], "claim_count": 0}}]}
    written(tmp_path, json.dumps(script), "replies/none.json")
    text = RETRIEVE.replace('"set"', '"../set"') + 'model = "scripted:../replies/none.json"\n'
    file = written(tmp_path, text, "deep/trial.toml")
    told = json.loads(spantree("run", file, "--check", "--json").stdout)
    assert told["set"]["name"] == "trains"
    assert told["model"] == f"scripted:{tmp_path / 'replies' / 'none.json'}"
    os.chdir(tmp_path / "deep")
    assert (
        json.loads(spantree("run", "trial.toml", "--check", "--json").stdout)["set"] == told["set"]
    )
    os.chdir("/")
    beside = written(tmp_path, RETRIEVE, "beside.toml")
    assert spantree("run", beside, "--check").exit_code == 0
    wrong = written(tmp_path, RETRIEVE.replace('"set"', '"./sets/no"'), "wrong.toml")
    assert f"there is no question set '{tmp_path / 'sets' / 'no'}'" in refused(
        spantree("run", wrong)
    )


def test_a_set_is_built_in_the_folder_as_the_file_says(tmp_path: Path) -> None:
    text = """
    kind = "evaluation"
    program = "direct"
    split = "test"
    [set]
    family = "leaves"
    questions = 12
    seed = 5
    split = "40/20/40"
    """
    file = written(tmp_path, text)
    plan = json.loads(spantree("run", file, "--check", "--json").stdout)
    assert not (tmp_path / "trial").exists()
    result = spantree("run", file, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["question_set"], told["questions"]) == ("leaves", plan["questions"])
    header = json.loads((tmp_path / "trial/sets/leaves/set.json").read_text())
    assert header["made_by"].endswith("; seed 5; questions 12")
    before = content(tmp_path / "trial")
    assert spantree("run", file, "--json", "--quiet").stdout == result.stdout
    assert content(tmp_path / "trial") == before
    changed = written(tmp_path, text.replace("seed = 5", "seed = 6"))
    assert "set.seed: 5, now 6" in refused(spantree("run", changed))
    assert content(tmp_path / "trial") == before


def test_a_changed_file_is_refused_and_told(trains: SmallSet, tmp_path: Path) -> None:
    """gepa: a run under the same folder with another set or metric silently returned what was there."""
    file, folder = written(tmp_path, RETRIEVE), tmp_path / "trial"
    assert spantree("run", file).exit_code == 0
    before = content(folder)
    written(tmp_path, RETRIEVE + 'limit = 3\nmax_calls = 9\nmodel = "simulated:recall=0.5"\n')
    for words in ((), ("--check",)):
        told = refused(spantree("run", file, *words))
        assert f"{file} changed since the experiment in {folder} was begun:" in told
        assert "limit: nothing, now 3" in told
        assert "max_calls: nothing, now 9" in told
        assert "model: extractive, now simulated:recall=0.5" in told
        assert (
            f"next: choose another folder (--out), or take the file as it was begun: {folder}"
            in told
        )
        assert content(folder) == before
    assert spantree("run", file, "--out", tmp_path / "other").exit_code == 0
    assert len(samples(tmp_path / "other")) == 3
    written(tmp_path, RETRIEVE.replace("evaluation", "sweep") + "vary = {top_k = [2]}")
    assert "kind: evaluation, now sweep" in refused(spantree("run", file))


def test_what_means_the_same_is_no_change(trains: SmallSet, tmp_path: Path) -> None:
    """Comments, white space, order, lists for commas, defaults that are written out, and how many at a time."""
    file, folder = written(tmp_path, TWO), tmp_path / "trial"
    first = spantree("run", file)
    before = content(folder)
    same = """
    # All over again.
    set   = './set'   # beside
    program = 'retrieve,direct'
    kind = 'evaluation'
    model = "extractive"
    leaf_model = "extractive"
    epochs = 1
    max_depth = 3
    concurrency = 1
    max_errors = 3
    """
    written(tmp_path, same)
    again = spantree("run", file)
    assert again.exit_code == 0, again.output
    assert again.stdout == first.stdout
    assert content(folder) == before


def test_a_file_is_a_draft_until_something_was_measured(trains: SmallSet, tmp_path: Path) -> None:
    """What ended in a mistake can be mended in the file."""
    file = written(tmp_path, RETRIEVE.replace('"set"', '"./nowhere"'))
    assert "there is no question set" in refused(spantree("run", file))
    assert (tmp_path / "trial" / "experiment.toml").exists()
    written(tmp_path, RETRIEVE + "max_calls = 1\n")
    assert "calls: 1 is too few" in refused(spantree("run", file))
    written(tmp_path, RETRIEVE)
    assert spantree("run", file).exit_code == 0
    assert (tmp_path / "trial" / "experiment.toml").read_text() == RETRIEVE


def test_a_folder_of_something_else_is_left_alone(trains: SmallSet, tmp_path: Path) -> None:
    file = written(tmp_path, RETRIEVE)
    written(tmp_path, "mine", "trial/notes.txt")
    assert "holds files, and no experiment" in refused(spantree("run", file))
    assert content(tmp_path / "trial") == {"notes.txt": b"mine"}


def test_one_process_at_a_time(trains: SmallSet, tmp_path: Path) -> None:
    file = written(tmp_path, RETRIEVE)
    assert spantree("run", file).exit_code == 0
    with closing(locked(tmp_path / "trial", "used")):
        assert "is being used by another process" in refused(spantree("run", file))


def stopped_by(number: signal.Signals, file: Path, log: Path, least: int) -> tuple[int, str]:
    """Run a file in a process and stop it when so many samples are there: exit status, and the last line it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "spantree", "run", str(file)],
        cwd=ROOT,
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE
    while len(samples(log)) < least:
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.02)
    process.send_signal(number)
    _, complained = process.communicate(timeout=PATIENCE)
    return process.returncode, (complained.splitlines() or [""])[-1]


def test_a_stopped_experiment_does_the_rest_only(trains: SmallSet, tmp_path: Path) -> None:
    """Interrupted, then killed; the end is that of one which was never stopped."""
    slow = TWO + 'model = "simulated:recall=0.7,latency=0.1,seed=2"\nconcurrency = 2\n'
    file, folder = written(tmp_path, slow), tmp_path / "trial"
    status, told = stopped_by(signal.SIGINT, file, folder, 3)
    assert status == 130
    assert told.startswith(f"next: spantree run {file} --store ")
    first = samples(folder)
    stopped_by(signal.SIGKILL, file, folder, len(first) + 2)
    kept = [line for line in samples(folder) if line.endswith(b"\n")]
    assert kept[: len(first)] == first
    assert len(first) + 2 <= len(kept) < 16
    plan = json.loads(spantree("run", file, "--check", "--json").stdout)
    assert (plan["begun"], plan["samples"]) == (True, 16)
    resumed = spantree("run", file)
    assert resumed.exit_code == 0, resumed.output
    assert samples(folder)[: len(kept)] == kept
    whole = spantree("run", file, "--out", tmp_path / "whole")
    assert resumed.stdout == whole.stdout
    mended, other = (read_log(each / "evaluation") for each in (folder, tmp_path / "whole"))
    assert [stable(each) for each in mended.records] == [stable(each) for each in other.records]


def test_too_many_errors_exit_1_and_the_command_that_is_named_tries_again(
    trains: SmallSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: Any, **__: Any) -> Any:
        raise RuntimeError("boom")

    file = written(tmp_path, RETRIEVE + "max_errors = 2\nconcurrency = 1\n")
    with monkeypatch.context() as patch:
        patch.setattr("programs.baselines.Retrieve.work", crash)
        result = spantree("run", file)
    assert (result.exit_code, result.stdout) == (1, "")
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"next: spantree run {file} --store ")
    assert last.endswith(" --retry-errors")
    again = spantree(*shlex.split(last.removeprefix("next: spantree ")))
    assert again.exit_code == 0, again.output
    assert read_log(tmp_path / "trial" / "evaluation").errors == ()


def test_check_says_what_would_be_done_and_does_nothing(trains: SmallSet, tmp_path: Path) -> None:
    written(tmp_path, TWO + "epochs = 2\nlimit = 5\nmax_cost = 0.5\n")
    result = spantree("run", "trial.toml", "--check")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert all(cell_len(line) <= 80 for line in result.stdout.splitlines())
    told = " ".join(result.stdout.split())
    assert "an evaluation, and nothing is wrong with it" in told
    assert "program: retrieve, direct" in told
    assert "set: trains, 8 questions" in told
    assert "samples: 20: 5 questions, 2 epochs" in told
    assert "limits of a question: max_cost 0.5, max_depth 3" in told
    assert "folder: trial (not begun)" in told
    assert not Path("trial").exists()
