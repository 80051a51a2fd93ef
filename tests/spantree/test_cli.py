"""The verbs, over real files, with the embedded reader."""

import json
import os
from pathlib import Path
from typing import Any

import dspy
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from spantree.cli.app import build

QUESTION = 'How many lines mention "late"?'
TEXT = "07:00 train 4 on time\n07:10 train 5 late\n07:20 train 6 late\n"


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def trains(tmp_path: Path) -> Path:
    """A folder with one log."""
    folder = tmp_path / "trains"
    folder.mkdir()
    (folder / "monday.log").write_text(TEXT, encoding="utf-8")
    return folder


def spantree(*words: str | Path, stdin: str | bytes | None = None) -> Result:
    """Run the command line; a bug is raised."""
    return CliRunner().invoke(
        build(), [str(word) for word in words], input=stdin, catch_exceptions=False
    )


def loaded(result: Result) -> Any:
    """The one JSON value on standard output."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def store() -> Path:
    """The store of this test."""
    return Path(os.environ["SPANTREE_STORE"])


def fits(result: Result) -> bool:
    """Whether every line fits 80 columns."""
    return all(cell_len(line) <= 80 for line in result.stdout.splitlines())


def test_ask_prints_statements_sources_coverage_and_receipt(trains: Path) -> None:
    result = spantree("ask", QUESTION, trains)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "Answer"
    assert "[1][2]" in lines[1]
    assert '  [1] monday.log:2  "07:10 train 5 late"' in lines
    assert '  [2] monday.log:3  "07:20 train 6 late"' in lines
    assert "Coverage" in lines
    assert any(line.startswith("extractive · ") and "no cost" in line for line in lines)
    assert result.stderr == (
        "model: extractive, the embedded lexical reader; not a language model (choose one: --model)\n"
    )
    assert fits(result)


def test_ask_json_is_one_object_and_quiet_leaves_standard_error_empty(trains: Path) -> None:
    result = spantree("ask", QUESTION, trains, "--json", "--quiet")
    answer = loaded(result)
    assert result.stderr == ""
    assert answer["value"] == 2
    assert answer["outcome"] == "answered"
    assert {
        citation["verified"] for claim in answer["claims"] for citation in claim["citations"]
    } == {True}
    assert answer["coverage"]["completed"] == answer["coverage"]["required"] == 1
    assert answer["receipt"]["model"] == "extractive"


def test_no_trace_of_the_prompts_is_kept(trains: Path) -> None:
    """DSPy's trace would hold the text of every prompt."""
    with dspy.context(trace=[]):
        assert spantree("ask", QUESTION, trains).exit_code == 0
        assert dspy.settings.trace == []


@pytest.mark.parametrize(
    ("expression", "message"),
    [(r"/(a)\1/", "backreferences are not supported"), ("/[/", "missing ]"), ("/a(?=b)/", "look")],
)
def test_an_expression_in_the_question_that_is_not_valid_is_a_mistake(
    trains: Path, expression: str, message: str
) -> None:
    result = spantree("ask", f"How many lines match {expression}?", trains)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert list(store().iterdir()) == []


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many lines match /train [45]$|on time/?", 1),
        ("How many lines match /TRAIN 4/i?", 1),
        ('How many lines do not mention "late"?', 1),
        ('How many lines mention "train" but not "late"?', 1),
        ('How many lines mention neither "4" nor "5"?', 1),
        ("How many lines do not mention train 6?", 2),
        ('How many files mention "late"?', [{"label": "monday.log", "count": 2}]),
        ("有多少行没有提到“late”？", 1),
    ],
)
def test_what_the_question_demands_of_a_line_is_counted(
    trains: Path, question: str, value: object
) -> None:
    assert loaded(spantree("ask", question, trains, "--json"))["value"] == value


