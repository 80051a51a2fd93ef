"""Changes: the old and the new text can both be read off the difference, and only what differs is told."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evals.report.changes import Piece, changes, pieces
from evals.report.text import shown

texts = st.text(st.sampled_from("ab \n\u202e"), max_size=30)


def state(instructions: str, *demos: dict[str, Any]) -> dict[str, Any]:
    """The state of a predictor."""
    return {"instructions": instructions, "demos": list(demos)}


@given(texts, texts)
def test_both_texts_can_be_read_off_their_difference(old: str, new: str) -> None:
    found = list(pieces(old, new))
    assert "".join(each.text for each in found if each.kind != "new") == shown(old)
    assert "".join(each.text for each in found if each.kind != "gone") == shown(new)


def test_a_difference_is_of_words() -> None:
    assert list(pieces("Quote the text.", "Quote all the text.")) == [
        Piece("same", "Quote"),
        Piece("new", " all"),
        Piece("same", " the text."),
    ]


def test_texts_that_are_too_long_to_compare_replace_each_other() -> None:
    old, new = "a " * 5_000, "a " * 5_000 + "b"
    assert [each.kind for each in pieces(old, new)] == ["gone", "new"]


def test_only_predictors_that_changed_are_told() -> None:
    before = {"read": state("Read."), "end": state("End.", {"a": 1}), "same": state("Same.")}
    after = {"read": state("Read all."), "end": state("End."), "same": state("Same.")}
    read, end = changes(before, after)
    assert (read.predictor, read.rewritten, read.demos, read.demos_before) == ("read", True, (), 0)
    assert (end.predictor, end.rewritten, end.demos, end.demos_before) == ("end", False, (), 1)


def test_a_demo_is_shown_as_bounded_json_without_what_misleads() -> None:
    [found] = changes({"read": state("R")}, {"read": state("R", {"text": "\u202e" + "x" * 9_000})})
    assert len(found.demos[0]) < 7_000
    assert found.demos[0].startswith('{\n  "text"')
    assert "\u202e" not in found.demos[0]
