"""Experiment files of the other kinds, a sweep and an optimization, and the files that ship."""

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from evals.optimization import read_optimization
from spantree.cli.experiment import Experiment
from spantree.cli.experiment_keys import KEYS, SetKeys
from tests.evals.small_set import small_set
from tests.spantree.optimize_desk import PATIENCE, lines_of, wait_for_rollouts
from tests.spantree.run_file_desk import content, refused, spantree, written

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "experiments").glob("*.toml"))
SWEEP = """
kind = "sweep"
program = "retrieve"
set = "set"

[vary]
top_k = [2, 12]
"""
OPTIMIZATION = """
kind = "optimization"
program = "map_reduce"
model = "pupil"
optimizer = "gepa"
reflection_model = "coach"
objective = "balanced"
max_metric_calls = 30
train_limit = 6
validation_limit = 4
test_limit = 3

[set]
family = "leaves"
questions = 24
"""


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


def test_a_sweep_from_a_file(tmp_path: Path) -> None:
    small_set(tmp_path, 6)
    file = written(tmp_path, SWEEP)
    plan = json.loads(spantree("run", file, "--check", "--json").stdout)
    assert (plan["kind"], plan["configurations"], plan["samples"]) == ("sweep", 3, 18)
    assert plan["vary"] == {"top_k": [2, 12]}
    result = spantree("run", file, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    names = [each["name"] for each in json.loads(result.stdout)["trials"]]
    assert names[:2] == ["retrieve", "retrieve[top_k=2]"]
    folder = tmp_path / "trial" / "sweep"
    assert (folder / "sweep.html").exists()
    raw = lines_of(folder / "samples.jsonl")
    assert spantree("run", file, "--quiet").exit_code == 0
    assert lines_of(folder / "samples.jsonl") == raw
    written(tmp_path, SWEEP.replace("12", "20"))
    assert "vary.top_k: [2, 12], now [2, 20]" in refused(spantree("run", file))


def test_an_optimization_from_a_file_goes_on_after_a_kill(tmp_path: Path) -> None:
    slow = OPTIMIZATION.replace('"pupil"', '"pupil:latency=0.03"')
    file, out = written(tmp_path, slow), tmp_path / "trial" / "optimization"
    told = " ".join(spantree("run", file, "--check").stdout.split())
    assert "an optimization, and nothing is wrong with it" in told
    assert "set: leaves, 24 questions" in told
    assert "questions: train 6, validation 4, test 3" in told
    assert "optimizer: gepa, instructions by coach" in told
    assert "budget: 30 metric calls" in told
    process = subprocess.Popen(
        [sys.executable, "-m", "spantree", "run", str(file)],
        cwd=ROOT,
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_rollouts(out, 6)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)
    kept = lines_of(out / "rollouts.jsonl")
    written(tmp_path, slow.replace("24", "32"))
    assert "set.questions: 24, now 32" in refused(spantree("run", file))
    written(tmp_path, slow)
    result = spantree("run", file)
    assert result.exit_code == 0, result.output
    assert lines_of(out / "rollouts.jsonl")[: len(kept)] == kept
    found = read_optimization(out)
    assert found.manifest.budget == 30
    assert found.rollouts <= 30
    assert found.manifest.notes.command.startswith(f"spantree run {file}")
    before = content(out)["rollouts.jsonl"]
    again = spantree("run", file)
    assert again.stdout == result.stdout
    assert content(out)["rollouts.jsonl"] == before
    written(tmp_path, slow.replace("max_metric_calls = 30", "max_metric_calls = 36"))
    more = spantree("run", file)
    assert more.exit_code == 0, more.output
    assert read_optimization(out).manifest.budget == 36
    check_bundle(tmp_path, out)


def check_bundle(folder: Path, out: Path) -> None:
    """The best candidate as a bundle, evaluated by its path beside the file."""
    small_set(folder, 2)
    assert spantree("optimize", "pick", out, "--out", folder / "better").exit_code == 0
    text = 'kind = "evaluation"\nset = "set"\nprogram = ["map_reduce", "bundle:better"]'
    file = written(folder, f'{text}\nmodel = "pupil"', "compared.toml")
    result = spantree("run", file, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    first, other = (each["program"] for each in json.loads(result.stdout)["programs"])
    assert first == "map_reduce"
    assert other.startswith("map_reduce@")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which shipped sets are built once."""
    return tmp_path_factory.mktemp("store")


@pytest.mark.parametrize("file", SHIPPED, ids=lambda each: each.stem)
def test_a_file_that_ships_can_be_run(file: Path, store: Path, tmp_path: Path) -> None:
    """Here, unless its model is not here."""
    words = ("--check", "--json", "--out", tmp_path / "out", "--store", store)
    result = spantree("run", file, *words)
    if "local/" in file.read_text() and (find_spec("xllamacpp") is None or result.exit_code):
        assert "local" in refused(result) or "the model" in refused(result)
        return
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    assert plan["begun"] is False
    if file.stem.startswith("mixed-"):
        assert (plan["questions"], plan["samples"]) == (319, 3190)
    if file.stem.startswith("samples-"):
        assert (plan["questions"], plan["samples"]) == (32, 320)
    if plan["kind"] == "optimization":
        assert plan["splits"]["test"] >= 60


def test_files_ship() -> None:
    assert len(SHIPPED) >= 7
    assert {Experiment.read(each).kind for each in SHIPPED} == set(KEYS)


def test_every_key_is_documented() -> None:
    told = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    for keys in (*KEYS.values(), SetKeys):
        names = {each.alias or name for name, each in keys.model_fields.items()}
        assert not {name for name in names if f"`{name}`" not in told}
    for file in SHIPPED:
        assert f"`{file.name}`" in told