def test_the_end_of_a_long_path_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "a" / ("deep-" * 12)
    folder.mkdir(parents=True)
    for name in ("one.log", "two.log"):
        (folder / name).write_text(TEXT, encoding="utf-8")
    (tmp_path / "a" / "c.txt").write_text("c", encoding="utf-8")
    result = spantree("corpus", tmp_path / "a", "--partitions")
    assert fits(result)
    for name in ("/one.log ", "/two.log "):
        assert result.stdout.count(name) == 2


def test_json_keeps_chinese_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "会议.md").write_text("决定：发布推迟到四月一日。\n", encoding="utf-8")
    result = spantree("ask", '有多少行提到 "推迟"？', tmp_path / "会议.md", "--json")
    assert "会议.md" in result.stdout
    assert "决定：发布推迟到四月一日。" in result.stdout
    assert loaded(result)["value"] == 1


def test_what_is_absent_is_a_result(trains: Path) -> None:
    result = spantree("ask", 'Is there any line that mentions "derailed"?', trains)
    assert result.exit_code == 0
    assert result.stdout.startswith("Not found: ")
    assert 'searched every line of 1 source for "derailed": 0 lines' in result.stdout


def test_standard_input_is_a_corpus(trains: Path) -> None:
    answer = loaded(spantree("ask", QUESTION, "-", "--json", stdin=TEXT))
    assert answer["value"] == 2
    assert answer["claims"][0]["citations"][0]["source"] == "stdin"


def test_text_of_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "evil.log"
    log.write_bytes(
        b"07:00 late \x1b]0;owned\x07 [red]x[/red] \x1b[2J \xe2\x80\xae\n" + b"07:10 on time\n" * 20
    )
    result = spantree("ask", QUESTION, log)
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\x07" not in result.output
    assert "[red]x[/red]" in result.stdout


def test_show_stack_goes_to_standard_error(trains: Path) -> None:
    result = spantree("ask", QUESTION, trains, "--json", "--quiet", "--show-stack")
    assert loaded(result)["value"] == 2
    assert result.stderr.startswith("Stack: ")
    assert "[x] s1 scan" in result.stderr


def test_corpus_lists_sources_and_why_some_were_not_read(trains: Path) -> None:
    (trains / "map.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (trains / "a-very-long-name-of-a-file-that-does-not-fit-into-the-table-at-all.log").write_text(
        "x\n"
    )
    (trains / "会议纪要.md").write_text("# 决定\n四月\n", encoding="utf-8")
    result = spantree("corpus", trains, "--partitions")
    assert result.exit_code == 0
    assert fits(result)
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["source", "type", "encoding", "lines", "characters", "parts", "status"]
    assert any(row[:1] == ["monday.log"] and row[-1] == "ok" for row in rows)
    assert "  - map.png: skipped: " in result.stdout
    assert "4 sources, 6 lines" in result.stdout


def test_corpus_json(trains: Path) -> None:
    corpus = loaded(spantree("corpus", trains, "--json", "--partitions"))
    assert [source["id"] for source in corpus["sources"]] == ["monday.log"]
    assert corpus["sources"][0]["lines"] == 3
    assert corpus["partition_count"] == len(corpus["partitions"]) == 1
    assert corpus["partitions"][0]["end"] == len(TEXT)
    assert loaded(spantree("corpus", trains, "--json"))["version"] == corpus["version"]
    assert not (store() / "runs.db").exists()


def test_runs_lists_the_newest_first_and_looking_creates_nothing(trains: Path) -> None:
    assert "no runs" in spantree("runs").stdout
    assert loaded(spantree("runs", "--json")) == []
    assert not (store() / "runs.db").exists()
    spantree("ask", QUESTION, trains)
    spantree("ask", 'Is there any line that mentions "derailed"?', trains)
    result = spantree("runs")
    assert fits(result)
    header, first, second = result.stdout.splitlines()
    assert header.split() == ["run", "state", "calls", "question"]
    assert "not found" in first
    assert "answered" in second
    assert [run["outcome"] for run in loaded(spantree("runs", "--json", "--limit", "1"))] == [
        "not_found"
    ]


