"""The verb `sets` over real sets: built, listed, checked, shown; mistakes exit 2 with a hint."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from spantree.cli.app import build


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def sets(*words: str | Path) -> Result:
    """Run `spantree sets`; a bug is raised."""
    return CliRunner().invoke(build(), ["sets", *map(str, words)], catch_exceptions=False)


def fits(result: Result) -> bool:
    return all(cell_len(line.rstrip()) <= 80 for line in result.stdout.splitlines())


def loaded(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def needles(tmp_path: Path) -> Path:
    """A small set on the disk."""
    folder = tmp_path / "needles"
    made = sets("build", "needles", "--questions", "6", "--characters", "8000", "--out", folder)
    assert made.exit_code == 0, made.output
    return folder


def test_what_is_built_is_told(tmp_path: Path) -> None:
    command = ["build", "conflicts", "--questions", "4", "--seed", "7", "--out", tmp_path / "set"]
    result = sets(*command)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.startswith("set: conflicts 1; seed 7; questions 4\n  4 questions")
    assert "kinds: conflict 4" in result.stdout
    found = loaded(sets(*command, "--replace", "--json"))
    assert found["questions"] == 4
    assert found["kinds"] == {"conflict": 4}
    assert len(found["version"]) == 16


def test_a_family_is_built_into_the_store_and_found_there_by_name() -> None:
    assert sets("build", "pairwise", "--questions", "4", "--parquet").exit_code == 0
    assert sets("build", "pairwise", "--questions", "2").exit_code == 0
    assert loaded(sets("show", "pairwise", "--json"))["questions"] == 2
    names = [each["name"] for each in loaded(sets("list", "--json"))["sets"]]
    assert names == ["samples", "mixed", "pairwise"]


def test_sets_families_and_importers_are_listed() -> None:
    result = sets("list")
    assert result.exit_code == 0
    assert fits(result)
    assert "…" not in result.stdout
    for name in ("samples", "mixed", "needles", "aggregation", "pairwise", "hotpotqa", "loghub"):
        assert name in result.stdout


def test_a_set_is_shown_and_a_question_with_its_gold(needles: Path) -> None:
    result = sets("show", needles)
    assert result.exit_code == 0
    assert "6 questions, 6 answerable; 1 corpus" in result.stdout
    first = json.loads((needles / "questions.jsonl").read_text().splitlines()[0])
    question = sets("show", needles, first["id"])
    assert question.exit_code == 0
    assert fits(question)
    span = first["gold"][0][0][0]
    assert f"{span['source']}:{span['start']}-{span['end']}" in question.stdout
    assert loaded(sets("show", needles, first["id"], "--json")) == first


def test_a_sound_set_passes_the_linter(needles: Path) -> None:
    result = sets("lint", needles)
    assert (result.exit_code, result.stdout) == (0, "needles: 6 questions checked, no fault\n")
    assert loaded(sets("lint", needles, "--json"))["problems"] == []


def test_broken_gold_is_refused(needles: Path) -> None:
    path = needles / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["gold"][0][0][0]["start"] += 1
    rows[1]["id"] = rows[2]["id"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = sets("lint", needles)
    assert result.exit_code == 1
    assert result.stdout.startswith("needles: 2 faults in 6 questions")
    assert f"{rows[0]['id']}: quote: " in result.stdout
    assert f"{rows[2]['id']}: duplicate_id: " in result.stdout
    problems = sets("lint", needles, "--json")
    assert problems.exit_code == 1
    assert {each["code"] for each in json.loads(problems.stdout)["problems"]} == {
        "quote",
        "duplicate_id",
    }


def test_a_corpus_that_was_changed_is_refused(needles: Path) -> None:
    corpus = next((needles / "corpora").rglob("*.md"))
    corpus.write_text(corpus.read_text() + "One more line.\n")
    result = sets("lint", needles)
    assert result.exit_code == 1
    assert "corpus_changed" in result.stdout


def test_text_of_a_corpus_cannot_move_the_cursor(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.log").write_text("\x1b[31mengine\x1b[2J[bold]\nplain\n\n" * 9)
    folder = tmp_path / "set"
    assert sets("build", "aggregation", "--over", own, "--out", folder).exit_code == 0
    shown = sets("show", folder, "own-000")
    assert shown.exit_code == 0
    assert "\x1b" not in shown.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["build", "nothing"], "there is no family of questions 'nothing'"),
        (["build", "needles", "--split", "1/2"], "not shares"),
        (["build", "needles", "--over", "nowhere"], "no such path: nowhere"),
        (["build", "pairwise", "--over", "."], "--over has no use with pairwise"),
        (["build", "hotpotqa"], "nothing says from where"),
        (["build", "needles", "--from", "x"], "--from has no use with needles"),
        (["show", "nothing"], "there is no question set 'nothing'"),
        (["lint", "nothing"], "there is no question set 'nothing'"),
        (["show", "samples", "no-such-id"], "the set samples has no question 'no-such-id'"),
    ],
)
def test_a_mistake_exits_2_with_a_hint(words: list[str], what: str) -> None:
    result = sets(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"error: {what}" in result.stderr or what in result.stderr
    assert "\nnext: " in result.stderr


def test_a_size_that_is_too_small_is_refused() -> None:
    assert sets("build", "needles", "--characters", "10").exit_code == 2


@pytest.mark.parametrize("verb", [(), ("build",), ("list",), ("lint",), ("show",)])
def test_help_has_an_example(verb: tuple[str, ...]) -> None:
    result = sets(*verb, "--help")
    assert result.exit_code == 0
    assert "spantree sets" in result.stdout.partition("Example")[2]
    assert fits(result)
