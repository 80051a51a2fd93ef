"""Lines: exact for every text, whatever its line ends."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from data.lines import LINE_ENDS, split_lines

TEXTS = (
    st.text(st.sampled_from("ab\n\r\f\v\x1c\x85\u2028\u2029 é中😀\u0301\ufeff"), max_size=40)
    | st.text()
)


def reference(text: str) -> list[tuple[str, str]]:
    """Lines and their ends by a regular expression."""
    pairs = re.findall(r"([^\r\n]*)(\r\n|\n|\r|\Z)", text)
    return [pair for pair in pairs if pair != ("", "")]


@given(TEXTS)
@example("")
@example("\r\r\n\n")
@example("no final newline")
@example("a\r\nb\rc\nd\fe\u2028f")
@example("😀\r\n中")
def test_lines_are_those_of_the_text(text: str) -> None:
    table = split_lines(text.encode("utf-8", "replace"))
    text = text.encode("utf-8", "replace").decode()
    ends = [LINE_ENDS[kind] for kind in table.end]
    assert list(zip(table.text.to_pylist(), ends, strict=True)) == reference(text)
    assert table.characters == len(text)
    expected, at = [], 0
    for line, end in reference(text):
        expected.append(at)
        at += len(line) + len(end)
    assert table.start.tolist() == expected


def test_line_ends_at_the_border_of_a_block() -> None:
    for before in range((1 << 23) - 2, (1 << 23) + 2):
        table = split_lines(b"x" * before + b"\r\n" + "é".encode())
        assert (len(table), table.start.tolist()) == (2, [0, before + 2])
        assert table.characters == before + 3
