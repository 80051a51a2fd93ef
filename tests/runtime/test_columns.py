"""Text measured in the cells of a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.columns import cells, cut, one_line


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("事故", 4), ("ｱｲ", 2), ("e\u0301", 1), ("🚀", 2), ("", 0), ("Ａ", 2)],
)
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("事故链路", 8, "事故链路"),
        ("事故链路", 7, "事故链…"),
        ("事故链路", 6, "事故…"),
        ("ab cdef", 4, "ab…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("e\u0301abc", 3, "e\u0301a…"),
    ],
)
def test_cut(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected


@given(st.text(), st.integers(0, 30))
def test_cut_text_is_never_wider_than_asked(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width


@given(st.text())
def test_one_line_is_one_harmless_line(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert not any(each in line for each in "\x1b\x07\x00\u202e\u2066\u2028")
    assert one_line(line) == line
