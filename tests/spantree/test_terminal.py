"""Text for a terminal: harmless, measured, wrapped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from spantree.cli.terminal import cut, cut_left, plain, wrap


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("red \x1b[31malert\x1b[0m", "red ␛[31malert␛[0m"),
        ("bell\x07 back\x08 del\x7f nul\x00", "bell␇ back␈ del␡ nul␀"),
        ("c1 \x9b31m", "c1 �31m"),
        ("evil\u202etxt.exe", "evil�txt.exe"),
        ("hidden\U000e0041\U000e0042", "hidden��"),
        ("lone \udcff", "lone �"),
        ("a\tb\u00a0c\u2028d", "a b c d"),
        ("one\r\ntwo\nthree\n", "one ⏎ two ⏎ three"),
        ("old\rmac", "old␍mac"),
        ("[red]not markup[/red]", "[red]not markup[/red]"),
        ("中文 👩‍👩‍👧 é", "中文 👩‍👩‍👧 é"),
    ],
)
def test_plain_leaves_nothing_that_a_terminal_obeys(raw: str, shown: str) -> None:
    assert plain(raw) == shown


def test_plain_does_not_work_through_a_line_of_fifty_megabytes() -> None:
    assert len(plain("x" * 50_000_000)) < 100_000


@given(st.text())
def test_plain_is_printable_and_stable(text: str) -> None:
    shown = plain(text)
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert plain(shown).strip() == shown.strip()
    shown.encode()


def test_wrap_breaks_between_cjk_characters_and_keeps_their_punctuation() -> None:
    assert wrap("决定推迟发布，到四月一日。", 12) == ["决定推迟发", "布，到四月一", "日。"]
    assert wrap("发布(release)推迟", 12) == ["发布", "(release)推", "迟"]


def test_wrap_breaks_at_spaces_and_cuts_what_is_too_long() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("a abcdefghij", 5) == ["a", "abcde", "fghij"]
    assert wrap("", 10) == []


def test_wrap_marks_what_it_leaves_out() -> None:
    assert wrap("one two three four", 9, lines=1) == ["one two…"]
    assert wrap("one two three four", 9, lines=2) == ["one two", "three…"]
    assert wrap("决定推迟发布", 6, lines=1) == ["决定…"]


@given(st.text(), st.integers(4, 40), st.integers(1, 5))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int, lines: int) -> None:
    shown = plain(text)
    wrapped = wrap(shown, width)
    assert all(cell_len(line) <= width for line in wrapped)
    assert "".join("".join(wrapped).split()) == "".join(shown.split())
    short = wrap(shown, width, lines=lines)
    assert len(short) <= lines
    assert all(cell_len(line) <= width for line in short)


@given(st.text(), st.integers(1, 30))
def test_cut_fits(text: str, width: int) -> None:
    shown = plain(text)
    assert cell_len(cut(shown, width)) <= width
    assert cell_len(cut_left(shown, width)) <= width


def test_cut_left_keeps_the_end_of_a_path() -> None:
    assert cut_left("logs/2026/order-service.log", 20) == "…6/order-service.log"
