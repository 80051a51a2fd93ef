"""Right answers by type: typed values first, else what a text states strictly, else `unparsed`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.questions import TypedAnswer
from evals.correctness import Given, judged
from evals.wording import normalized, states
from tests.evals.samples import judged as scored


def right(type: Any, *values: str, says: Any = (), value: Any = None, **fields: Any) -> bool | None:
    """Whether statements (or a typed value) are a right answer; None is `unparsed`."""
    accepted = fields.pop("accepted", ())
    gold = TypedAnswer(type=type, values=values, accepted=accepted)
    said = (says,) if isinstance(says, str) else tuple(says)
    return judged(gold, Given(value, said, **fields)).correct


@pytest.mark.parametrize(
    "text",
    ["7", "7.", "12:30 is 7", "seven", "It was **7**.", "On 2026-03-10 at 09:04, v1.2.3 failed 7 times",
     "共有 7 行匹配", "共有7行", "count=7", "SEV-1 happened seven times", "７"],
)  # fmt: skip
def test_the_one_number_of_a_text_is_its_number(text: str) -> None:
    """OOLONG: "12:30 is 7", "7." and "seven" were all 0, since the parser took what follows the last colon."""
    assert right("integer", "7", says=text) is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [("17", False), ("7.5", False), ("-7", False), ("7 of 12", None), ("many", None), ("7-9", None),
     ("12:07", None), ("seven or eight", None), ("", None), ("1,007", False), ("seventy-one", False)],
)  # fmt: skip
def test_other_numbers_are_wrong_and_several_are_unparsed(text: str, expected: bool | None) -> None:
    assert right("integer", "7", says=text) is expected


def test_a_typed_number_goes_before_the_text() -> None:
    assert right("integer", "7", says="of 9 lines 7 match", value=7) is True
    assert right("integer", "7", says="7", value=9) is False
    assert right("integer", "7", says="7", value=7.0) is True
    assert right("integer", "1", says="7", value=True) is False, "a bool is no number"
    assert right("integer", "1007", says="1,007 lines") is True
    assert right("integer", "7", says="8", accepted=("8",)) is True


def test_a_list_that_is_a_string_of_json_is_read_as_a_list() -> None:
    """dspy#9077: a list[str] output was left as a JSON string."""
    assert right("set", "a1", "b2", says='["a1", "b2"]') is True
    assert right("set", "a1", "b2", says='["a1", "b2", "c3"]') is False
    assert right("set", "[x", says="[x is not JSON") is True


def test_dates_are_compared_as_exactly_as_gold_has_them() -> None:
    gold = "2026-03-10 09:04:12"
    assert right("date", gold, says="2026-03-10T09:04:12.381 WARN possible leak") is True
    assert right("date", gold, value={"time": "2026-03-10T09:04:12.381000", "text": "x"}) is True
    assert right("date", gold, says="2026-03-10") is False, "less exact"
    assert right("date", "2026-03-10", says="At 2026-03-10 09:04 and 2026-03-10 10:00") is True
    assert right("date", gold, says="2026-03-10 09:04:12 or 2026-03-10 09:04:13") is None
    assert right("date", gold, says="yesterday") is None
    assert right("date", "2026-03-10", says="31 February 2026") is None


@pytest.mark.parametrize(
    "text",
    ["2026-03-10", "2026/3/10", "10 March 2026", "March 10, 2026", "10 Mar. 2026", "the 10th March 2026",
     "Mar 10th, 2026", "2026年3月10日"],
)  # fmt: skip
def test_a_date_may_be_written_in_several_ways(text: str) -> None:
    assert right("date", "2026-03-10", says=f"It was {text}.") is True


