"""A bundle in the place of a program: asked, resumed and evaluated at the command line."""

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from typer.testing import CliRunner, Result

from data.corpus import Corpus, open_corpus
from data.samples import samples_path
from programs import Progress, Recursive, Retrieve
from programs.bundles import load, read_bundle, save_bundle
from runtime.errors import RunError
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.make import make_lm
from spantree.cli.app import build
from spantree.cli.settings import Settings

QUESTION = "How long are audit logs kept?"
TEXT = samples_path("minutes")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A bundle of a program with a demo, its own options and limits."""
    program = Retrieve(k=5, lm=make_lm("extractive"), limits=Limits(calls=30, depth=5))
    program.conclude.demos = [dspy.Example(question="Q", statements=[], statement_count=0)]
    return save_bundle(program, "retrieve", tmp_path / "b", settings={"top_k": 5}).folder


def spantree(*words: str | Path) -> Result:
    return CliRunner().invoke(build(), [str(each) for each in words], catch_exceptions=False)


def run_of(result: Result, store: Path) -> Any:
    assert result.exit_code == 0, result.output
    with Journal.open(store / "runs.db") as journal:
        return journal.run(json.loads(result.stdout)["run_id"]).record


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_a_bundle_answers_as_it_is(place: Path, store: Path) -> None:
    """By its program, its options, its model and its limits."""
    record = run_of(
        spantree("ask", QUESTION, TEXT, "--bundle", place, "--json", "--store", store), store
    )
    assert (record.program, record.config["k"], record.config["model"]) == (
        "retrieve",
        5,
        "extractive",
    )
    assert (record.config["limits"]["calls"], record.config["limits"]["depth"]) == (30, 5)
    assert record.config["bundle"] == read_bundle(place).id
    again = Settings.of(record)
    made: Any = again.build(again.models(), None, None)
    assert made.bundle == read_bundle(place).id
    assert len(made.conclude.demos) == 1


def test_limits_narrow_those_of_the_bundle(place: Path, store: Path) -> None:
    words = ("--max-calls", "10", "--max-tokens", "90000", "--json", "--store", store)
    record = run_of(spantree("ask", QUESTION, TEXT, "--bundle", place, *words), store)
    limits = record.config["limits"]
    assert (limits["calls"], limits["tokens"], limits["depth"]) == (10, 90_000, 5)


def test_another_model_takes_the_place_of_that_of_the_bundle(place: Path, store: Path) -> None:
    words = ("--model", "simulated", "--json", "--store", store)
    record = run_of(spantree("ask", QUESTION, TEXT, "--bundle", place, *words), store)
    assert record.config["model"] == record.config["leaf_model"] == "simulated"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--top-k", "3"), "--top-k has no use with --bundle"),
        (("--partition", "size"), "--partition has no use with --bundle"),
        (("--program", "recursive"), "--program names recursive"),
    ],
)
def test_what_contradicts_the_bundle_is_refused(
    place: Path, words: tuple[str, ...], reason: str
) -> None:
    result = spantree("ask", QUESTION, TEXT, "--bundle", place, *words)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_bundle_that_is_not_there_is_told_before_anything_is_read() -> None:
    result = spantree("ask", QUESTION, "no-such-path", "--bundle", "nowhere")
    assert result.exit_code == 2
    assert "no bundle 'nowhere'" in result.stderr


@pytest.mark.parametrize("verb", ["ask", "eval"])
def test_one_that_does_not_fit_or_was_changed_is_refused_with_one_message(
    place: Path, store: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Another minor version of DSPy, a file that was touched: exit 2, the reason, nothing asked."""
    words = {"ask": (QUESTION, TEXT), "eval": ("--set", "samples")}[verb]

    def refusal() -> str:
        result = CliRunner().invoke(
            build(), [str(e) for e in (verb, *words, "--bundle", place, "--store", store)]
        )
        assert (result.exit_code, result.stdout) == (2, "")
        return result.stderr

    with monkeypatch.context() as patched:
        patched.setattr("programs.bundles.versions", lambda: {"dspy": "3.9.0"})
        assert "it was made with DSPy 3.4.1, and this is 3.9.0" in refusal()
    state = place / "program.json"
    state.write_text(state.read_text(encoding="utf-8").replace("Q", "R"), encoding="utf-8")
    assert "program.json" in refusal()


def test_programs_and_bundles_are_evaluated_side_by_side(place: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = ("--set", "samples", "--limit", "1", "--json", "--out", log)
    result = spantree("eval", "--program", "retrieve", "--bundle", place, *words)
    assert result.exit_code == 0, result.output
    name = f"retrieve@{read_bundle(place).id[:8]}"
    assert [each["program"] for each in json.loads(result.stdout)["programs"]] == ["retrieve", name]
    manifest = json.loads((log / "manifest.json").read_text())
    before, after = manifest["programs"].values()
    assert before["state"] != after["state"]
    alone = spantree("eval", "--bundle", place, *words[:-1], tmp_path / "alone")
    assert [each["program"] for each in json.loads(alone.stdout)["programs"]] == [name]
    twice = spantree("eval", "--bundle", f"{place},{place}", *words)
    assert twice.exit_code == 2
    assert "more than once" in twice.stderr


@pytest.fixture
def minutes(tmp_path: Path) -> Corpus:
    return open_corpus([TEXT], store=tmp_path / "store")


def test_a_run_is_resumed_with_the_bundle_that_began_it(tmp_path: Path, minutes: Corpus) -> None:
    """With other instructions or demos, an answer would be half of one program and half of another."""
    place = save_bundle(Recursive(lm=make_lm("extractive")), "recursive", tmp_path / "b").folder
    journal = Journal.open(tmp_path / "runs.db")

    def stop(moment: Progress) -> None:
        if moment.phase == "analyze" and moment.done == 1:
            raise KeyError("stopped")

    with pytest.raises(KeyError):
        load(place, journal=journal, progress=stop)(question=QUESTION, corpus=minutes)
    (begun,) = journal.runs(1)
    run_id = begun.record.run_id
    plain = Recursive(lm=make_lm("extractive"), journal=journal)
    with pytest.raises(RunError, match=f"begun with the bundle {read_bundle(place).id}.*no bundle"):
        plain.resume(run_id, minutes)
    answer = load(place, journal=journal).resume(run_id, minutes).answer
    assert answer.run_id == run_id
    assert answer.claims


def test_a_bundle_that_is_made_from_another_names_it(tmp_path: Path) -> None:
    first = save_bundle(Recursive(), "recursive", tmp_path / "first")
    second = save_bundle(load(tmp_path / "first"), "recursive", tmp_path / "second")
    assert second.facts.origin.parent == first.id
