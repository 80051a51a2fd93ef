"""The README is true: its transcripts, its library example, its options and its JSON fields."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from programs.baselines import Retrieve
from programs.bundles import save_bundle
from runtime.models.make import make_lm
from spantree.cli.app import build

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
TRANSCRIPTS = re.findall(r"```\n\$ spantree (ask .*)\n((?:.*\n)+?)```", README)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SPANTREE_STORE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")


def test_there_are_transcripts() -> None:
    assert len(TRANSCRIPTS) >= 2


@pytest.mark.parametrize(("command", "shown"), TRANSCRIPTS)
def test_a_transcript_is_what_the_command_prints(command: str, shown: str) -> None:
    """All but the tokens, the seconds and the id of the run."""
    result = CliRunner().invoke(build(), shlex.split(command))
    assert result.exit_code == 0
    assert steady(result.stdout) == steady(shown)


def steady(text: str) -> str:
    text = re.sub(r"\d+(\.\d+)? s$", "N s", text.strip(), flags=re.MULTILINE)
    text = re.sub(r"[\d,]+ tokens", "N tokens", text)
    return re.sub(r"^run \S+$", "run ID", text, flags=re.MULTILINE)


def ran(example: str) -> Any:
    """The answer of an example of the README."""
    names: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), names)
    return names["answer"]


def test_the_library_example_runs() -> None:
    (example,) = [each for each in EXAMPLES if "load" not in each]
    assert ran(example).outcome == "answered"


def test_the_example_of_a_bundle_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three lines load an optimized program and ask it."""
    (example,) = [each for each in EXAMPLES if "load" in each]
    assert len([line for line in example.splitlines() if line]) == 3
    program = Retrieve(lm=make_lm("extractive"))
    save_bundle(program, "retrieve", tmp_path / "runs" / "mine" / "bundle")
    shutil.copytree(ROOT / "data" / "samples" / "minutes", tmp_path / "minutes")
    monkeypatch.chdir(tmp_path)
    answer = ran(example)
    assert answer.program == "retrieve"
    assert answer.receipt.model == "extractive"


def test_every_option_of_the_readme_exists() -> None:
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    helps = "".join(
        CliRunner().invoke(build(), [*verb.split(), "--help"]).stdout
        for verb in (
            "ask",
            "programs",
            "corpus",
            "runs",
            "show",
            "resume",
            "doctor",
            "eval",
            "rescore",
            "compare",
            "gate",
            "report",
            "sets build",
            "optimize",
            "optimize pick",
            "bundle diff",
            "sweep",
            "run",
        )
    )
    assert not {each for each in options - {"--path", "--help"} if each not in helps}


def test_every_field_of_the_json_is_documented() -> None:
    command = ["ask", "How many lines mention ALERT?", "data/samples/incident", "--json"]
    printed = CliRunner().invoke(build(), command).stdout
    names = set(re.findall(r'"(\w+)":', printed)) - {"label", "count"}
    (table,) = re.findall(r"\| field \| what it is \|\n(.*?)\n\n", README, re.DOTALL)
    assert not {name for name in names if f"`{name}`" not in table}
