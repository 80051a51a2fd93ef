"""Each program over real logs through one command: what it must get right there, and what it must not claim.

The data is not part of the repository. Where it is absent, these tests are skipped.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from programs.catalog import PROGRAMS
from spantree.cli.app import build

LOGS = Path(__file__).parents[2].parent / "shared" / "data" / "loghub_2k"
FILES = [LOGS / f"{name}_2k.log" for name in ("Apache", "HDFS", "OpenSSH")]
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no Loghub samples at {LOGS}")

VARIANTS: dict[str, list[str]] = {
    **{name: [] for name in PROGRAMS},
    "rlm repl": ["--action-space", "repl"],
}
WINDOWED = ("direct", "cot")
"""The text does not fit their window: the second half of the second file and the first of the third are not shown."""
SEARCHING = ("auto", "recursive", "rlm", "rlm repl", "plan_execute", "react")
EACH = pytest.mark.parametrize("name", VARIANTS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(autouse=True)
def _one_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The logs are parsed once."""
    monkeypatch.setenv("SPANTREE_STORE", str(store))


def asked(name: str, question: str, *files: Path) -> dict[str, Any]:
    program = ["--program", name.split()[0], *VARIANTS[name]]
    words = ["ask", question, *map(str, files or FILES), *program, "--json"]
    result = CliRunner().invoke(build(), words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    return json.loads(result.stdout)


def cited(answer: dict[str, Any]) -> set[tuple[str, int]]:
    return {
        (each["source"], each["line_start"])
        for claim in answer["claims"]
        for each in claim["citations"]
    }


def test_all_programs_are_listed() -> None:
    listed = CliRunner().invoke(build(), ["programs"], catch_exceptions=False).stdout
    assert [line.split()[0] for line in listed.splitlines()[1:]] == list(PROGRAMS)


@EACH
def test_an_identifier_leads_to_its_line(name: str) -> None:
    answer = asked(name, "What happened to blk_38865049064139660?")
    assert cited(answer) == {("HDFS_2k.log", 1)}
    assert answer["outcome"] == ("partial" if name in WINDOWED else "answered")


@EACH
def test_a_count_is_exact(name: str) -> None:
    answer = asked(name, 'How many lines mention "Failed password for root"?')
    if name in SEARCHING:
        assert (answer["value"], answer["outcome"]) == (370, "answered")
        assert "370" in answer["answer"]
        assert len(cited(answer)) == 370
    else:
        assert answer["value"] is None
        assert answer["outcome"] in ("partial", "not_found_in_covered")


@EACH
def test_an_absence_is_one_of_everything(name: str) -> None:
    answer = asked(name, 'Is there any line that mentions "Accepted publickey"?')
    whole = name not in (*WINDOWED, "retrieve")
    assert answer["outcome"] == ("not_found" if whole else "not_found_in_covered")
    assert answer["coverage"]["required"] == answer["coverage"]["partitions"]
    assert (answer["coverage"]["unread"] > 0) == (not whole)
    assert answer["claims"] == []


@EACH
@pytest.mark.parametrize(("which", "line"), [("first", 2), ("last", 1993)])
def test_the_first_and_the_last_line_are_those(name: str, which: str, line: int) -> None:
    """What ranks best is neither: a ranking does not answer this."""
    answer = asked(name, f'What is the {which} line that mentions "Invalid user"?')
    if name in SEARCHING:
        assert cited(answer) == {("OpenSSH_2k.log", line)}
        assert answer["outcome"] == "answered"
    elif name != "map_reduce":
        assert answer["outcome"] in ("partial", "not_found_in_covered")


@EACH
def test_a_short_log_is_read_by_all(name: str, tmp_path: Path) -> None:
    """Text that fits every window: there is nothing that a program could not see."""
    head = tmp_path / "head.log"
    head.write_bytes(b"".join(FILES[2].read_bytes().splitlines(keepends=True)[900:1000]))
    answer = asked(name, 'Which user logged in ("Accepted password")?', head)
    assert cited(answer) == {("head.log", 56)}
    assert answer["outcome"] == "answered"
    assert "fztu" in answer["answer"]
