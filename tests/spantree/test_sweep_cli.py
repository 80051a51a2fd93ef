"""The verb `sweep`: a grid from the command line to one log, a table, pictures and a page; mistakes in one message."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from evals.log import read_log
from programs.base import LEAST_LEAF
from programs.catalog import PROGRAMS
from runtime.errors import SandboxError
from spantree.cli.app import build
from spantree.cli.evaluation import Evaluation
from spantree.cli.parameters import PARAMETERS, applied, checked, parsed
from spantree.cli.settings import LEAST, Settings
from spantree.cli.sweeping import Sweep, carry_out
from tests.evals.small_set import SmallSet, small_set

LEAVES = ("--vary", "leaf_characters=2000,4000")
GRID = (*LEAVES, "--vary", "top_k=2,12")


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trains(tmp_path: Path) -> SmallSet:
    return small_set(tmp_path, 6)


def spantree(*words: str | Path) -> Result:
    """Run the command line; a bug is raised."""
    return CliRunner().invoke(build(), [str(word) for word in words], catch_exceptions=False)


def sweep(trains: SmallSet, out: Path, *words: str | Path) -> Result:
    program = () if "--program" in words else ("--program", "retrieve")
    return spantree(
        "sweep", "--set", trains.folder, "--out", out, "--store", trains.store, *program, *words
    )


def loaded(trains: SmallSet, out: Path, *words: str | Path) -> Any:
    result = sweep(trains, out, *words, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> tuple[SmallSet, Path, Any]:
    """A set, the log of a sweep over it, and what the sweep said as JSON."""
    folder = tmp_path_factory.mktemp("grid")
    trains = small_set(folder, 6)
    words = (*GRID, "--quality", "verified_correct")
    return trains, folder / "log", loaded(trains, folder / "log", *words)


def refused(trains: SmallSet, tmp_path: Path, *words: str) -> str:
    """What a mistake is told as: one message with a hint, exit status 2, and nothing is written."""
    out = tmp_path / "refused"
    result = sweep(trains, out, *words)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert not out.exists()
    return result.stderr


def test_a_grid_is_one_log_with_the_default(grid: tuple[SmallSet, Path, Any]) -> None:
    _, log, told = grid
    assert [each["name"] for each in told["trials"]] == [
        "retrieve",
        "retrieve[leaf_characters=2000,top_k=2]",
        "retrieve[leaf_characters=2000,top_k=12]",
        "retrieve[leaf_characters=4000,top_k=2]",
        "retrieve[leaf_characters=4000,top_k=12]",
    ]
    assert told["trials"][1]["choices"] == {"leaf_characters": 2000, "top_k": 2}
    assert read_log(log).manifest.total == 30


def test_the_same_command_asks_nobody_and_its_table_fits_80_columns(
    grid: tuple[SmallSet, Path, Any],
) -> None:
    """And the table says what its numbers are."""
    trains, log, _ = grid
    before = (log / "samples.jsonl").read_bytes()
    result = sweep(trains, log, *GRID)
    assert result.exit_code == 0, result.output
    assert (log / "samples.jsonl").read_bytes() == before
    lines = result.stdout.splitlines()
    assert lines[0] == "0  retrieve, the default"
    assert lines[4] == "4  leaf_characters=4000, top_k=12"
    start = next(at for at, line in enumerate(lines) if line.startswith("#"))
    assert lines[start].split() == [
        "#", "recall", "prec", "verified", "calls", "tokens", "sec", "recall", "against", "0", "best",
    ]  # fmt: skip
    assert all(cell_len(line) <= 80 for line in lines[start : start + 12])
    assert "evidence recall against tokens:" in result.stdout
    assert "partly by chance" in result.stdout
    assert f"report: {log / 'sweep.html'}" in result.stdout


def test_pictures_and_a_page_lie_beside_the_log(grid: tuple[SmallSet, Path, Any]) -> None:
    _, log, told = grid
    assert Path(told["report"]).read_text(encoding="utf-8").count("<svg") == 3
    for cost in ("tokens", "calls", "seconds"):
        assert (log / f"front-{cost}.svg").read_text().startswith("<svg")


def test_json_has_everything_that_the_table_has(grid: tuple[SmallSet, Path, Any]) -> None:
    _, _, told = grid
    assert told["quality"] == "verified_correct"
    assert told["split"] is None
    assert len(told["verdicts"]) == 3
    trial = told["trials"][1]
    assert set(trial["fronts"]) == {"tokens", "calls", "seconds"}
    gain = trial["gains"]["evidence_recall"]
    assert {"delta", "low", "high", "pairs", "p", "p_holm"} <= set(gain)


def test_a_random_search_draws_from_the_grid_by_its_seed(trains: SmallSet, tmp_path: Path) -> None:
    words = (
        "--vary",
        "leaf_characters=2000,3000,4000,5000",
        "--vary",
        "top_k=1,2",
        "--random",
        "3",
    )

    def drawn(out: str, seed: str) -> list[str]:
        told = loaded(trains, tmp_path / out, *words, "--limit", "1", "--seed", seed)
        return [each["name"] for each in told["trials"]]

    one = drawn("one", "1")
    assert len(set(one)) == 4
    assert one != drawn("other", "2")


def test_another_sweep_in_the_same_folder_is_refused(grid: tuple[SmallSet, Path, Any]) -> None:
    trains, log, _ = grid
    for words in (LEAVES, (*GRID, "--seed", "1")):
        result = sweep(trains, log, *words, "--quiet")
        assert result.exit_code == 2
        assert "another evaluation" in result.stderr


def test_the_command_that_goes_on_is_the_one_that_was_given(
    trains: SmallSet, tmp_path: Path
) -> None:
    """It is noted in the log, and it is a command that this program takes."""
    words = (*LEAVES, "--vary", "leaf_model=extractive,simulated:recall=0.5,seed=3", "--limit", "1")
    loaded(trains, tmp_path / "log", *words, "--random", "2", "--quality", "verified_correct")
    noted = shlex.split(read_log(tmp_path / "log").manifest.notes.command)
    assert noted[:2] == ["spantree", "sweep"]
    assert noted[-4:] == [*LEAVES, "--vary", words[3]]
    before = (tmp_path / "log" / "samples.jsonl").read_bytes()
    assert spantree(*noted[1:], "--quiet").exit_code == 0
    assert (tmp_path / "log" / "samples.jsonl").read_bytes() == before


def test_calls_at_the_same_time_save_seconds_where_a_model_takes_time(
    trains: SmallSet, tmp_path: Path
) -> None:
    """Concurrency changes no answer: every metric but the seconds is the same."""
    told = loaded(
        trains,
        tmp_path / "log",
        *("--program", "map_reduce", "--limit", "2", "--vary", "in_flight=1,4"),
        *("--leaf-model", "simulated:latency=0.01"),
    )
    means = [each["means"] for each in told["trials"]]
    for name in ("evidence_recall", "calls", "tokens"):
        assert len({each[name]["mean"] for each in means}) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--vary", "leaf=1"), "there is no parameter named 'leaf'"),
        (("--vary", "depth=1,2"), "depth has no use with the program retrieve"),
        (("--vary", "window=900"), "window has no use with the program retrieve"),
        (("--vary", "top_k=many"), "top_k=many: a whole number is needed"),
        (("--vary", "top_k=0"), "top_k=0: it must be at least 1"),
        (
            ("--vary", "leaf_characters=100"),
            f"leaf_characters=100: it must be at least {LEAST_LEAF}",
        ),
        (("--vary", "partition=pages"), "partition=pages: there is no partitioner named 'pages'"),
        (("--vary", "top_k"), "--vary top_k names no values"),
        (("--vary", "top_k="), "an empty value"),
        (("--vary", "top_k=1", "--vary", "top_k=2"), "--vary names top_k twice"),
        (("--vary", "top_k=12"), "every configuration is the default"),
        (("--vary", "leaf_model=nonsense"), "nonsense"),
        ((*LEAVES, "--program", "retrieve,direct"), "a sweep varies one program"),
        ((*LEAVES, "--program", "retriever"), "there is no program named 'retriever'"),
        ((*LEAVES, "--quality", "beauty"), "there is no quality named 'beauty'"),
        ((*LEAVES, "--split", "holdout"), "there is no split 'holdout'"),
        (
            ("--vary", "top_k=" + ",".join(map(str, range(1, 300)))),
            "the grid has 299 configurations",
        ),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(
    trains: SmallSet, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    assert told in refused(trains, tmp_path, *words)


def test_names_of_models_may_have_commas() -> None:
    """A weakness belongs to the model before it."""
    text = "leaf_model=extractive,simulated:recall=0.95,half_length=24000,latency=0.02,openai/x"
    assert parsed([text], "recursive") == {
        "leaf_model": (
            "extractive",
            "simulated:recall=0.95,half_length=24000,latency=0.02",
            "openai/x",
        )
    }


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_taken_by_some_program_and_recorded(name: str) -> None:
    """What is chosen is in the configuration of the program that is made, so that no two are taken for one."""
    samples: dict[str, Any] = {
        "model": "simulated:recall=0.5",
        "leaf_model": "simulated:recall=0.5",
        "refine": "on_failure",
        "action_space": "repl",
        "sandbox": "deno",
        "partition": "size",
    }
    for program in PARAMETERS[name].takers:
        assert program in PROGRAMS
        base = Settings(program=program, action_space="repl" if name == "sandbox" else None)
        value = samples.get(name, 1_500)
        assert checked(name, [value], program) == (value,)
        configured = []
        for settings in (base, applied(base, {name: value})):
            try:
                made: Any = settings.build(settings.models(), None, None)
            except SandboxError:
                pytest.skip("Deno is not installed")
            configured.append(made.configuration(made.limits))
        assert configured[0] != configured[1]


def test_the_model_of_all_calls_is_that_of_the_leaves_unless_they_have_one() -> None:
    both = applied(Settings(), {"model": "simulated"})
    assert (both.model, both.leaf_model) == ("simulated", "simulated")
    apart = applied(Settings(leaf_model="simulated:seed=1"), {"model": "simulated"})
    assert (apart.model, apart.leaf_model) == ("simulated", "simulated:seed=1")
    leaf_last = applied(Settings(), {"leaf_model": "simulated:seed=2", "model": "simulated"})
    assert (leaf_last.model, leaf_last.leaf_model) == ("simulated", "simulated:seed=2")


def test_the_least_leaf_is_that_of_the_programs() -> None:
    assert LEAST["leaf_characters"] == LEAST_LEAF


def test_a_sweep_is_data_that_can_be_carried_out(
    trains: SmallSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command line makes of its words can be made from anywhere else."""
    evaluation = Evaluation(
        programs="retrieve",
        common=Settings(),
        question_set=str(trains.folder),
        out=tmp_path / "log",
        epochs=1,
        limit=2,
        split="test",
        seed=0,
        concurrency=1,
        max_errors="10%",
        retries=0,
        retry_errors=False,
        store=trains.store,
        json=True,
        quiet=True,
    )
    assert carry_out(Sweep(evaluation, {"leaf_characters": (2_000,)})) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["split"] == "test"
    assert [each["number"] for each in told["trials"]] == [0, 1]


def test_a_leaf_size_can_be_chosen_for_eval_and_ask(trains: SmallSet, tmp_path: Path) -> None:
    words = ("--program", "retrieve", "--leaf-characters", "2000", "--limit", "1", "--quiet")
    result = spantree(
        "eval", "--set", trains.folder, "--store", trains.store, "--out", tmp_path / "log", *words
    )
    assert result.exit_code == 0, result.output
    manifest = read_log(tmp_path / "log").manifest
    assert manifest.programs["retrieve"].configuration["leaf_characters"] == 2_000
    assert "--leaf-characters 2000" in manifest.notes.command
    question = 'By how many minutes is "train 1 is" late?'
    file = trains.folder / "corpora" / "trains" / "monday.log"
    asked = spantree("ask", question, file, "--leaf-characters", "100", "--store", trains.store)
    assert asked.exit_code == 2
    assert "--leaf-characters is 100: it must be at least 1200" in asked.stderr


def test_help_has_examples_and_fits() -> None:
    shown = spantree("sweep", "--help").stdout
    assert "spantree sweep --set mixed --vary depth=1,2 --vary leaf_characters" in shown
    assert all(name in shown for name in PARAMETERS)
    assert [line for line in shown.splitlines() if cell_len(line) > 80] == []
