"""The extractive model drives: through `Act`, through `dspy.ReActV2` and through `dspy.RLM` in its sandbox."""

import re
from typing import Any

import dspy
import pytest

from runtime.models.extractive.engine import ExtractiveEngine
from runtime.models.simulated import SimulatedEngine, Weaknesses
from tests.runtime.desk import ADAPTERS, CORPUS, LOG, MARCH, Desk, Told, by_act, by_code, by_react

WAYS = {"act": by_act, "react": by_react, "code": by_code}
everyone = pytest.mark.parametrize("drive", WAYS.values(), ids=WAYS)


@everyone
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_string_is_searched_read_and_proved(drive: Any, adapter: str) -> None:
    desk = Desk()

    told = drive(desk, "What happened to req-88bc?", adapter)

    assert desk.tools == ["search", "subcall"]
    assert told.answer == told.claims[0][0]
    assert 'refused: "quota" \\ 超额 😀' in told.answer
    assert all(id in desk.known and not quote for id, quote in told.evidence)


@everyone
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_count_is_submitted_by_its_id(drive: Any, adapter: str) -> None:
    desk = Desk()

    told = drive(desk, 'How many lines contain "timed out"?', adapter)

    assert desk.tools == ["count"]
    assert told.answer == '2 lines match "timed out".'
    assert told.claims == [(told.answer, "direct", (("t1.count", ""),))]


@everyone
def test_counts_are_grouped_as_the_question_asks(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, 'How many lines contain "ERROR" per hour?')

    assert desk.asked[0][1]["by"] == "time"
    assert told.answer.endswith("by time: 2024-05-01 09: 2; 2024-05-01 11: 1.")


@everyone
def test_lines_that_have_no_times_are_counted_without(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, 'How many lines contain "audit" per day?')

    assert [given["by"] for _, given in desk.asked] == ["time", ""]
    assert told.answer == '2 lines match "audit".'


@everyone
def test_what_no_line_holds_is_not_answered(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "What happened to req-0000?")

    assert desk.tools == ["search"]
    assert told == Told("", [])


@everyone
def test_a_question_without_strings_is_answered_from_what_ranks_best(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Why does the nightly backup run at night?")

    assert desk.tools == ["rank", "subcall"]
    assert desk.asked[0][1]["k"] == 12
    assert told.answer == "The nightly backup runs at 02:00 because the load is lowest then."


@everyone
def test_absence_needs_everything_to_be_read(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Is there anything about a nightly backup?")

    assert desk.asked == [("subcall", {"question": desk.question, "span_ids": []})]
    assert "nightly backup runs" in told.answer


@everyone
def test_contradictions_show_both_sides(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Are there contradictory decisions about audit logs?")

    (text, status, evidence), *more = told.claims
    assert not more
    assert status == "conflicting"
    assert "90 days" in text
    assert "30 days" in text
    assert len(evidence) == 2


@everyone
def test_what_was_replaced_contradicts_nothing(drive: Any) -> None:
    march = MARCH.replace("30 days.", "30 days. This replaces the decision of January.")
    desk = Desk(corpus={**CORPUS, "march.md": march})

    told = drive(desk, "Are there contradictory decisions about audit logs?")

    assert told == Told("", [])
    assert desk.tools == ["subcall", "read_span", "read_span"]


@everyone
def test_a_course_of_events_is_told_in_order(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Give me the timeline of the payment errors from the start to the end")

    times = re.findall(r"^\d\d:\d\d", told.answer, re.MULTILINE)
    assert [given["span_ids"] for tool, given in desk.asked if tool == "subcall"] == [
        [source] for source in CORPUS
    ]
    assert len(times) > 2
    assert times == sorted(times)


@everyone
@pytest.mark.parametrize("page", [50, 1])
@pytest.mark.parametrize(("which", "line"), [("first", "req-7f3a"), ("last", "req-91d0")])
def test_the_first_and_the_last_line_are_quoted(
    drive: Any, which: str, line: str, page: int
) -> None:
    desk = Desk(page=page)

    told = drive(desk, f'What was the {which} line that contains "timed out"?')

    [(text, status, [(span_id, quote)])] = told.claims
    assert status == "direct"
    assert line in text
    assert quote in LOG.splitlines()
    assert span_id in desk.known


@everyone
def test_two_questions_are_answered_one_after_the_other(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, 'What happened to "req-88bc"? And how many lines contain "timed out"?')

    assert desk.tools == ["search", "subcall", "count"]
    assert "quota" in told.answer
    assert told.answer.endswith('2 lines match "timed out".')


@everyone
def test_after_an_error_another_way_is_taken(drive: Any) -> None:
    desk = Desk(broken=frozenset({"search"}))

    told = drive(desk, "What happened to req-88bc?")

    assert desk.tools == ["search", "rank", "subcall"]
    assert "quota" in told.answer


@everyone
def test_errors_alone_end_in_nothing_and_soon(drive: Any) -> None:
    desk = Desk(broken=frozenset({"search", "rank", "subcall", "count"}))

    told = drive(desk, "What happened to req-88bc?")

    assert told == Told("", [])
    assert len(desk.asked) <= 5


@pytest.mark.parametrize("drive", [by_react, by_code])
def test_the_simulated_model_leaves_the_driving_as_it_is(drive: Any) -> None:
    lm = SimulatedEngine(ExtractiveEngine(), Weaknesses(recall=0.0, middle=1.0)).lm()

    assert drive(Desk(), "What happened to req-88bc?", lm=lm) == drive(
        Desk(), "What happened to req-88bc?"
    )


@pytest.mark.parametrize("drive", [by_react, by_code])
def test_the_faults_of_a_service_strike_the_driving_too(drive: Any) -> None:
    lm = SimulatedEngine(ExtractiveEngine(), Weaknesses(rate_limit=1.0)).lm()

    with pytest.raises(dspy.LMRateLimitError):
        drive(Desk(), "What happened to req-88bc?", lm=lm)
