"""The verb `optimize`: from one command to a folder that survives kills, interrupts and other commands."""

import json
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import Result

from evals.optimization import Optimized, read_optimization
from runtime.models.scripted import read_log
from spantree.cli.optimization import optimizer_options
from tests.spantree.optimize_desk import (
    PATIENCE,
    Desk,
    desk,
    lines_of,
    rollouts_of,
    script,
    spantree,
    wait_for_rollouts,
)

COACHED = ("--optimizer", "gepa", "--reflection-model", "coach")
GEPA = ("--program", "map_reduce", *COACHED, "--objective", "balanced")
SLOW = ("--model", "pupil:latency=0.06")


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk(tmp_path_factory.mktemp("leaves"))


@pytest.fixture(scope="module")
def begun(leaves: Desk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an optimization that is not to be changed."""
    out = tmp_path_factory.mktemp("begun") / "out"
    assert leaves.optimize(out).exit_code == 0
    return out


@pytest.fixture(scope="module")
def improved(leaves: Desk, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """An optimization that found something better, and what it printed."""
    out = tmp_path_factory.mktemp("improved") / "out"
    return out, leaves.optimize(out, *GEPA)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def told(found: Optimized) -> list[Any]:
    """What an optimization came to, but for clocks."""
    return [
        [
            (each.id, each.order, each.state, each.rollouts, each.score, each.calls, each.tokens)
            for each in found.candidates
        ],
        [(each.request, each.time, each.reply) for each in found.proposals],
        found.best and found.best.id,
        found.spent,
        found.stopped,
    ]


def test_one_command_ends_in_a_table_candidates_and_a_report(
    improved: tuple[Path, Result],
) -> None:
    """Before and after with intervals, paired on both kinds of questions, in 80 columns."""
    out, result = improved
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    head = ["questions", "program", "n", "score", "verified-correct", "recall", "prec"]
    assert lines[0].split() == [*head, "calls", "tokens"]
    assert [line.split()[:3] for line in lines[1:5]] == [
        ["validation", "before", "4"],
        ["validation", "after", "4"],
        ["test", "before", "3"],
        ["test", "after", "3"],
    ]
    assert "Paired on test questions: no optimizer has seen these" in lines
    assert f"optimization: {out}" in result.stderr
    assert f"next: spantree optimize pick {out}" in result.stderr
    assert f"next: spantree bundle show {out / 'bundle'}" in result.stderr
    found = read_optimization(out)
    assert found.best is not None
    text = " ".join(result.stdout.split())
    assert f"best: {found.best.id}" in text
    assert f"{found.spent.reflection_calls} calls of the model that reflects (coach)" in text
    assert "its own end" in text or "budget spent" in text
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert found.manifest.program_name == "map_reduce"
    assert found.manifest.notes.command.startswith("spantree optimize --program map_reduce --set ")
    assert not set(found.manifest.splits.test) & {question for _, question, _ in rollouts_of(out)}


def test_the_same_command_again_asks_no_model_and_prints_the_same(
    leaves: Desk, improved: tuple[Path, Result]
) -> None:
    out, first = improved
    names = ("rollouts.jsonl", "proposals.jsonl")
    kept = [lines_of(out / name) for name in names]
    again = leaves.optimize(out, *GEPA)
    assert again.stdout == first.stdout
    assert [lines_of(out / name) for name in names] == kept


def test_a_killed_optimization_goes_on_and_ends_as_one_that_was_not(
    leaves: Desk, tmp_path: Path
) -> None:
    """No rollout and no reflection is made twice (dspy#8705: users saw GEPA begin anew)."""
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = leaves.started(killed, *GEPA, *SLOW)
    wait_for_rollouts(killed, 9)
    process.kill()
    assert process.communicate(timeout=PATIENCE)[0] == ""
    assert process.returncode == -signal.SIGKILL
    kept, asked = (lines_of(killed / name) for name in ("rollouts.jsonl", "proposals.jsonl"))
    assert read_optimization(killed).stopped == "interrupted"
    with (killed / "rollouts.jsonl").open("ab") as file:
        file.write(b'{"candidate": "c5c75')
    resumed = leaves.optimize(killed, *GEPA, *SLOW)
    assert resumed.exit_code == 0, resumed.output
    assert lines_of(killed / "rollouts.jsonl")[: len(kept)] == kept
    assert lines_of(killed / "proposals.jsonl")[: len(asked)] == asked
    made = rollouts_of(killed)
    assert len(made) == len(set(made)) > len(kept)
    leaves.optimize(whole, *GEPA, *SLOW)
    assert told(read_optimization(killed)) == told(read_optimization(whole))


def test_an_interrupt_exits_130_with_the_best_so_far_and_the_command_that_goes_on(
    leaves: Desk, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = leaves.started(out, *GEPA, *SLOW)
    wait_for_rollouts(out, 8)
    process.send_signal(signal.SIGINT)
    printed, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, complained
    assert "Traceback" not in complained
    found = read_optimization(out)
    assert found.stopped == "interrupted"
    assert found.best is not None
    assert found.best.complete
    assert found.best.id in printed
    assert "interrupted: the same command goes on" in printed
    assert (out / "report.html").exists()
    kept = lines_of(out / "rollouts.jsonl")
    last = complained.splitlines()[-1]
    assert last.startswith("next: spantree optimize --program map_reduce ")
    result = spantree(*shlex.split(last.removeprefix("next: spantree ")))
    assert result.exit_code == 0, result.output
    assert lines_of(out / "rollouts.jsonl")[: len(kept)] == kept
    made = rollouts_of(out)
    assert len(made) == len(set(made))


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["--seed", "1"], "seed: 0, now 1"),
        (["--program", "map_reduce"], "program_name: retrieve, now map_reduce"),
        (["--objective", "balanced"], "objective.name: verified_correct, now balanced"),
        (["--model", "pupil:drop=0"], "program.configuration.model: pupil, now pupil:drop=0"),
        (["--test-limit", "2"], "splits.test: 3 items, now 2 items"),
        (["--optimizer", "bootstrap-rs"], "optimizer: bootstrap, now bootstrap-rs"),
    ],
)
def test_another_optimization_in_the_same_folder_is_refused(
    begun: Path, leaves: Desk, words: list[str], where: str
) -> None:
    """GEPA's own checkpoint goes on with another program, set or seed without a word, and returns the old best."""
    kept = {each: each.read_bytes() for each in begun.rglob("*") if each.is_file()}
    refused = leaves.optimize(begun, *words)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "holds another optimization:" in refused.stderr
    assert where in refused.stderr
    assert kept == {path: path.read_bytes() for path in kept}


