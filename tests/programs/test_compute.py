"""Computation: numbers, extremes, orders and differences come from code, exact, with what they rest on."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.compute import in_time_order
from runtime.claims import Claim

LOG = {
    "a.log": (
        "2026-03-02 08:00:05 ERROR disk full\n"
        "2026-03-02 08:00:01 INFO started\n"
        "\n"
        "2026-03-02 08:01:09 ERROR disk gone\n"
    ),
    "b.log": "2026-03-02 07:59:59 ERROR net down\n2026-03-02 09:30:00 INFO disk replaced\n",
}


def scans(say: Any, *patterns: Sequence[str], then: str, **fields: Any) -> list[dict[str, Any]]:
    """Searches, and a computation over them."""
    made = [say.step(f"s{n}", "scan", patterns=list(each)) for n, each in enumerate(patterns, 1)]
    last = say.step("c", "compute", operation=then, targets=[step["id"] for step in made])
    return [*made, {**last, **fields}]


def computed(ran: Any, name: str = "c") -> Any:
    return ran.step(name).observation.payload


def leaf_of(say: Any, *found: tuple[str, str, str, dict[str, str]]) -> Any:
    """A reader that reports (text, quote, time, fields) where the quote stands."""

    def read(request: Any) -> Any:
        here = [
            (text, span["span_id"], quote, time, fields)
            for span in request.value("spans")
            for text, quote, time, fields in found
            if quote in span["text"]
        ]
        reply = say.leaf(*((text, span, quote) for text, span, quote, _, _ in here))
        claims = [
            {**claim, "time": time}
            for claim, (*_, time, _) in zip(reply["claims"], here, strict=True)
        ]
        details = [
            {"claim_id": claim["claim_id"], "name": name, "value": value}
            for claim, (*_, fields) in zip(claims, here, strict=True)
            for name, value in fields.items()
        ]
        return {**reply, "claims": claims, "fields_found": details}

    return read


def over_claims(
    lab: Any, say: Any, reader: Any, operation: str, files: Any = LOG, **model: Any
) -> Any:
    steps = [
        say.step("s1", "analyze"),
        say.step("c", "compute", operation=operation, targets=["s1"]),
    ]
    return lab.ask(lab.model(steps=steps, AnalyzeLeaf=reader, **model), lab.corpus(files))


def test_a_count_is_exact_beyond_every_page(lab: Any, say: Any) -> None:
    """S9: not a top-k, not the model's arithmetic; each citation is a line that matches."""
    text = "".join(f"line {n} {'odd' if n % 2 else 'even'}\n" for n in range(5000))
    steps = scans(say, ['"odd"'], then="count")
    ran = lab.ask(
        lab.model(kind="count", steps=steps), lab.corpus({"n.txt": text}), 'How many "odd" lines?'
    )
    assert ran.answer.value == 2500
    assert type(ran.answer.value) is int
    assert ran.answer.outcome == "answered"
    assert ran.answer.text == '2500 lines match "odd".'
    assert 0 < len(ran.answer.claims[0].citations) <= 1000
    assert all("odd" in each.quote for each in ran.answer.claims[0].citations)


def test_a_line_that_two_searches_find_is_counted_once(lab: Any, say: Any) -> None:
    """S9: "error or disk" is a union; sums would count a line twice."""
    steps = scans(say, ["error"], ["disk"], then="count")
    ran = lab.ask(
        lab.model(kind="count", steps=steps), lab.corpus(LOG), "How many of error or disk?"
    )
    assert ran.answer.value == 4
    assert ran.answer.text == "4 lines match error or disk."
    by_source = scans(say, ["error"], ["disk"], then="count_by_source")
    ran = lab.ask(lab.model(kind="count", steps=by_source), lab.corpus(LOG), "How many per file?")
    assert ran.answer.value == [{"label": "a.log", "count": 2}, {"label": "b.log", "count": 2}]


def test_every_line_can_be_counted_blank_ones_too(lab: Any, say: Any) -> None:
    ran = lab.ask(
        lab.model(kind="count", steps=scans(say, ["/^/"], then="count")),
        lab.corpus(LOG),
        "How many lines?",
    )
    assert ran.answer.value == 6
    assert all(each.quote for each in ran.answer.claims[0].citations)


def test_counts_by_source_and_by_time(lab: Any, say: Any) -> None:
    """S9."""
    steps = scans(say, ["error"], then="count_by_time")
    ran = lab.ask(
        lab.model(kind="count", steps=steps), lab.corpus(LOG), "How many errors per minute?"
    )
    assert ran.answer.value == [
        {"label": "2026-03-02T07:59", "count": 1},
        {"label": "2026-03-02T08:00", "count": 1},
        {"label": "2026-03-02T08:01", "count": 1},
    ]


def test_lines_without_times_cannot_be_counted_by_time(lab: Any, say: Any) -> None:
    steps = scans(say, ["x"], then="count_by_time")
    ran = lab.ask(
        lab.model(kind="count", steps=steps), lab.corpus({"a.txt": "x\nx\n"}), "When most?"
    )
    assert ran.step("c").status == "failed"
    assert ran.step("c").observation.error_class == "missing_input"
    assert ran.answer.value is None
    assert ran.answer.outcome != "answered"


