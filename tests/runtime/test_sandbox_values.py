"""What crosses the wall of the sandbox: excerpts, plain values, and what the source of a cell gives away."""

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.sandbox.excerpt import Excerpt, excerpt
from runtime.sandbox.plain import clean, cleaned, plain, shown
from runtime.sandbox.source import mentions_print

plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.binary()
    | st.dates()
    | st.timedeltas(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
    max_leaves=20,
)


@given(st.lists(st.text(max_size=30)), st.integers(min_value=80, max_value=200))
def test_an_excerpt_is_within_its_cap_and_keeps_both_ends(pieces: list[str], cap: int) -> None:
    whole = "".join(pieces)
    kept = Excerpt(cap)
    for piece in pieces:
        kept.add(piece)
    text = kept.text()
    assert kept.characters == len(whole)
    assert text == excerpt(whole, cap)
    if len(whole) <= cap:
        assert text == whole
    else:
        assert len(text) <= cap
        assert f"the middle of {len(whole):,} characters is left out" in text
        head, tail = text.split("\n[...")[0], text.split("...]\n")[-1]
        assert whole.startswith(head)
        assert whole.endswith(tail)


def test_an_excerpt_holds_little_of_a_flood() -> None:
    kept = Excerpt(100)
    for _ in range(1000):
        kept.add("x" * 1000)
    assert kept.characters == 1_000_000
    assert len(kept.text()) == 100


@settings(max_examples=50)
@given(plain_values)
def test_plain_data_crosses_as_it_is(value: object) -> None:
    assert plain(value) == cleaned(value)
    assert shown(value, 10**6) == (value if isinstance(value, str) else str(value))


@pytest.mark.parametrize("value", [object(), len, [str], {"a": pytest}, [1, iter([])]])
def test_nothing_else_crosses(value: object) -> None:
    with pytest.raises(TypeError, match="not plain data"):
        plain(value)


def test_a_value_without_end_is_refused_in_finite_time() -> None:
    branching: list[object] = ["leaf"]
    for _ in range(60):
        branching = [branching, branching]
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    circle: list[object] = []
    circle.append(circle)
    for value in (branching, deep, circle, 10**5000):
        with pytest.raises(ValueError, match="more than"):
            plain(value)
        assert len(shown(value, 100)) < 500


def test_a_leaf_that_is_not_plain_is_shown_by_its_kind() -> None:
    assert shown([len, datetime.date(2026, 3, 1)], 100) == (
        "[<builtin_function_or_method>, datetime.date(2026, 3, 1)]"
    )


def test_a_lone_surrogate_gives_way_to_one_character() -> None:
    assert clean("a\ud800b\U0001f600") == "a\ufffdb\U0001f600"
    assert cleaned({"k\udfff": ["\udc80", ("x", 5)]}) == {"k\ufffd": ["\ufffd", ("x", 5)]}
    assert plain(["\ud800"]) == ["\ufffd"]


@pytest.mark.parametrize(
    ("code", "mentioned"),
    [
        ("print(1)", True),
        ("show = print", True),
        ("if x:\n    print (x)", True),
        ("x = 'print this'", False),
        ("# print(1)\nSUBMIT(answer='print')", False),
        ("def print(x): pass", False),
        ("blueprint(1)", False),
        ("log.print(1)", False),
        ("print((", True),
        ("x = 'unfinished print", True),
        ("SUBMIT(1)", False),
    ],
)
def test_print_is_found_where_it_is_a_name(code: str, mentioned: bool) -> None:
    assert mentions_print(code) is mentioned
