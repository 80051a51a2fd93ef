"""Pattern: the notation, what it matches, and one clear message for what is not valid."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.pattern import Pattern
from runtime.errors import PatternError


@pytest.mark.parametrize(
    ("notation", "pattern"),
    [
        ('"Failed password"', Pattern("Failed password", "literal", False)),
        ("“Failed password”", Pattern("Failed password", "literal", False)),
        ("「失败」", Pattern("失败", "literal", False)),
        ('"say "hi""', Pattern('say "hi"', "literal", False)),
        ('" x "', Pattern(" x ", "literal", False)),
        ('"/a/"', Pattern("/a/", "literal", False)),
        ("/fail(ed|ure)/", Pattern("fail(ed|ure)", "regex", False)),
        ("/fail/i", Pattern("fail", "regex", True)),
        ("/a/b/", Pattern("a/b", "regex", False)),
        ("  Failed password ", Pattern("Failed password", "bare", True)),
        ("/var/log", Pattern("/var/log", "bare", True)),
        ('"open', Pattern('"open', "bare", True)),
        ("/", Pattern("/", "bare", True)),
        ('not "root"', Pattern("root", "literal", False, True)),
        ("not  /fail/i", Pattern("fail", "regex", True, True)),
        ("not found", Pattern("not found", "bare", True)),
        ("not /var/log", Pattern("not /var/log", "bare", True)),
        ('not not "x"', Pattern('not not "x"', "bare", True)),
        ('"not "x""', Pattern('not "x"', "literal", False)),
    ],
)
def test_notation(notation: str, pattern: Pattern) -> None:
    assert Pattern.parse(notation) == pattern


@pytest.mark.parametrize(
    ("notation", "lines", "expected"),
    [
        ('"Pool"', ["Pool", "pool", "xPoolx", ""], [True, False, True, False]),
        ('"a.b"', ["a.b", "axb"], [True, False]),
        (r'"\d+ (x) [y] {z} ^$|?*"', [r"\d+ (x) [y] {z} ^$|?*", "1"], [True, False]),
        ("pool", ["Pool", "POOL", "poo"], [True, True, False]),
        (
            "10.0.0.1",
            ["10.0.0.1", "10.0.0.12", "110.0.0.1", "(10.0.0.1)", "10x0x0x1"],
            [1, 0, 0, 1, 0],
        ),
        ("7", ["17 7", "77", "7", "a7b", "x17"], [1, 0, 1, 1, 0]),
        ("ORDER7", ["order7", "xorder7", "order77"], [1, 1, 0]),
        ("连接池", ["数据库连接池耗尽", "连接"], [1, 0]),
        ("ÉTÉ", ["été", "ete"], [1, 0]),
        ("/^end$/", ["end", "end ", "the end"], [1, 0, 0]),
        ("/./", ["😀", ""], [1, 0]),
        ("/^.$/", ["😀", "中", "ab"], [1, 1, 0]),
        ("/FAIL\\w+/i", ["failed", "fail"], [1, 0]),
        ('not "Pool"', ["Pool", "pool", "xPoolx", ""], [0, 1, 0, 1]),
        ("not /fail/i", ["FAILED", "ok"], [0, 1]),
    ],
)
def test_what_matches(notation: str, lines: list[str], expected: list[bool]) -> None:
    assert Pattern.parse(notation).matches(lines) == [bool(value) for value in expected]


@pytest.mark.parametrize(
    ("notation", "message"),
    [
        ("", "the pattern is empty"),
        ("   ", "the pattern is empty"),
        ('""', "the pattern is empty"),
        ("//", "the pattern is empty"),
        (r"/(a)\1/", "backreferences are not supported"),
        (r"/(?P<x>a)(?P=x)/", "backreferences are not supported"),
        ("/a(?=b)/", "lookahead and lookbehind are not supported"),
        ("/(?<!a)b/", "lookahead and lookbehind are not supported"),
        ("/(?>a)/", "atomic groups and possessive quantifiers are not supported"),
        ("/a++/", "atomic groups and possessive quantifiers are not supported"),
        ("/[a/", r"is not valid: missing \]"),
        ("/a{2000}/", "is not valid: invalid repetition size"),
        ('"a\nb"', "contains a line end"),
        ("a\r\nb", "contains a line end"),
        ('"\ud800"', "lone surrogate"),
    ],
)
def test_what_is_not_valid_gets_one_clear_message(notation: str, message: str) -> None:
    with pytest.raises(PatternError, match=message) as raised:
        Pattern.parse(notation)
    assert raised.value.hint
    assert "\n" not in raised.value.message


def test_the_hint_for_a_regular_expression_names_what_is_missing() -> None:
    with pytest.raises(PatternError) as raised:
        Pattern.parse(r"/(a)\1/")
    assert "RE2" in raised.value.hint
    assert "lookahead" in raised.value.hint


PRINTED = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n"), min_size=1
)


@given(PRINTED)
def test_a_literal_matches_exactly_the_lines_that_contain_it(text: str) -> None:
    pattern = Pattern(text, "literal", False)
    lines = [text, f"a{text}b", text[:-1], text.swapcase(), "other"]
    assert pattern.matches(lines) == [text in line for line in lines]
    assert Pattern.parse(pattern.render()) == pattern


@given(
    st.text(st.sampled_from("019aZ.é中"), min_size=1, max_size=4),
    st.text(st.sampled_from("019aZ.é中")),
)
def test_bare_text_ignores_case_and_keeps_numbers_whole(text: str, line: str) -> None:
    before = "(?<![0-9])" if text[0] in "0123456789" else ""
    after = "(?![0-9])" if text[-1] in "0123456789" else ""
    expected = re.search(before + re.escape(text) + after, line, re.IGNORECASE) is not None
    assert Pattern.parse(text).matches([line]) == [expected]


@given(PRINTED, st.sampled_from(["literal", "bare"]), st.booleans())
def test_what_is_rendered_matches_the_same(text: str, kind: str, ignore_case: bool) -> None:
    pattern = Pattern(text, kind, ignore_case)  # pyright: ignore[reportArgumentType]
    lines = [text, text.upper(), f"1{text}1", f" {text} ", text.strip()]
    assert Pattern.parse(pattern.render()).matches(lines) == pattern.matches(lines)
