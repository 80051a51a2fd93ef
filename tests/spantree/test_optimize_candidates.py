"""The verbs of an optimization that is there: its candidates are listed, picked and reported."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from evals.optimization import Optimized, read_optimization
from programs.bundles import read_bundle
from spantree.cli.progress import Lines, Watcher, best_words, spent_words
from tests.spantree.optimize_desk import Desk, desk, lines_of, spantree

GEPA = ("--optimizer", "gepa", "--reflection-model", "coach", "--objective", "balanced")


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk(tmp_path_factory.mktemp("leaves"))


@pytest.fixture(scope="module")
def out(leaves: Desk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an optimization with several candidates, the best of which is not the first."""
    folder = tmp_path_factory.mktemp("optimized") / "out"
    result = leaves.optimize(folder, *GEPA, "--program", "map_reduce", "--max-metric-calls", "40")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def found(out: Path) -> Optimized:
    optimized = read_optimization(out)
    assert len(optimized.candidates) > 1
    assert optimized.best != optimized.seed
    return optimized


def test_all_candidates_are_listed_the_best_first(out: Path, found: Optimized) -> None:
    result = spantree("optimize", "list", out)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    assert lines[0].split()[:3] == ["id", "n", "score"]
    assert found.best is not None
    assert found.best.id[:8] in lines[1]
    assert all(any(each.id[:8] in line for line in lines) for each in found.candidates)
    incomplete = next(each for each in found.candidates if not each.complete)
    assert any(f"{incomplete.validated}/4" in line for line in lines)


def test_the_list_as_json_says_which_are_on_which_front(out: Path, found: Optimized) -> None:
    told = json.loads(spantree("optimize", "list", out, "--json").stdout)
    assert (told["best"], told["as_given"]) == (
        found.best and found.best.id,
        found.seed and found.seed.id,
    )
    assert {each["id"] for each in told["candidates"]} == {each.id for each in found.candidates}
    by_id = {each["id"]: each for each in told["candidates"]}
    assert {"calls", "tokens"} <= set(by_id[told["best"]]["on_front"])
    assert all(not each["on_front"] for each in told["candidates"] if not each["complete"])
    assert by_id[told["best"]]["scores"].keys() >= {"correct", "evidence_recall", "coverage"}


def test_the_best_is_picked_and_becomes_a_bundle(
    out: Path, found: Optimized, tmp_path: Path
) -> None:
    result = spantree("optimize", "pick", out, "--out", tmp_path / "bundle")
    assert result.exit_code == 0, result.output
    assert found.best is not None
    assert f"Candidate {found.best.id}" in result.stdout
    assert "the best score" in result.stdout
    bundle = read_bundle(tmp_path / "bundle")
    assert bundle.state == found.best.state
    assert bundle.facts.program == "map_reduce"
    again = spantree("optimize", "pick", out, "--out", tmp_path / "bundle")
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_a_named_candidate_is_picked(out: Path, found: Optimized, tmp_path: Path) -> None:
    assert found.seed is not None
    result = spantree(
        *("optimize", "pick", out, "--candidate", found.seed.id[:6], "--json"),
        *("--out", tmp_path / "bundle"),
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["candidate"]["id"] == found.seed.id
    assert told["bundle"] == str(tmp_path / "bundle")
    assert read_bundle(tmp_path / "bundle").state == found.seed.state


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--candidate", "zzz"], "there is no candidate 'zzz'"),
        (["--candidate", ""], "candidates begin with ''"),
        (["--candidate", "0", "--within", "0.1"], "a candidate is named, and others are described"),
        (["--objective", "magic"], "there is no objective 'magic'"),
        (["--by", "magic"], "there is no cost 'magic'"),
        (["--max-calls", "0.1"], "no candidate stays within 0.1 calls a question"),
        (["--objective", "supported"], "supported is undefined for every candidate"),
    ],
)
def test_a_pick_that_cannot_be_is_told_and_writes_nothing(
    out: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    result = spantree("optimize", "pick", out, "--out", tmp_path / "bundle", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize("verb", ["list", "pick", "report"])
def test_a_folder_of_something_else_is_told(tmp_path: Path, verb: str) -> None:
    result = spantree("optimize", verb, tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"there is no optimization in {tmp_path}" in result.stderr


def test_a_bundle_is_optimized_further(
    leaves: Desk, out: Path, found: Optimized, tmp_path: Path
) -> None:
    spantree("optimize", "pick", out, "--out", tmp_path / "bundle")
    words = leaves.words(tmp_path / "next", "--bundle", tmp_path / "bundle")
    at = words.index("--program")
    result = spantree(*words[:at], *words[at + 2 :], "--quiet")
    assert result.exit_code == 0, result.output
    later = read_optimization(tmp_path / "next")
    assert later.seed is not None
    assert found.best is not None
    assert later.seed.id == found.best.id
    both = spantree(*words)
    assert both.exit_code == 2
    assert "a program and a bundle are both given" in both.stderr


def test_the_report_is_one_file_that_reaches_nothing(out: Path, tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    result = spantree("optimize", "report", out, "--out", place)
    assert result.exit_code == 0, result.output
    assert f"report: {place}" in result.stderr
    page = place.read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in page
    assert "<script" not in page
    assert page.count("<svg") == 3
    assert "<ins>" in page
    assert page == (out / "report.html").read_text(encoding="utf-8")
    lost = spantree("optimize", "report", out, "--out", place / "report.html")
    assert lost.exit_code == 2
    assert "cannot be written" in lost.stderr


def test_what_a_text_says_is_no_markup_of_the_report(out: Path, tmp_path: Path) -> None:
    """Feedback injection: what corpora and models say is escaped on the page, too."""
    copied = tmp_path / "copied"
    copied.mkdir()
    for path in out.rglob("*"):
        target = copied / path.relative_to(out)
        if path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    rows = [json.loads(line) for line in lines_of(copied / "proposals.jsonl")]
    rows[0] |= {"prompt": "</pre><script>alert(1)</script>", "reply": "<img src=x onerror=y>\u202e"}
    text = "".join(json.dumps(each) + "\n" for each in rows)
    (copied / "proposals.jsonl").write_text(text, encoding="utf-8")
    assert spantree("optimize", "report", copied).exit_code == 0
    page = (copied / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<img" not in page
    assert "\u202e" not in page


def test_progress_has_the_phase_the_scores_and_what_everything_used() -> None:
    """Calls and cost of the model that reflects are in it; an unknown price is not 0."""
    from io import StringIO

    from evals.optimization import Moment, Spent

    moment = Moment(
        phase="search",
        rollouts=12,
        budget=60,
        candidates=3,
        seed_score=0.25,
        best=0.5,
        spent=Spent(40, 5, 61_000, 2_000, None),
    )
    assert best_words(moment) == "3 candidates, score 0.250 → 0.500"
    assert spent_words(moment) == "40 calls + 5 reflecting, 63k tokens, cost not known"
    stream, clock = StringIO(), iter([0.0, 5.0, 6.0, 20.0])
    watching = Lines(stream, clock=lambda: next(clock))
    for each in (moment, moment, replace(moment, phase="test", tested=2, to_test=8)):
        watching.optimized(each)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("search: 12/60, 3 candidates, score 0.250 → 0.500, 40 calls + 5")
    assert lines[1:] == ["test: 2/8, 3 candidates, score 0.250 → 0.500"]
    Watcher().optimized(moment)
