"""`compare`, `gate` and `report` at the command line: what they print, write, and end with."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from spantree.cli.app import build
from tests.evals.duel import ERROR, duel, numbered
from tests.evals.report.hostile import Evaluated, hostile

COLUMNS = ["metric", "before", "after", "diff", "interval", "p", "Holm", "n"]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def typed(*words: object, status: int = 0) -> Result:
    result = CliRunner().invoke(build(), [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result


@pytest.fixture
def log(tmp_path: Path) -> Path:
    told = {
        "direct": numbered(*[1] * 6, *[0] * 6, 1, None),
        "auto": numbered(*[1] * 5, *[0] * 3, *[1] * 4, ERROR, 1),
    }
    return duel(tmp_path / "today", told).folder


def test_programs_of_one_log_are_compared(log: Path) -> None:
    lines = typed("compare", log).stdout.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    assert lines[0] == "auto: against direct"
    assert lines[1].replace("95 % interval", "interval").split() == COLUMNS
    verified = next(line for line in lines if line.startswith("verified correct"))
    assert verified.split()[2:5] == ["0.50", "0.75", "+0.25"]
    assert "  - better on 4: q008, q009, q010, q011" in lines
    assert "  - worse on 1: q005" in lines
    assert "  - no pair in verified_correct: 1 undefined, 1 ended in an error" in lines
    assert "Regret of auto" in lines


def test_the_baseline_can_be_chosen_and_the_flips_shortened(log: Path) -> None:
    text = typed("compare", log, "--baseline", "auto", "--flips", "2").stdout
    assert "direct: against auto" in text
    assert "worse on 4: q008, q009, and 2 more" in text


def test_json_has_every_metric_and_every_flip(log: Path) -> None:
    found: Any = json.loads(typed("compare", log, "--json").stdout)
    (comparison,) = found["comparisons"]
    verified = comparison["differences"][0]
    assert verified["measure"] == "verified_correct"
    assert verified["gained"] == ["q008", "q009", "q010", "q011"]
    assert verified["failed"] == ["q012"]
    assert {"calls", "unsupported"} <= {each["measure"] for each in comparison["differences"]}
    assert found["regret"][0]["mean"] == pytest.approx(1 / 13, abs=0.08)
    assert found["logs"][0]["errors"] == 1


def test_two_logs_say_what_they_differ_in(log: Path, tmp_path: Path) -> None:
    other = duel(tmp_path / "other", {"direct": numbered(*[1] * 14)}).folder
    text = typed("compare", other, log, "--program", "direct").stdout
    assert "direct (today): against direct (other)" in text
    assert "differ in" in " ".join(text.split())
    assert "programs.auto.type: nothing, now T" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["compare", "LOG", "--program", "direct"], "nothing to hold direct against"),
        (["compare", "LOG", "--metric", "goodness"], "there is no metric 'goodness'"),
        (["compare", "LOG", "--baseline", "rlm"], "there is no program rlm"),
        (["compare", "nowhere"], "there is no evaluation log in nowhere"),
        (["gate", "LOG", "--baseline", "LOG", "--margin", "0.1"], "a log is named twice"),
        (["report", "LOG", "--out", "/nowhere/x.html"], "cannot be written"),
    ],
)
def test_mistakes_are_told_in_one_message(log: Path, words: list[str], told: str) -> None:
    result = typed(*[log if word == "LOG" else word for word in words], status=2)
    assert told in result.stderr
    assert "next: " in result.stderr


def test_errors_of_some_epochs_are_told_by_sample(tmp_path: Path) -> None:
    told: dict[str, dict[str, Any]] = {
        "a": {f"q{at}": [1, 1] for at in range(9)},
        "b": {f"q{at}": [1, ERROR] for at in range(9)},
    }
    log = duel(tmp_path / "log", told).folder
    text = " ".join(typed("compare", log).stdout.split())
    assert "samples that ended in an error: 0 before, 9 after; 9 pairs rest on the epochs" in text
    assert "no pair in" not in text
    found: Any = json.loads(typed("compare", log, "--json").stdout)
    assert found["comparisons"][0]["differences"][0]["errors"] == [0, 9]


def test_logs_that_were_scored_with_another_tau_are_refused(log: Path, tmp_path: Path) -> None:
    other = duel(tmp_path / "other", {"direct": numbered(*[1] * 14)}, tau=0.9).folder
    for words in (
        ("compare", log, other),
        ("gate", log, "--baseline", other, "--margin", 0.1, "--program", "direct"),
    ):
        result = typed(*words, status=2)
        assert "not computed alike" in result.stderr
        assert "next: spantree rescore" in " ".join(result.stderr.split())


def test_a_gate_passes_fails_or_does_not_know(tmp_path: Path) -> None:
    """Exit 0 pass, 1 fail, 3 inconclusive."""
    base = duel(tmp_path / "base", {"direct": numbered(*[1, 0] * 50)}).folder
    better = duel(tmp_path / "better", {"direct": numbered(*[1, 0] * 30, *[1] * 40)}).folder
    worse = duel(tmp_path / "worse", {"direct": numbered(*[0] * 80, *[1, 0] * 10)}).folder
    unclear = duel(tmp_path / "unclear", {"direct": numbered(*[1, 0, 0, 1] * 25)}).folder
    for log, verdict, status in (
        (better, "pass", 0),
        (worse, "fail", 1),
        (unclear, "inconclusive", 3),
    ):
        words = ("gate", log, "--baseline", base, "--metric", "verified_correct", "--margin", 0.02)
        lines = typed(*words, status=status).stdout.splitlines()
        assert lines[0].startswith(f"{verdict}: direct ({log.name}) against direct (base)")
        assert all(cell_len(line) <= 80 for line in lines)
        found = json.loads(typed(*words, "--json", status=status).stdout)
        assert found["verdict"] == verdict


def test_the_gravest_of_several_programs_decides(tmp_path: Path) -> None:
    both = [1, 0] * 50
    base = duel(tmp_path / "base", {"a": numbered(*both), "b": numbered(*both)}).folder
    told = {"a": numbered(*both), "b": numbered(*[0] * 100)}
    branch = duel(tmp_path / "branch", told).folder
    typed("gate", branch, "--baseline", base, "--margin", 0.1, status=1)
    typed("gate", branch, "--baseline", base, "--margin", 0.1, "--program", "a")


def test_a_program_without_a_counterpart_is_a_mistake_and_no_pass(tmp_path: Path) -> None:
    base = duel(tmp_path / "base", {"a": numbered(1, 1), "b": numbered(1, 1)}).folder
    branch = duel(tmp_path / "branch", {"c": numbered(1, 1)}).folder
    result = typed("gate", branch, "--baseline", base, "--margin", 0.1, status=2)
    assert "has no c" in result.stderr
    words = ("gate", branch, "--baseline", base, "--margin", 0.1, "--baseline-program", "a")
    assert typed(*words).stdout.startswith("pass: c against a")


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    return hostile(tmp_path_factory.mktemp("hostile"))


def test_a_report_is_one_file_from_the_log_alone(evaluated: Evaluated, tmp_path: Path) -> None:
    """The set is found where the evaluation had it."""
    out = tmp_path / "report.html"
    words = ("report", evaluated.log.folder, "--out", out, "--store", evaluated.store)
    result = typed(*words)
    assert result.stdout == ""
    assert f"40 samples in {out}".replace("\n", "") in result.stderr.replace("\n", "")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert out.read_text(encoding="utf-8") == evaluated.html()
    typed(*words, "--set", evaluated.folder, "--program", "direct", "--quiet")
    assert 'id="s8"' in out.read_text(encoding="utf-8")
    assert 'id="s9"' not in out.read_text(encoding="utf-8")