def test_a_count_never_comes_from_a_ranking(lab: Any, say: Any) -> None:
    """S9, DESIGN 3: not even when the model plans it so; the count is refused and the answer is not whole."""
    steps = [
        say.step("s1", "rank", query="error disk"),
        say.step("s2", "analyze", targets=["s1"]),
        say.step("s3", "compute", operation="count", targets=["s2"]),
    ]
    reader = leaf_of(say, ("E1", "disk full", "", {}), ("E2", "net down", "", {}))
    ran = lab.ask(
        lab.model(kind="count", steps=steps, AnalyzeLeaf=reader),
        lab.corpus(LOG),
        "How many errors?",
    )
    assert ran.step("s3").status == "failed"
    assert "not a ranking" in ran.step("s3").observation.error
    assert ran.answer.value is None
    assert ran.answer.outcome == "partial"


def test_statements_of_a_complete_reading_can_be_counted(lab: Any, say: Any) -> None:
    reader = leaf_of(say, ("E1", "disk full", "", {}), ("E2", "net down", "", {}))
    ran = over_claims(lab, say, reader, "count", kind="count")
    counted = [step.observation.payload for step in ran.state.frames["root"].steps
               if step.planned.operation == "count"]  # fmt: skip
    assert [each.value for each in counted] == [2]


def test_a_count_of_statements_is_no_value(lab: Any, say: Any) -> None:
    """A reader may report several lines in one statement: that number never looks like one that code has counted."""
    reader = leaf_of(say, ("E1", "disk full", "", {}), ("E2", "net down", "", {}))
    ran = over_claims(lab, say, reader, "count", kind="count")
    assert ran.answer.value is None
    assert ran.answer.outcome == "partial"
    assert any("not counted by code" in each for each in ran.answer.warnings)


def test_the_first_and_the_last_are_found_by_their_times(lab: Any, say: Any) -> None:
    """S9: not by their place in the text."""
    for operation, line in (("earliest", "net down"), ("latest", "disk gone")):
        ran = lab.ask(
            lab.model(steps=scans(say, ["error"], then=operation)), lab.corpus(LOG), "When?"
        )
        assert line in ran.answer.value["text"]
        assert ran.answer.outcome == "answered"
        assert ran.answer.claims[0].citations[0].quote.endswith(line)


def test_the_last_of_many_is_found_beyond_the_page(lab: Any, say: Any) -> None:
    """S9: the page of hits that is kept is not what is computed with."""
    lines = "".join(
        f"2026-03-02 {n // 3600:02}:{n // 60 % 60:02}:{n % 60:02} tick\n" for n in range(3000)
    )
    ran = lab.ask(
        lab.model(steps=scans(say, ["tick"], then="latest")),
        lab.corpus({"t.log": lines}),
        "When last?",
    )
    assert ran.answer.value["time"] == "2026-03-02T00:49:59"
    assert ran.answer.value["line"] == 3000


def test_what_has_no_time_is_neither_first_nor_last(lab: Any, say: Any) -> None:
    files = {
        "a.log": "  error without a time\n2026-03-02 08:00:00 error one\n"
        "2026-03-02 07:00:00 error two\n  trailing error\n"
    }
    for operation, line in (("earliest", "error two"), ("latest", "error one")):
        ran = lab.ask(
            lab.model(steps=scans(say, ["error"], then=operation)), lab.corpus(files), "When?"
        )
        assert line in ran.answer.value["text"]


QUANTITIES = (
    ("Rent is 1,200 a month.", "rent: 1,200", "", {"rent": "1,200 EUR"}),
    ("Power is 85.5.", "power: 85.5", "", {"power": "85.5"}),
    ("Water is 90.", "water: 90", "", {"water": "90"}),
    ("Nothing is known of heat.", "heat: ?", "", {}),
)
COSTS = {"costs.txt": "rent: 1,200\npower: 85.5\nwater: 90\nheat: ?\n"}


@pytest.mark.parametrize(("operation", "value"), [("minimum", 85.5), ("maximum", 1200.0)])
def test_the_smallest_and_the_largest_are_found_by_number(
    lab: Any, say: Any, operation: str, value: float
) -> None:
    """S9: from typed fields, not by comparing words."""
    ran = over_claims(lab, say, leaf_of(say, *QUANTITIES), operation, COSTS)
    assert ran.answer.value == value


def test_sorting_is_by_number_and_a_timeline_by_time(lab: Any, say: Any) -> None:
    """S9."""
    ran = over_claims(lab, say, leaf_of(say, *QUANTITIES), "sort", COSTS)
    assert ran.answer.value == ["Power is 85.5.", "Water is 90.", "Rent is 1,200 a month."]
    events = (
        ("Disk filled up.", "disk full", "2026-03-02 08:00:05", {}),
        ("Disk was lost.", "disk gone", "2026-03-02 08:01:09", {}),
        ("Net went down.", "net down", "2026-03-02 07:59:59", {}),
    )
    ran = over_claims(lab, say, leaf_of(say, *events), "timeline", kind="timeline")
    assert [each["text"] for each in ran.answer.value] == [
        "Net went down.",
        "Disk filled up.",
        "Disk was lost.",
    ]
    assert [each["source"] for each in ran.answer.value] == ["b.log", "a.log", "a.log"]


