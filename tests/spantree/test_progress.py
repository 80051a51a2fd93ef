"""Progress on standard error: bars, lines or nothing."""

import io
from dataclasses import dataclass

import pytest

from programs.progress import Progress
from spantree.cli.progress import (
    EVERY,
    QUIET_START,
    Admission,
    Bars,
    Lines,
    Watcher,
    run_words,
    watcher,
)


@dataclass
class Clock:
    """A clock that is moved by hand."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def at(done: int, total: int = 9, run_id: str = "r1", phase: str = "analyze") -> Progress:
    """A moment of a run."""
    return Progress(
        run_id=run_id,
        phase=phase,
        done=done,
        total=total,
        calls=1234,
        tokens=5,
        depth=1,
        message="",
    )


def test_without_a_terminal_a_short_run_says_nothing_and_a_long_one_a_line_now_and_then() -> None:
    clock, stream = Clock(), io.StringIO()
    lines = Lines(stream, clock)
    lines.parsed(1, 3, "a.log")
    clock.now = QUIET_START
    lines.parsed(2, 3, "b.log")
    lines.ran(at(1))
    clock.now += EVERY
    lines.ran(at(2))
    lines.ran(at(3))
    assert stream.getvalue().splitlines() == [
        "parsing: 2 of 3 sources",
        "analyze: 2/9, 1,234 calls, 5 tokens",
    ]


@pytest.mark.parametrize("phase", ["route", "act", "code"])
def test_what_a_program_that_is_driven_does_is_named(phase: str) -> None:
    assert run_words(at(2, 20, phase=phase)) == f"{phase}: 2/20, 1,234 calls, 5 tokens"


def test_quiet_says_nothing() -> None:
    stream = io.StringIO()
    with watcher(stream, quiet=True) as quiet:
        quiet.parsed(1, 1, "a")
        quiet.ran(at(1))
    assert type(quiet) is Watcher
    assert stream.getvalue() == ""


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_bars_on_a_terminal_cannot_be_steered_by_names_of_files() -> None:
    stream = Terminal()
    with watcher(stream, quiet=False) as bars:
        bars.parsed(1, 2, "[red]a\x1b]0;owned\x07.log")
        bars.parsed(2, 2, "b.log")
        bars.ran(at(1))
        bars.ran(at(2, total=0))
    assert isinstance(bars, Bars)
    assert "\x1b]0" not in stream.getvalue()
    assert "\x07" not in stream.getvalue()


def test_the_run_that_was_admitted_is_remembered() -> None:
    stream = io.StringIO()
    admission = Admission(Watcher())
    admission.parsed(1, 1, "a")
    assert admission.run_id == ""
    admission.ran(at(1))
    assert admission.run_id == "r1"
    assert stream.getvalue() == ""
