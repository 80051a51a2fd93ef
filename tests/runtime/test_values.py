"""Values: what is quoted from a long line of JSON is a whole string, or a whole pair."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.models.extractive.units import units_of
from runtime.models.extractive.values import value_ranges

SAID = "So the decoder is retrained on the new recordings"
RECORD: dict[str, Any] = {
    "id": 17,
    "done": True,
    "topics": ["decoder training", "no"],
    "turns": [
        {"speaker": "PhD C", "content": SAID + " , right ?"},
        {"speaker": "Grad E", "content": 'He called it "good enough" , I think .\n'},
        {"speaker": "Postdoc G", "content": ""},
    ],
    "note": "A long first sentence " * 20 + "ends. " + "Another sentence " * 20 + "ends.",
}


def texts(line: str) -> list[str]:
    return [line[start:end] for start, end, _ in value_ranges(line)]


def test_values_stand_for_themselves_and_short_ones_keep_their_key() -> None:
    found = texts(json.dumps(RECORD))
    assert found[:8] == [
        '"id": 17',
        '"done": true',
        '"topics"',
        "decoder training",
        "no",
        '"turns"',
        '"speaker": "PhD C"',
        SAID + " , right ?",
    ]
    assert found[-2].startswith("A long first sentence")
    assert found[-1].startswith("Another sentence")


@pytest.mark.parametrize("ascii_only", [True, False])
@given(
    st.recursive(
        st.text() | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    ),
    st.integers(0, 60),
    st.integers(0, 60),
)
@example(RECORD, 70, 400)
@example({"a": "x\\", "b": '\\"'}, 0, 0)
def test_stretches_are_exact_ordered_and_cross_no_syntax(
    ascii_only: bool, value: object, skipped: int, dropped: int
) -> None:
    line = json.dumps(value, ensure_ascii=ascii_only)
    end = 0
    for start, stop, _ in value_ranges(line):
        assert end <= start < stop <= len(line)
        end = stop
    for text in texts(line):
        assert is_whole(text)
    for start, stop, _ in value_ranges(line[skipped : max(skipped, len(line) - dropped)]):
        assert start < stop


def is_whole(text: str) -> bool:
    """Whether it is (a sentence of) the content of a string, a string, or a pair."""
    for framed in (f'"{text}"', text, f"{{{text}}}"):
        try:
            json.loads(framed)
        except json.JSONDecodeError:
            continue
        return True
    return False


@pytest.mark.parametrize("begin", range(0, 200, 7))
def test_a_part_of_a_record_is_cut_at_its_strings(begin: int) -> None:
    line = json.dumps({"turns": [{"speaker": "PhD C", "content": f"{SAID} {n}"} for n in range(9)]})
    part = line[begin : begin + 260]
    found = [part[unit.start : unit.end] for unit in units_of(part, json=True)]
    assert sum(text.startswith(SAID) for text in found) >= 2
    assert not any('", "' in text or "}, {" in text for text in found)


def test_other_text_is_not_taken_for_json() -> None:
    line = 'He wrote {"a": "one two three four five"}, {"a": "six"} and left. ' * 5
    assert [unit.form for unit in units_of(line)] == ["sentence"] * 5
    short = '  "name": "spantree",\n  "version": 3,\n'
    assert units_of(short, json=True) == units_of(short)