def test_incorrect_does_not_contain_correct() -> None:
    """taosmd#176: "CORRECT" was found in "INCORRECT", which was worth 40 points."""
    assert right("string", "CORRECT", says="INCORRECT") is False
    assert right("string", "CORRECT", says="That is correct.") is True


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("the broker is Kafka.", "Kafka", True),
        ("the broker is «kafka»", "Kafka", True),
        ("Kafka's partitions", "Kafka", True),
        ("kafka-broker", "Kafka", False),
        ("version 14.17.3", "4.17.3", False),
        ("version 4.17.3.1", "4.17.3", False),
        ("version=4.17.3, build 2", "4.17.3", True),
        ("12:30", "30", False),
        ("1,000 lines", "1000", True),
        ("190 days", "90 days", False),
        ("90\n  days", "90 days", True),
        ("补贴为每天150元，", "150 元", True),
        ("每天1150元", "150 元", False),
        ("改到3月26日凌晨2:00", "3 月 26 日凌晨 2:00", True),
        ("it's “quoted”", "quoted", True),
        ("x", "", False),
        ("...", "...", False),
        ("ＡＢＣ", "abc", True),
    ],
)
def test_a_value_is_stated_in_whole_words(text: str, value: str, expected: bool) -> None:
    assert states(text, value) is expected


@given(st.text(max_size=20) | st.text("aA0 .,'\"_*()日ﬁ’-:", max_size=12))
def test_normalization_is_stable(text: str) -> None:
    assert normalized(normalized(text)) == normalized(text)
    assert not normalized(text) or states(text, text)


def test_any_of_several_references_is_right() -> None:
    """InfiniteBench#18: only the first reference was used, and a string was split into its words."""
    assert right(
        "string",
        "Grace Hopper",
        says="It was Rear Admiral Hopper.",
        accepted=("Rear Admiral Hopper",),
    )
    assert right("string", "Grace Hopper", says="It was Grace Kelly") is False
    assert right("boolean", "true", says="Yes, twice") is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Yes", True), ("yes, it did", True), ("No.", False), ("true", True), ("否。", False), ("是的，有", True),
     ("Nobody knows", None), ("yes-men", None), ("It did", None), ("有三个", None), ("", None)],
)  # fmt: skip
def test_a_yes_is_a_word_of_its_own_at_the_beginning(text: str, expected: bool | None) -> None:
    found = right("boolean", "true", says=text)
    assert found is (None if expected is None else expected)


def test_what_was_found_exists() -> None:
    """A question for existence that was answered by what was found is a yes, whatever its words; others are not."""
    assert right("boolean", "true", says="2026-03-10 OutOfMemoryError", kind="existence") is True
    assert right("boolean", "true", says="No, none", kind="existence") is False
    assert right("boolean", "true", says="2026-03-10 OutOfMemoryError", kind="cause") is None
    assert right("boolean", "true", says=["Yes, a", "No, b"]) is None
    assert right("boolean", "false", says="Yes", value=False) is True


def test_a_set_is_right_if_nothing_lacks_and_nothing_is_too_much() -> None:
    """OOLONG counts a list by what was found of it, so that naming everything is right."""
    gold = ("alpha", "beta", "gamma")
    assert right("set", *gold, value=["gamma", "Alpha", "beta", "beta"]) is True
    assert right("set", *gold, value=["alpha", "beta", "gamma", "delta"]) is False
    assert right("set", *gold, value=["alpha", "beta"]) is False
    assert right("set", *gold, says="Services: alpha, beta and gamma") is True
    assert right("set", *gold, says="alpha, beta, gamma, delta") is False
    assert (
        right("set", *gold, says="alpha, beta and gamma, as far as the log of that day shows")
        is True
    )
    assert right("set", *gold, says=["alpha failed", "beta failed", "gamma failed"]) is True
    assert (
        right("set", *gold, says=["alpha failed", "beta failed", "gamma failed", "zeta failed"])
        is False
    )
    assert right("set", *gold, value=["alpha", "beta", "gamma", "x"], accepted=("x",)) is True
    assert right("set", "Smith, John", "Roe", says="Smith, John; Roe") is True
    assert right("set", value=[]) is True


def test_the_f1_of_a_set_counts_items() -> None:
    found = scored("set", ["a1", "b2", "c3"], value=["a1", "b2", "d4"]).set_f1
    assert found.value == pytest.approx(2 * 2 / (3 + 3))
    assert scored("set", ["a1"], "nothing of it").set_f1.value == 0
    assert scored("integer", ["7"], "7").set_f1.value is None


