"""The programs at the command line: which there are, which one answers, and what is shown of how it did."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

import spantree as package
from programs.catalog import PROGRAMS, takers
from runtime.journal import RunRecord
from spantree.cli.app import build
from spantree.cli.flags import OPTIONS
from spantree.cli.settings import Settings

TEXT = "07:00 train 4 on time\n07:10 train 5 late\n07:20 train 6 late\n"


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "monday.log"
    path.write_text(TEXT, encoding="utf-8")
    return path


def typed(*words: str | Path) -> Result:
    result = CliRunner().invoke(build(), [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert all(cell_len(line) <= 80 for line in result.stdout.splitlines() if '"' not in line)
    return result


def loaded(*words: str | Path) -> Any:
    return json.loads(typed(*words, "--json").stdout)


def test_the_programs_are_listed_with_a_line_each() -> None:
    """Every program has a name, and says what it does and what to use it for."""
    lines = typed("programs").stdout.splitlines()
    assert lines[0].split() == ["program", "use", "it", "for"]
    assert [line.split()[0] for line in lines[1:]] == list(PROGRAMS)
    assert "…" not in "".join(lines)
    told = {each["name"]: each for each in loaded("programs")}
    assert list(told) == ["auto", "recursive", "rlm", "direct", "cot", "retrieve", "map_reduce",
                          "plan_execute", "react"]  # fmt: skip
    assert all(each["does"] and each["use_for"] for each in told.values())
    assert told["rlm"]["options"] == ["--action-space", "--sandbox", "--max-turns",
                                      "--leaf-characters"]  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_answers_through_one_command(name: str, log: Path) -> None:
    """Every program is chosen with one option, and its answer says which one it was."""
    answer = loaded("ask", "Which train was on time?", log, "--quiet", "--program", name)
    assert answer["outcome"] == "answered"
    assert answer["program"] == (name if name != "auto" else "direct")
    assert bool(answer["route"]) == (name == "auto")
    cited = [each for claim in answer["claims"] for each in claim["citations"]]
    assert {each["line_start"] for each in cited} == {1}
    assert loaded("runs")[0]["record"]["program"] == name


def test_every_program_is_a_public_name() -> None:
    assert {entry.type for entry in PROGRAMS.values()} <= set(package.__all__)


def test_every_option_is_taken_by_some_program() -> None:
    assert all(takers(option) for option in OPTIONS)


CHOSEN: list[dict[str, Any]] = [
    {"program": "auto", "refine": "on_failure", "window": 900, "top_k": 3},
    {"program": "recursive", "refine": "never"},
    {"program": "rlm", "action_space": "repl", "sandbox": "monty", "max_turns": 7},
    {"program": "rlm", "action_space": "tools", "max_turns": 5},
    {"program": "cot", "window": 800},
    {"program": "retrieve", "top_k": 2, "leaf_characters": 2_000},
    {"program": "react", "max_turns": 6},
    {"program": "map_reduce"},
]


@pytest.mark.parametrize("chosen", CHOSEN, ids=lambda chosen: chosen["program"])
def test_a_resumed_run_gets_the_options_it_began_with(chosen: dict[str, Any], log: Path) -> None:
    flags = [word for name, value in chosen.items() if name != "program"
             for word in (OPTIONS[name], str(value))]  # fmt: skip
    question = "Which train was on time?"
    typed("ask", question, log, "--quiet", "--program", chosen["program"], *flags)
    record = RunRecord.model_validate(loaded("runs")[0]["record"])
    settings = Settings.of(record)
    assert {name: getattr(settings, name) for name in chosen} == chosen
    settings.check()


def test_the_page_says_which_program_answered_and_why(log: Path) -> None:
    shown = typed("ask", "Which train was on time?", log, "--quiet").stdout
    assert "\nanswered by direct: " in shown
    asked = typed("ask", "Which train was on time?", log, "--quiet", "--program", "direct").stdout
    assert "answered by" not in asked


def test_show_tells_the_route_with_its_reason(log: Path) -> None:
    answer = loaded("ask", 'How many lines mention "late"?', log, "--quiet")
    shown = typed("show", "last").stdout
    assert "  program   auto 1\n" in shown
    assert "  route     recursive: all of the text is needed (count)" in shown
    assert "Trajectory" not in shown
    told = loaded("show", "last")
    assert told["route"]["program"] == answer["program"] == "recursive"
    assert told["route"]["reason"] == answer["route"]
    assert not told["route"]["asked_model"]
    assert any(each.startswith("count: ") for each in told["route"]["signals"])
    assert told["trajectory"] == []


@pytest.mark.parametrize("words", [("rlm",), ("rlm", "--action-space", "repl"), ("react",)])
def test_show_tells_what_a_model_that_drives_did(words: tuple[str, ...], log: Path) -> None:
    """The trajectory is in the journal, and visible."""
    typed("ask", "Which train was on time?", log, "--quiet", "--program", *words)
    shown = typed("show", "last").stdout
    assert "\nTrajectory\n  root 1: " in shown
    moves = loaded("show", "last")["trajectory"]
    assert moves[-1]["tool"] == "submit"
    assert all(move["status"] == "completed" and move["result"] for move in moves)
    assert [move["turn"] for move in moves] == sorted(move["turn"] for move in moves)
    assert sum(move["read_characters"] for move in moves) > 0
    assert f"{moves[0]['tool']}(" in shown
    assert loaded("show", "last")["route"] is None


def test_an_interrupted_run_of_auto_is_resumed_by_its_name(log: Path, tmp_path: Path) -> None:
    script = tmp_path / "refused.json"
    script.write_text('{"rules": [{"error": "auth"}]}', encoding="utf-8")
    words = ["ask", "Which train was on time?", str(log), "--model", f"scripted:{script}"]
    assert CliRunner().invoke(build(), words).exit_code == 2
    assert loaded("show", "last")["route"]["program"] == "direct"
    script.write_text('{"rules": [{"reply": "Nothing."}]}', encoding="utf-8")
    resumed = CliRunner().invoke(build(), ["resume", "last", "--quiet", "--json"])
    assert json.loads(resumed.stdout)["program"] == "direct"
    assert json.loads(resumed.stdout)["outcome"] == "failed"