def test_a_timeline_merges_what_readers_of_one_window_each_reported(lab: Any, say: Any) -> None:
    """Only code sees that it is the same event: first time, number of all, last time."""
    fields = {"template": "disk <*>", "occurrences": "2"}
    events = (
        ("Disk trouble.", "disk full", "2026-03-02 08:00:05", fields),
        ("Disk trouble again.", "disk gone", "2026-03-02 08:01:09", fields),
    )
    ran = over_claims(lab, say, leaf_of(say, *events), "timeline", kind="timeline")
    assert len(ran.answer.value) == 1
    merged = {field.name: field.value for field in computed(ran).claims[0].fields}
    assert (merged["occurrences"], merged["windows"]) == ("4", "2")
    assert merged["last_seen"] == "2026-03-02 08:01:09"
    quotes = [each.quote for each in computed(ran).claims[0].citations]
    assert quotes == ["disk full", "disk gone"], "the first and the last occurrence are cited"


def test_distinct_values_keep_all_their_evidence(lab: Any, say: Any) -> None:
    users = (
        ("Root came.", "disk full", "", {"user": "root"}),
        ("Root came again.", "disk gone", "", {"user": "root"}),
        ("Eve came.", "net down", "", {"user": "eve"}),
    )
    ran = over_claims(lab, say, leaf_of(say, *users), "distinct", kind="list")
    assert ran.answer.value == ["root", "eve"]
    assert len(computed(ran).computed[0].claim_ids) == 3


@pytest.mark.parametrize(
    ("targets", "left"), [(["s1", "s2"], ["apple"]), (["s2", "s1"], ["cherry"])]
)
def test_a_difference_is_of_the_first_target_from_the_others(
    lab: Any, say: Any, targets: list[str], left: list[str]
) -> None:
    """S9: in the order in which the step names them."""
    files = {"one.txt": "fruit apple\nfruit banana\n", "two.txt": "fruit banana\nfruit cherry\n"}
    steps = [
        say.step("s1", "scan", patterns=["fruit"], targets=["one.txt"]),
        say.step("s2", "scan", patterns=["fruit"], targets=["two.txt"]),
        say.step("c", "compute", operation="difference", targets=targets),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(files))
    assert ran.answer.value == [f"fruit {each}" for each in left]


def test_contradictions_stand_side_by_side(lab: Any, say: Any) -> None:
    """S6: nothing decides which of them is right; both keep their citations."""
    said = (
        ("It is due in May.", "disk full", "", {"due": "May"}),
        ("It is due in June.", "net down", "", {"due": "June"}),
        ("It is blue.", "disk gone", "", {"color": "blue"}),
    )
    ran = over_claims(lab, say, leaf_of(say, *said), "conflicts", kind="conflict")
    assert ran.answer.value == [{"topic": "due", "values": ["may", "june"]}]
    assert len(ran.answer.conflicts) == 1
    assert set(ran.answer.conflicts[0].claim_ids) == {claim.id for claim in ran.answer.claims}
    assert len(ran.answer.claims) == 2


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"operation": ""}, "names no operation"),
        ({"operation": "difference"}, "two finished steps"),
        ({"operation": "count_by_time"}, "needs one search"),
    ],
)
def test_a_computation_without_what_it_needs_fails(
    lab: Any, say: Any, fields: Any, reason: str
) -> None:
    """Field report 38: dependencies are checked before the step is run."""
    steps = [say.step("s1", "analyze"), say.step("c", "compute", targets=["s1"], **fields)]
    ran = lab.ask(lab.model(steps=steps), lab.corpus({"a.txt": "FACT a\n"}))
    assert ran.step("c").status == "failed"
    assert reason in ran.step("c").observation.error
    assert ran.answer.value is None


times = st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1)).map(
    lambda t: t.replace(microsecond=0).isoformat()
)


@given(st.lists(st.one_of(times, st.just("")), max_size=12))
def test_the_order_of_time_keeps_everything_and_is_stable(given_times: list[str]) -> None:
    """S9: timed claims ascend; one without a time stays behind the one that it followed."""
    claims = [
        Claim(id=str(n), text="t", status="direct", time=t) for n, t in enumerate(given_times)
    ]
    ordered = in_time_order(claims)
    assert sorted(each.id for each in ordered) == sorted(each.id for each in claims)
    timed = [each.time for each in ordered if each.time]
    assert timed == sorted(timed)
    for at, claim in enumerate(ordered):
        before = claims[int(claim.id) - 1] if int(claim.id) else None
        if not claim.time and before is not None and not before.time:
            assert ordered[at - 1].id == before.id
