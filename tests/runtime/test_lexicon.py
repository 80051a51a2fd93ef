"""Words, stems and sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.lexicon import STOPWORDS, is_cjk, sentences, stems, words


def units(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Pool", ["the", "pool"]),
        ("order-service", ["order-service", "order", "service"]),
        ("blk_38865049064139660", ["blk_38865049064139660", "blk", "38865049064139660"]),
        ("blk_-6952", ["blk_-6952", "blk", "6952"]),
        ("10.0.0.1", ["10.0.0.1", "10", "0", "1"]),
        ("10.0.0.1:8080", ["10.0.0.1:8080", "10.0.0.1", "8080", "10", "0", "1"]),
        ("ERR_POOL_EXHAUSTED", ["err_pool_exhausted", "err", "pool", "exhausted"]),
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("HTTPServer IDs", ["httpserver", "http", "server", "ids"]),
        (
            "the cat's and McDonald’s dogs'",
            ["the", "cat", "and", "mcdonald", "mc", "donald", "dogs"],
        ),
        ("don't", ["don't"]),
        ("1,000 3.14", ["1,000", "1000", "3.14"]),
        ("06:55:46,123", ["06:55:46", "06:55"]),
        ("2026-03-02T08:00:01.5Z", ["2026-03-02", "2026", "03", "02", "08:00:01", "08:00"]),
        ("连接池耗尽", ["连接", "接池", "池耗", "耗尽"]),
        ("法 law", ["法", "law"]),
        ("使用order服务", ["使用", "order", "服务"]),
        ("１００ cafe\u0301", ["100", "café"]),
        ("__init__ ___ !?", ["init"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_stems_leave_out_stopwords_and_keep_numbers_and_identifiers() -> None:
    assert stems("What were the exhausted connections of 3 services?") == [
        "exhaust",
        "connect",
        "3",
        "servic",
    ]
    assert stems("order-services") == ["order-services", "order", "servic"]
    assert stems("什么 原因") == ["原因"]
    assert stems("exhausting") == stems("exhausted")
    assert "the" in STOPWORDS


def test_months_and_directions_are_words() -> None:
    assert stems("down in May") == ["down", "may"]


def test_a_text_and_its_other_unicode_form_have_the_same_words() -> None:
    assert words("ﬁle café") == words("file cafe\u0301")


@pytest.mark.parametrize("ch", ["中", "の", "ア", "한", "𠀀"])
def test_is_cjk(ch: str) -> None:
    assert is_cjk(ch)


@pytest.mark.parametrize("ch", ["a", "é", "。", "・", "1", " "])
def test_is_not_cjk(ch: str) -> None:
    assert not is_cjk(ch)


@given(st.text())
def test_words_are_small_and_never_empty(text: str) -> None:
    for word in words(text):
        assert word
        assert word == word.lower()
        assert not any(ch.isspace() for ch in word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("He met Dr. Smith, e.g. there. Fine.", ["He met Dr. Smith, e.g. there.", "Fine."]),
        ("Pi is 3.14 in the U.S. It is.", ["Pi is 3.14 in the U.S.", "It is."]),
        ("The U.S. Government paid.", ["The U.S. Government paid."]),
        ("J. R. Tolkien wrote. See Fig. 3, No. 5.", ["J. R. Tolkien wrote.", "See Fig. 3, No. 5."]),
        ("No. That is wrong.", ["No.", "That is wrong."]),
        ("“What?” she asked. “No.” He left.", ["“What?” she asked.", "“No.”", "He left."]),
        ("Wait... what? And so on... Then", ["Wait... what?", "And so on...", "Then"]),
        ("It is so.[12] Then (see this.) More", ["It is so.[12]", "Then (see this.)", "More"]),
        ("all small. so it is.", ["all small.", "so it is."]),
        ("Spaced out . And again .", ["Spaced out .", "And again ."]),
        ("我们推迟。为什么？测试失败！", ["我们推迟。", "为什么？", "测试失败！"]),
        ("他说：“好的。”然后走了。", ["他说：“好的。”", "然后走了。"]),
        ("版本 3.5 已发布。OK", ["版本 3.5 已发布。", "OK"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert units(text) == expected


def test_members_of_a_json_object_are_no_wrapped_prose() -> None:
    """Lines of one width, as of keys and values that are identifiers, are each a unit."""
    members = [
        '"2a8d601d-1d69-4e64-9f90-8ad825a74195": "bb3ba2a5-7de8-434b-a86e-a88bb9fa7289",',
        '"006b46ef-03fd-4380-938c-49cb03754370": "9faeacbe-1d0e-40da-a5db-df598a104880"',
    ]
    assert units("{\n  " + "\n  ".join(members) + "\n}") == ["{", *members, "}"]
    assert units("\n".join(members)) == members


def test_a_wrapped_line_goes_on() -> None:
    text = (
        "This is prose that somebody has wrapped by hand and it\n"
        "goes on here until it stops. Then another one that\n"
        "Alice wrote ends.\n"
    )
    assert units(text) == [
        "This is prose that somebody has wrapped by hand and it\ngoes on here until it stops.",
        "Then another one that\nAlice wrote ends.",
    ]
    assert units(text.replace("\n", "\r\n"))[1] == "Then another one that\r\nAlice wrote ends."


@pytest.mark.parametrize(
    "lines",
    [
        [
            "2026-03-02 08:00:01,123 INFO started. Waiting",
            "2026-03-02 08:00:02,000 ERROR failed. Sorry",
        ],
        [
            "Dec 10 06:55:46 LabSZ sshd[24200]: Invalid user. From x",
            "Dec 10 06:55:47 LabSZ sshd: no",
        ],
        [
            "- 1117838570 2005.06.03 R02 error corrected. Ok",
            "- 1117838571 2005.06.03 R02 again. Ok",
        ],
        ["# A heading", "and a short text"],
        ["- first item", "- second item", "1. third", "2. fourth"],
        ["| a | b. C |", "| c | d |"],
        ["Alice: Hello there", "Bob: Good morning"],
        ["第三章 总则", "本法适用"],
        ["Title", "====="],
    ],
)
def test_lines_that_stand_for_themselves(lines: list[str]) -> None:
    assert units("\n".join(lines)) == lines
    assert units("\r\n".join(lines)) == lines


def test_a_blank_line_ends_a_unit() -> None:
    assert units("A title without a full stop\n\nthe text") == [
        "A title without a full stop",
        "the text",
    ]


def test_code_in_a_fence_goes_by_line() -> None:
    assert units("```\na = b. C\nd\n```\nSo it is. Yes.") == [
        "```",
        "a = b. C",
        "d",
        "```",
        "So it is.",
        "Yes.",
    ]


def test_a_very_long_unit_is_cut_at_clauses() -> None:
    found = units("word, " * 1000)
    assert all(len(unit) <= 1000 and unit.endswith(",") for unit in found)


TEXT = st.text(
    st.one_of(st.sampled_from(list('aB.!?。！ \n\r\f\t"”)(1,:-#|=`')), st.characters()),
    max_size=300,
)


@given(TEXT)
def test_units_leave_out_only_white_space(text: str) -> None:
    at = 0
    for start, end in sentences(text):
        assert start >= at
        assert not text[at:start].strip()
        unit = text[start:end]
        assert unit
        assert unit == unit.strip()
        at = end
    assert not text[at:].strip()