def test_show_tells_stack_refinements_calls_and_receipt(trains: Path) -> None:
    """Checklist 89 to 94."""
    asked = loaded(spantree("ask", QUESTION, trains, "--json"))
    result = spantree("show", "last")
    assert result.exit_code == 0
    assert fits(result)
    for heading in ("Run 2", "Stack: 3 of 3 steps, 100 %", "Refinements", "Calls", "Answer"):
        assert heading in result.stdout
    assert "root after s1: keep: " in result.stdout
    run = loaded(spantree("show", "last", "--json"))
    assert [step["status"] for step in run["steps"]] == ["completed"] * 3
    assert run["progress"]["percent"] == 100
    assert run["answer"] == asked
    assert spantree("show", run["record"]["run_id"]).stdout == result.stdout


def test_resume_of_a_finished_run_prints_its_answer_and_says_so(trains: Path) -> None:
    asked = spantree("ask", QUESTION, trains, "--json")
    again = spantree("resume", "last", "--json")
    assert again.exit_code == 0
    assert again.stdout == asked.stdout
    assert "is finished; this is its answer" in again.stderr


def test_help_of_every_verb_has_an_example() -> None:
    for verb in ("ask", "programs", "corpus", "runs", "show", "resume", "doctor"):
        result = spantree(verb, "--help")
        assert f"  spantree {verb}" in result.stdout
        assert fits(result)
    assert spantree("--help").exit_code == 0
    assert spantree("--version").stdout.startswith("spantree ")


MISTAKES: list[tuple[list[str], str]] = [
    (["ask", "  ", "{trains}"], "the question is empty"),
    (["ask", "?!", "{trains}"], "the question is empty"),
    (["ask", "Why?", "{trains}/nowhere"], "nowhere"),
    (["ask", "Why?", "{empty}"], "no"),
    (["ask", "Why?", "{trains}", "--partition", "moon"], "there is no partitioner named 'moon'"),
    (["ask", "Why?", "{trains}", "--program", "magic"], "there is no program named 'magic'"),
    (
        ["ask", "Why?", "{trains}", "--refine", "sometimes"],
        "there is no refinement policy named 'sometimes'",
    ),
    (
        ["ask", "Why?", "{trains}", "--program", "direct", "--action-space", "repl"],
        "--action-space has no use with the program direct",
    ),
    (
        ["ask", "Why?", "{trains}", "--max-turns", "9"],
        "--max-turns has no use with the program auto",
    ),
    (
        ["ask", "Why?", "{trains}", "--program", "recursive", "--top-k", "5"],
        "--top-k has no use with the program recursive",
    ),
    (
        ["ask", "Why?", "{trains}", "--program", "rlm", "--action-space", "dance"],
        "there is no action space named 'dance'",
    ),
    (
        ["ask", "Why?", "{trains}", "--program", "rlm", "--action-space", "repl", "--sandbox", "x"],
        "there is no sandbox named 'x'",
    ),
    (
        ["ask", "Why?", "{trains}", "--program", "rlm", "--sandbox", "monty"],
        "--sandbox has no use without code",
    ),
    (["ask", "Why?", "{trains}", "--program", "rlm", "--max-turns", "1"], "--max-turns is 1"),
    (["ask", "Why?", "{trains}", "--program", "cot", "--window", "0"], "--window is 0"),
    (["ask", "Why?", "{trains}", "--top-k", "-1"], "--top-k is -1"),
    (["ask", "Why?", "{trains}", "--max-calls", "0"], "--max-calls is 0"),
    (["ask", "Why?", "{trains}", "--max-calls", "1"], "at least 4 calls: 1 is too few"),
    (["ask", "Why?", "{trains}", "--max-tokens", "-5"], "--max-tokens is -5"),
    (["ask", "Why?", "{trains}", "--max-cost", "nan"], "--max-cost is nan"),
    (["ask", "Why?", "{trains}", "--max-depth", "0"], "depth"),
    (["ask", "Why?", "{trains}", "--concurrency", "0"], "--concurrency is 0"),
    (["ask", "Why?", "{trains}", "--max-seconds", "0"], "--max-seconds is 0"),
    (["ask", "Why?", "{trains}", "--model", "no-such-model"], "no-such-model"),
    (["ask", "Why?", "{trains}", "--model", "openai/gpt-4.1-mini"], "API key"),
    (
        ["ask", "Why?", "{trains}", "--model", "scripted:{trains}/nowhere.json"],
        "cannot read the script",
    ),
    (["ask", "Why?", "-", "{trains}"], "cannot be combined"),
    (["ask", "Why?", "-"], "standard input is empty"),
    (["ask", "Why?", "{trains}", "--store", "{trains}/monday.log"], "is not a folder"),
    (["corpus", "{trains}/nowhere"], "nowhere"),
    (["corpus", "{trains}", "--partition", "moon"], "there is no partitioner named 'moon'"),
    (["show", "last"], "there is no run last"),
    (["resume", "2026"], "there is no run 2026"),
]


