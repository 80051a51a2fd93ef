"""The verb `bundle`: what a bundle is and what an optimizer changed, told to people and to programs."""

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from programs import Recursive
from programs.bundle_files import write_files
from programs.bundles import Origin, read_bundle, save_bundle
from runtime.limits import Limits
from runtime.models.make import make_lm
from spantree.cli.app import build

REPORT = {
    "before": {"n": 60, "verified_correct": 0.5, "interval": [0.41, 0.59]},
    "after": {"n": 60, "verified_correct": 0.71234, "interval": [0.62, 0.8], "calls": 1234.5},
}
ORIGIN = Origin(
    optimizer="gepa",
    options={"max_metric_calls": 100},
    objective={"name": "verified_correct", "weights": {"correct": 1.0}},
    set_name="mixed",
    set_version="0" * 16,
    corpora={"a": "1" * 16},
    splits={"train": ("q1", "q2"), "validation": ("q3",), "test": ("q4",)},
    seed=7,
    reports={"validation": {"verified_correct": 0.75}, "test": REPORT},
    parent="2" * 16,
)
DEMO = {"question": "Rain? \x1b[31m[bold]" + "x" * 500, "claims": [], "claim_count": 0}


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A bundle of a program that has learned nothing."""
    program = Recursive(lm=make_lm("extractive"))
    return save_bundle(program, "recursive", tmp_path / "plain").folder


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """A bundle of one that has."""
    limits = Limits(calls=40)
    program = Recursive(lm=make_lm("extractive"), refine="on_change", limits=limits)
    conclude: Any = program.conclude
    lines = conclude.signature.instructions.splitlines()
    text = "\n".join([*lines[:-1], "Be brief, " + "very " * 40 + "brief.", lines[-1]])
    conclude.signature = conclude.signature.with_instructions(text)
    reader: Any = program.analyze_leaf
    reader.demos = [dspy.Example(DEMO)]
    settings = {"refine": "on_change"}
    place = tmp_path / "taught"
    return save_bundle(program, "recursive", place, origin=ORIGIN, settings=settings).folder


def bundle(*words: str | Path) -> Result:
    """Run `spantree bundle`; a bug is raised, and a page fits its width and moves no cursor."""
    result = CliRunner().invoke(build(), ["bundle", *map(str, words)], catch_exceptions=False)
    if "--json" not in words and result.exit_code == 0:
        whole = [line for line in result.stdout.splitlines() if "folder: " not in line]
        assert all(cell_len(line.rstrip()) <= 80 for line in whole)
        assert "\x1b" not in result.stdout
    return result


def loaded(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_what_a_bundle_is_can_be_read(taught: Path) -> None:
    text = bundle("show", taught).stdout
    for told in (
        f"bundle {read_bundle(taught).id}: recursive 1",
        "options: refine on_change",
        "model: extractive",
        "limits: calls 40",
        "optimizer: gepa (max_metric_calls 100)",
        "objective: name verified_correct, weights (correct 1)",
        "set: mixed, version 0000000000000000, 1 corpus",
        "splits: train 2, validation 1, test 1",
        f"parent: {'2' * 16}",
        "what is installed here can load it",
        "analyze_leaf: 12 lines of instructions, 1 demo",
    ):
        assert told in text


def test_what_was_measured_is_a_table(taught: Path) -> None:
    lines = [line.split() for line in bundle("show", taught).stdout.splitlines()]
    assert ["validation", "value"] in lines
    assert ["test", "before", "after"] in lines
    assert ["verified_correct", "0.5", "0.712"] in lines
    assert ["calls", "1,234"] in lines


def test_a_bundle_without_an_origin_is_shown_too(plain: Path) -> None:
    text = bundle("show", plain).stdout
    assert "optimizer" not in text
    assert "set:" not in text


def test_json_has_everything(taught: Path) -> None:
    found = loaded(bundle("show", taught, "--json"))
    made = read_bundle(taught)
    assert found["id"] == made.id
    assert found["misfits"] == []
    assert found["origin"]["reports"]["test"] == REPORT
    assert found["state"] == dict(made.state)


@pytest.mark.parametrize("changed", [{"program_version": 99}, {"program": "gone"}])
def test_one_that_does_not_fit_is_shown_with_the_reason(
    taught: Path, changed: dict[str, Any]
) -> None:
    made = read_bundle(taught)
    write_files(taught, made.facts.model_copy(update=changed), made.state)
    result = bundle("show", taught)
    assert result.exit_code == 0
    assert "Does not fit" in result.stdout
    assert "99" in result.stdout or "'gone'" in result.stdout
    assert loaded(bundle("show", taught, "--json"))["misfits"]


def test_the_diff_of_a_bundle_is_what_it_changed_of_its_program(taught: Path) -> None:
    text = bundle("diff", taught).stdout
    assert "what it changed of recursive" in text
    assert "\nconclude\n" in text
    assert "\n  + Be brief, very" in text
    assert "\n  + demo: question: Rain?" in text
    assert "plan" not in text
    assert not [line for line in text.splitlines() if line.startswith("  - ")]
    found = loaded(bundle("diff", taught, "--json"))["predictors"]
    reader, conclude = ({e["predictor"]: e for e in found}[n] for n in ("analyze_leaf", "conclude"))
    assert len(found) == 2
    added = [line for line in conclude["instructions"] if line[0] == "+"]
    assert [line[:10] for line in added] == ["+Be brief,"]
    assert reader["demos_added"] == [{**DEMO}]
    assert (reader["demos_removed"], reader["what"]) == ([], "changed")


def test_the_diff_of_two_bundles_goes_from_the_first_to_the_second(
    plain: Path, taught: Path
) -> None:
    forward, back = bundle("diff", plain, taught).stdout, bundle("diff", taught, plain).stdout
    assert "options: none → refine on_change" in forward
    assert "seed: 7 → none" in back
    assert "  + demo: " in forward
    assert "  - demo: " in back
    found = loaded(bundle("diff", plain, taught, "--json"))
    assert (found["before"], found["after"]) == (read_bundle(plain).id, read_bundle(taught).id)


def test_the_same_is_told_as_the_same(plain: Path) -> None:
    assert "instructions and demos are the same" in bundle("diff", plain, plain).stdout
    assert loaded(bundle("diff", plain, "--json"))["predictors"] == []


@pytest.mark.parametrize("verb", ["show", "diff"])
def test_a_mistake_is_one_message(verb: str, taught: Path) -> None:
    (taught / "program.json").write_text("{}")
    for name, reason in (("nowhere", "no bundle 'nowhere'"), (taught, "was changed")):
        result = bundle(verb, name)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert reason in result.stderr
        assert "next: " in result.stderr


def test_every_verb_has_help_with_an_example() -> None:
    for words in ((), ("show",), ("diff",)):
        text = bundle(*words, "--help").stdout
        assert "Example" in text
        assert "spantree bundle " in text
