"""`rescore --judge` at the command line: the rate of unsupported statements, who says so, and what it cost."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from evals.judge import Judge
from evals.log import read_log
from runtime.models.make import make_lm
from spantree.cli.app import build
from tests.evals.small_set import SmallSet, evaluated, small_set


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trains(tmp_path: Path) -> SmallSet:
    return small_set(tmp_path)


@pytest.fixture
def log(trains: SmallSet, tmp_path: Path) -> Path:
    return evaluated(trains, tmp_path / "log").folder


def typed(trains: SmallSet, *words: object, status: int = 0) -> Result:
    given = [str(word) for word in ("rescore", *words, "--set", trains.folder)]
    result = CliRunner().invoke(build(), given, catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result


def script(folder: Path, *verdicts: str) -> str:
    """The name of a judge that gives these verdicts in turn, and then has no more."""
    path = folder / "judge.json"
    replies = [{"reply": {"reason": "Because.", "verdict": each}} for each in verdicts]
    path.write_text(json.dumps({"replies": replies}), encoding="utf-8")
    return f"scripted:{path}"


def test_the_rate_is_printed_with_what_is_unjudged_and_a_caveat(
    trains: SmallSet, log: Path, tmp_path: Path
) -> None:
    judge = script(tmp_path, "unsupported", *["supported"] * 4, "unclear")
    found = typed(trains, log, "--judge", judge)
    assert "told: unsupported 0.20, 1 of 5 judged statements; 1 unjudged" in found.stdout
    assert f"judged by spantree/{judge}, version " in found.stdout
    assert "was not measured" in found.stdout
    assert "judge, apart from the programs: 6 calls, " in found.stderr
    assert ", cost $0" in found.stderr
    assert "verdicts: supported 4, unclear 1, unsupported 1" in found.stderr
    assert "18" in found.stdout.splitlines()[1], "the calls of the program, and not the judge's"
    named = read_log(log).judge
    assert named is not None
    assert named.model == f"spantree/{judge}"


def test_a_second_time_no_call_is_made(trains: SmallSet, log: Path, tmp_path: Path) -> None:
    """The script would have no more replies. The same table is printed, byte for byte."""
    judge = script(tmp_path, *["supported"] * 6)
    first = typed(trains, log, "--judge", judge)
    again = typed(trains, log, "--judge", judge)
    assert again.stdout == first.stdout
    assert "judge, apart from the programs: 0 calls, 0 tokens" in again.stderr
    assert "6 different statements, 6 judged earlier" in again.stderr
    assert (log / "verdicts.db").exists()
    elsewhere = tmp_path / "kept" / "verdicts.db"
    typed(trains, log, "--judge", judge, "--judge-cache", elsewhere)
    third: Any = json.loads(
        typed(
            trains,
            *(log, "--judge", judge, "--judge-cache", elsewhere, "--max-calls", 0),
            *("--json", "--quiet"),
        ).stdout
    )
    assert third["judging"]["spent"]["calls"] == 0
    assert third["judging"]["cached"] == 6
    assert third["judge"]["model"] == f"spantree/{judge}"
    assert third["programs"][0]["support"]["judged"] == 6


def test_the_embedded_judge_is_told_to_be_weak(trains: SmallSet, log: Path) -> None:
    found = typed(trains, log, "--judge", "extractive").stdout
    version = Judge(make_lm("extractive")).version
    assert f"judged by spantree/extractive, version {version}" in found
    assert "agreement with people is weak: kappa 0.05" in found
    assert "0.60" in found


def test_a_judge_can_be_asked_for_a_likelihood(trains: SmallSet, log: Path, tmp_path: Path) -> None:
    """With another threshold nobody is asked again; the log knows by which one it was judged."""
    path = tmp_path / "judge.json"
    shares = (0.2, 0.55, 0.9, 0.9, 0.9, 0.9)
    told = [{"reply": "no", "likelihoods": {"yes": each, "no": 1 - each}} for each in shares]
    path.write_text(json.dumps({"replies": told}), encoding="utf-8")
    judged = ("--judge", f"scripted:{path}", "--judge-by", "likelihood")
    found = typed(trains, log, *judged)
    assert "unsupported 0.17, 1 of 6 judged statements; 0 unjudged" in found.stdout
    assert ", by a likelihood of 0.5:" in " ".join(found.stdout.split())
    again = typed(trains, log, *judged, "--judge-threshold", 0.6)
    assert "unsupported 0.33, 2 of 6 judged statements" in again.stdout
    assert "judge, apart from the programs: 0 calls, 0 tokens" in again.stderr
    named = read_log(log).judge
    assert named is not None
    assert named.threshold == 0.6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--judge", "extractive", "--judge-by", "votes"), "by 'votes'"),
        (("--judge", "extractive", "--judge-threshold", 0.4), "has no threshold"),
        (("--judge", "extractive", "--judge-by", "likelihood"), "how likely its words are"),
        (("--judge-by", "likelihood"), "--judge-by: of no use"),
        (("--judge-threshold", 0.4), "--judge-threshold: of no use"),
    ],
)
def test_a_way_of_asking_that_is_none(
    trains: SmallSet, log: Path, words: tuple[object, ...], said: str
) -> None:
    found = typed(trains, log, *words, status=2)
    assert said in " ".join(found.stderr.split())
    assert "next: " in found.stderr
    assert not (log / "scores.jsonl").exists()


def test_limits_are_those_of_the_judge(trains: SmallSet, log: Path, tmp_path: Path) -> None:
    judge = script(tmp_path, *["supported"] * 6)
    found = typed(trains, log, "--judge", judge, "--max-calls", 2, "--concurrency", 1)
    assert "0 of 2 judged statements; 4 unjudged" in found.stdout
    assert "different statements without a verdict: LimitReached 4" in found.stderr


def test_a_judge_that_is_no_model_is_a_mistake(trains: SmallSet, log: Path) -> None:
    found = typed(trains, log, "--judge", "no-such-model", status=2)
    assert "error: " in found.stderr
    assert "no-such-model" in found.stderr
    assert "next: " in found.stderr
    assert not (log / "scores.jsonl").exists()
    assert not (log / "verdicts.db").exists()


def test_options_of_a_judge_need_one(trains: SmallSet, log: Path, tmp_path: Path) -> None:
    for option in (("--judge-cache", tmp_path / "x.db"), ("--max-calls", 3), ("--concurrency", 2)):
        found = typed(trains, log, *option, status=2)
        assert str(option[0]) in found.stderr
        assert "--judge MODEL" in found.stderr
    negative = typed(trains, log, "--judge", "extractive", "--max-calls", "-1", status=2)
    assert "--max-calls is -1" in negative.stderr
    cache = typed(trains, log, "--judge", "extractive", "--judge-cache", tmp_path, status=2)
    assert "cannot be kept" in cache.stderr


def test_without_a_judge_there_is_no_word_of_one(
    trains: SmallSet, log: Path, tmp_path: Path
) -> None:
    """And a judge's verdicts are gone again."""
    plain = typed(trains, log)
    assert "judged" not in plain.stdout + plain.stderr
    typed(trains, log, "--judge", script(tmp_path, *["supported"] * 6))
    assert typed(trains, log).stdout == plain.stdout
    assert read_log(log).judge is None


def test_the_report_shows_the_rate_with_its_judge(
    trains: SmallSet, log: Path, tmp_path: Path
) -> None:
    typed(trains, log, "--judge", script(tmp_path, "unsupported", *["supported"] * 4, "unclear"))
    page = tmp_path / "report.html"
    words = ["report", str(log), "--set", str(trains.folder), "--out", str(page)]
    result = CliRunner().invoke(build(), words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "5 judged" in text
    assert "1 unjudged" in text
    assert "log: unsupported statements are judged by spantree/scripted" in text


def test_eval_judges_nothing_and_says_who_does() -> None:
    told = CliRunner().invoke(build(), ["eval", "--help"]).stdout
    assert "spantree rescore --judge" in " ".join(told.split())