def test_another_set_under_the_same_folder_is_refused(begun: Path, tmp_path: Path) -> None:
    refused = desk(tmp_path / "other", 20).optimize(begun)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "question_set.version" in refused.stderr


def test_more_budget_goes_on_with_the_same_optimization(leaves: Desk, tmp_path: Path) -> None:
    small = json.loads(leaves.optimize(tmp_path / "out", *GEPA, "--json").stdout)
    kept = lines_of(tmp_path / "out" / "rollouts.jsonl")
    more = leaves.optimize(tmp_path / "out", *GEPA, "--json", "--max-metric-calls", "60")
    assert more.exit_code == 0, more.output
    found = json.loads(more.stdout)
    assert (small["budget"], found["budget"]) == (30, 60)
    assert small["rollouts"] < found["rollouts"] <= 60
    assert lines_of(tmp_path / "out" / "rollouts.jsonl")[: len(kept)] == kept


def test_the_number_of_calls_is_that_of_the_engines(leaves: Desk, tmp_path: Path) -> None:
    """GEPA's uncounted calls: reflection and feedback are counted at the engines, the test apart."""
    empty = {"claims": [], "evidence": [], "fields_found": [], "unknowns": [], "claim_count": 0}
    model, log = script(
        tmp_path / "task.json",
        {"signature": "AnalyzeLeaf", "reply": empty},
        {"signature": "Conclude", "reply": {"statements": [], "unknowns": []}},
    )
    coach, reflected = script(
        tmp_path / "coach.json", {"reply": "```\nQuote the evidence of every claim.\n```"}
    )
    result = leaves.optimize(
        tmp_path / "out",
        *("--optimizer", "gepa", "--model", model, "--reflection-model", coach, "--json"),
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    tested = sum(each["calls"] for each in found["gains"]["test"]["programs"].values())
    calls = read_log(log)
    assert found["spent"]["calls"] + tested == len(calls) > 0
    assert found["spent"]["reflection_calls"] == len(read_log(reflected)) > 0
    assert found["rollouts"] <= found["budget"] == 30
    tokens = sum(each.input_tokens + each.output_tokens for each in calls)
    spent = sum(each["tokens"] for each in found["gains"]["test"]["programs"].values())
    assert found["spent"]["tokens"] + spent == tokens
    assert (found["improved"], found["best"]["id"]) == (False, found["seed_candidate"]["id"])


def test_where_nothing_was_better_it_says_so(leaves: Desk, tmp_path: Path) -> None:
    result = leaves.optimize(tmp_path / "out", "--model", "extractive", "--objective", "correct")
    assert result.exit_code == 0, result.output
    assert "not a language model" in result.stderr
    found = read_optimization(tmp_path / "out")
    assert found.best == found.seed
    assert "nothing beat the program as it was given" in " ".join(result.stdout.split())
    assert "after" not in result.stdout.split()


def test_a_choice_of_a_program_is_part_of_it(leaves: Desk, tmp_path: Path) -> None:
    result = leaves.optimize(
        tmp_path / "out", "--program", "rlm:tools", "--model", "extractive", "--quiet", "--json"
    )
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert json.loads(result.stdout)["program"] == "rlm"
    manifest = read_optimization(tmp_path / "out").manifest
    assert manifest.program.configuration["action_space"] == "tools"
    assert "--program rlm:tools" in manifest.notes.command


def test_a_teacher_makes_the_demos(leaves: Desk, tmp_path: Path) -> None:
    """Demos come from rollouts of the teacher, which are none of the candidate's."""
    words = ("--teacher-model", "pupil:drop=0,garble=0,overcite=0,guess=0,skip=0")
    result = leaves.optimize(tmp_path / "out", *words)
    assert result.exit_code == 0, result.output
    found = read_optimization(tmp_path / "out")
    assert f"--teacher-model {words[1]}" in found.manifest.notes.command
    assert any(variation for _, _, variation in rollouts_of(tmp_path / "out"))
    assert any(each["demos"] for each in found.candidates[-1].state.values())
    refused = leaves.optimize(tmp_path / "out")
    assert refused.exit_code == 2
    assert "teacher" in refused.stderr


def test_without_out_the_same_command_finds_its_folder_again(leaves: Desk, tmp_path: Path) -> None:
    words = [
        each for each in leaves.words(tmp_path / "x") if each not in ("--out", str(tmp_path / "x"))
    ]
    assert spantree(*words, "--quiet").exit_code == 0
    [made] = (tmp_path / "optimizations").iterdir()
    assert made.name.startswith("leaves-retrieve-bootstrap-")
    kept = lines_of(made / "rollouts.jsonl")
    spantree(*words, "--quiet", "--max-metric-calls", "31")
    assert list((tmp_path / "optimizations").iterdir()) == [made]
    assert lines_of(made / "rollouts.jsonl") == kept


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--optimizer", "magic"], "there is no optimizer 'magic'"),
        (["--optimizer", "gepa"], "gepa needs a model that writes instructions"),
        (["--reflection-model", "coach"], "--reflection-model has no use with bootstrap"),
        (["--optimizer", "gepa", "--reflection-model", "magic"], "no provider is known"),
        ([*COACHED, "--teacher-model", "extractive"], "gepa takes no teacher"),
        (["--teacher-api-base", "http://127.0.0.1:1"], "has no use without a teacher"),
        (["--teacher-model", "magic"], "no provider is known"),
        (["--program", "retrieve,direct"], "--program names 2 programs"),
        (["--program", "magic"], "there is no program named 'magic'"),
        (["--objective", "magic"], "there is no objective 'magic'"),
        (["--weights", "magic=1"], "'magic' in the weights is no component"),
        (["--weights", "correct=1", "--objective", "correct"], "are both given"),
        (["--cost-weight", "1"], "this is no objective"),
        (["--threshold", "0"], "the threshold is 0"),
        (["--auto", "huge"], "there is no effort 'huge'"),
        (["--auto", "light", "--max-metric-calls", "30"], "are both given"),
        (["--max-metric-calls", "5"], "needs at least 9 metric calls"),
        (["--split-shares", "60/40"], "are not shares of train, validation, test"),
        (["--split-shares", "60/0/40"], "for a validation split"),
        (["--option", "max_rounds"], "is not NAME=VALUE"),
        (["--option", "magic=1"], "the option 'magic' of bootstrap is not one"),
        ([*COACHED, "--option", "use_wandb=true"], "the option 'use_wandb' of gepa"),
        (["--set", "no-such-set"], "there is no question set 'no-such-set'"),
        (["--max-calls", "1", "--program", "recursive"], "calls: 1 is too few"),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(
    leaves: Desk, tmp_path: Path, words: list[str], message: str
) -> None:
    result = leaves.optimize(tmp_path / "out", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_missing_or_stands_in_the_wrong_place_is_told(tmp_path: Path) -> None:
    missing = spantree("optimize", "--program", "retrieve")
    assert missing.exit_code == 2
    assert "--set, --optimizer are missing" in missing.stderr
    before = spantree("optimize", "--seed", "3", "list", tmp_path)
    assert before.exit_code == 2
    assert "--seed stands before list" in before.stderr
    shown = spantree("optimize", "--help").stdout
    assert "spantree optimize --program recursive --set mixed --optimizer gepa" in shown


def test_options_of_the_optimizer_are_json_or_texts() -> None:
    found = optimizer_options(["a=5", "b=[1, 2]", "c=pareto", 'd="5"', "e=x=y"])
    assert found == {"a": 5, "b": [1, 2], "c": "pareto", "d": "5", "e": "x=y"}