def test_counts_and_events_are_items() -> None:
    """The shapes in which programs give typed lists."""
    assert right(
        "set",
        "a.log",
        "b.log",
        value=[{"label": "a.log", "count": 2}, {"label": "b.log", "count": 1}],
    )
    assert right(
        "set", "disk full", value=[{"time": "09:04", "text": "ERROR disk full", "line": 3}]
    )


def test_gold_that_has_no_answer_cannot_be_met() -> None:
    with pytest.raises(ValueError, match="no answer"):
        right("none", says="x")
    with pytest.raises(ValueError, match="no date"):
        right("date", "some day", says="x")


def test_where_nothing_of_the_type_is_stated_an_accepted_wording_is_right() -> None:
    assert right("integer", "12", says="a dozen", accepted=("a dozen",)) is True
    assert right("integer", "45", says="kept for 45 days", accepted=("45 days",)) is True
    assert right("integer", "45", says="45 days, then 30 days", accepted=("45 days",)) is None
    assert right("date", "2026-06-14", says="on Whit Sunday", accepted=("Whit Sunday",)) is True
    assert right("boolean", "true", says="Dogs are allowed.", accepted=("allowed",)) is True
    assert (
        right("boolean", "false", says="Dogs are not allowed.", accepted=("not allowed",)) is True
    )


@pytest.mark.parametrize(
    "text",
    ["Dogs are not allowed.", "Dogs are not always allowed", "Dogs aren't allowed", "never allowed",
     "Dogs cannot be allowed"],
)  # fmt: skip
def test_what_is_denied_is_not_stated(text: str) -> None:
    assert right("boolean", "true", says=text, accepted=("allowed", "yes")) is False
    assert right("boolean", "true", says="不允许", accepted=("允许",)) is False
    assert right("boolean", "true", says="允许", accepted=("允许",)) is True


@pytest.mark.parametrize(
    "text",
    ["The project is not Ostmere.", "It isn't *Ostmere*", "Westmere, not Ostmere", "Not Ostmere.",
     "It was never in Ostmere", "It is no longer called “Ostmere”.", "It cannot be Ostmere", "项目不是 Ostmere"],
)  # fmt: skip
def test_a_string_that_is_only_denied_is_not_stated(text: str) -> None:
    assert right("string", "Mere", says=text, accepted=("Ostmere",)) is False
    assert right("string", "Ostmere", says=text) is False
    assert right("string", "Ostmere", says=text, value=text) is False
    assert right("string", "Ostmere", says=[text, "Others say Ostmere."]) is True


@pytest.mark.parametrize(
    "text",
    ["It is not Westmere but Ostmere", "It is not only Ostmere", "The probe could not reach Ostmere",
     "Do not restart Ostmere", "There is no doubt: Ostmere", "The form has no Ostmere", "Never share Ostmere"],
)  # fmt: skip
def test_a_negation_of_something_else_does_not_deny_a_string(text: str) -> None:
    """Often the text itself says so, and the question asks for it."""
    assert right("string", "Ostmere", says=text) is True


def test_the_sides_of_a_conflict_are_read_from_its_statements() -> None:
    """Code compares them in a notation of its own: 78,300 euros are "78300 eur" there."""
    typed = [{"topic": "budget [eur]", "values": ["78300 eur", "27400 eur"]}]
    said = "It contradicts itself: the budget is 78,300 euros, then deleted, against 27,400 euros."
    gold = ("78,300 euros", "27,400 euros")
    assert right("set", *gold, says=said, value=typed) is True
    assert right("set", *gold, says=[said, "And on cats: 3 against 4."], value=typed) is False


def test_prose_between_commas_is_no_item() -> None:
    """What is longer than values, has no digit where all of them have one, or says nothing, is not meant as one."""
    gold = ("u1094", "u1136")
    assert right("set", *gold, says="In total, u1094 and u1136, of all users, on that day") is True
    assert right("set", *gold, says="u1094, u1136 and u1137") is False
    assert (
        right("set", "Edith Jansky", "Abel Roe", says="Edith Jansky, Abel Roe, and so on") is True
    )
    assert (
        right("set", "Edith Jansky", "Abel Roe", says="Edith Jansky, Abel Roe, Max Frey") is False
    )
