"""The command line as a process: interrupts, kills, pipes and encodings."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from runtime.journal import Journal
from spantree.cli.app import build

ROOT = Path(__file__).parents[2]
QUESTION = 'How many lines mention "late"?'
SLOW = "simulated:latency=1"
PATIENCE = 60


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A small log."""
    path = tmp_path / "monday.log"
    path.write_text(
        "07:00 train 4 on time\n07:10 train 5 late – 晚点\n07:20 train 6 late\n", encoding="utf-8"
    )
    return path


def started(*words: str | Path, **environment: str) -> subprocess.Popen[bytes]:
    """A process that runs the command line."""
    return subprocess.Popen(
        [sys.executable, "-m", "spantree", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ran(*words: str | Path, **environment: str) -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error of a process."""
    process = started(*words, **environment)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def typed(*words: str) -> Result:
    """The same in this process."""
    return CliRunner().invoke(build(), list(words), catch_exceptions=False)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; an assertion fails if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.02)


def opened_journal() -> Journal:
    """The journal of the store of this test."""
    return Journal.open(Path(os.environ["SPANTREE_STORE"]) / "runs.db")


def done_keys() -> list[str]:
    """Keys of the calls that the newest run has completed."""
    with opened_journal() as journal:
        runs = journal.runs(1)
        calls = journal.calls(runs[0].record.run_id) if runs else []
    return [call.key.rpartition("#")[0] for call in calls if call.status == "done"]


def stopped_by(number: signal.Signals, log: Path) -> tuple[int, str]:
    """Start a slow run and stop it in the middle by a signal: its exit status and standard error."""
    process = started("ask", QUESTION, log, "--model", SLOW)
    wait_for(lambda: bool(done_keys()))
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err.decode()


def test_an_interrupt_exits_130_and_names_the_command_that_goes_on(log: Path) -> None:
    status, err = stopped_by(signal.SIGINT, log)
    assert status == 130
    assert "Traceback" not in err
    last = err.splitlines()[-1]
    assert last.startswith("next: spantree resume 2")
    status, out, err_bytes = ran(*last.removeprefix("next: spantree ").split(), "--json")
    assert status == 0
    assert json.loads(out)["value"] == 2
    assert b"Stack: " in err_bytes
    assert len(done_keys()) == len(set(done_keys()))


def test_a_killed_run_goes_on_unless_its_files_have_changed(log: Path) -> None:
    """Checklist 59 to 67."""
    status, _ = stopped_by(signal.SIGKILL, log)
    assert status == -signal.SIGKILL
    assert "interrupted" in typed("runs").stdout
    assert "go on: spantree resume" in typed("show", "last").stdout
    with opened_journal() as journal, journal.lease(journal.run("last").record.run_id):
        held = typed("resume", "last")
    assert (held.exit_code, held.stdout) == (2, "")
    assert "is held by another process" in held.stderr
    log.write_text("07:00 all trains late\n" * 5, encoding="utf-8")
    changed = typed("resume", "last")
    assert (changed.exit_code, changed.stdout) == (2, "")
    assert "error: 1 of the files changed since the run began: monday.log\n" in changed.stderr
    assert "--stored-text" in changed.stderr
    status, out, err = ran("resume", "last", "--stored-text", "--json", "--quiet")
    assert (status, err) == (0, b"")
    assert json.loads(out)["value"] == 2
    assert len(done_keys()) == len(set(done_keys()))


def test_a_closed_pipe_is_not_an_error_worth_a_word(log: Path) -> None:
    process = started("ask", QUESTION, log, "--quiet")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.wait(timeout=PATIENCE)
    assert process.stderr.read() == b""
    process.stderr.close()


def test_an_encoding_that_cannot_show_everything(log: Path) -> None:
    status, out, _ = ran("ask", QUESTION, log, PYTHONIOENCODING="ascii")
    assert status == 0
    assert b"train 5 late ? ??" in out
    status, out, _ = ran("ask", QUESTION, log, "--json", PYTHONIOENCODING="ascii")
    assert status == 0
    assert "晚点" in out.decode("utf-8")


def test_standard_input_can_be_resumed_after_it_is_gone(log: Path) -> None:
    text = log.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "spantree", "ask", QUESTION, "-", "--json"],
        cwd=ROOT,
        input=text,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    status, out, _ = ran("resume", json.loads(done.stdout)["run_id"], "--json")
    assert status == 0
    assert out == done.stdout