@pytest.mark.parametrize(("words", "told"), MISTAKES, ids=lambda value: " ".join(value))
def test_a_mistake_gets_one_message_and_leaves_nothing_half_written(
    words: list[str], told: str, trains: Path, tmp_path: Path
) -> None:
    """Bar 8."""
    (tmp_path / "empty").mkdir()
    filled = [word.format(trains=trains, empty=tmp_path / "empty") for word in words]
    result = spantree(*filled)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert told in errors[0]
    assert "Traceback" not in result.stderr
    if (store() / "runs.db").exists():
        assert loaded(spantree("runs", "--json")) == []


def test_a_model_that_is_refused_is_a_mistake_and_its_run_can_be_resumed(
    trains: Path, tmp_path: Path
) -> None:
    script = tmp_path / "refused.json"
    script.write_text('{"rules": [{"error": "auth"}]}')
    result = spantree("ask", QUESTION, trains, "--model", f"scripted:{script}")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("error: ") == 1
    assert "; then: spantree resume 2" in result.stderr
    assert loaded(spantree("runs", "--json"))[0]["status"] == "interrupted"


def test_a_run_whose_model_talks_nonsense_is_flagged(trains: Path, tmp_path: Path) -> None:
    script = tmp_path / "prose.json"
    script.write_text('{"rules": [{"reply": "What a lovely day."}]}')
    result = spantree("ask", QUESTION, trains, "--model", f"scripted:{script}", "--quiet")
    assert result.exit_code == 0
    assert "! degraded: " in result.stdout
    assert "Warnings" in result.stdout
    assert result.stderr == ""


def test_an_unknown_run_and_a_journal_of_a_newer_version(trains: Path) -> None:
    import sqlite3

    spantree("ask", QUESTION, trains)
    assert "there is no run zzz" in spantree("show", "zzz").stderr
    path = store() / "runs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for verb in (["show", "last"], ["resume", "last"], ["runs"], ["ask", QUESTION, str(trains)]):
        result = spantree(*verb)
        assert result.exit_code == 2
        assert "newer" in result.stderr


def test_a_bug_is_not_dressed_up_as_a_mistake(
    trains: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("spantree.cli.display.Display.finish", broken)
    with pytest.raises(ZeroDivisionError):
        spantree("ask", QUESTION, trains)


def test_doctor_finds_everything_in_order() -> None:
    result = spantree("doctor", "--json")
    report = loaded(result)
    assert report["ok"]
    names = [check["name"] for check in report["checks"]]
    assert names[:4] == ["python", "import names", "store", "disk"]
    assert {"sandbox", "plan", "fallback", "resume", "bugs"} <= set(names)
    assert not (store() / "runs.db").exists()


def test_doctor_tells_what_is_wrong_and_still_makes_the_other_checks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = spantree("doctor", "--store", tmp_path / "file", "--model", "no-such-model")
    assert result.exit_code == 1
    assert "✗ store: " in result.stdout
    assert "✗ model: " in result.stdout
    assert "✓ sandbox: 1 + 1 is 2" in result.stdout
    assert fits(result)
