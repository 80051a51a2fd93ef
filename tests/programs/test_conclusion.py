"""Conclusion: the model words the answer; what it rests on, and whether it may say so, is decided by code."""

from typing import Any

import pytest

from programs.conclusion import as_they_are, cited, digest, in_groups
from runtime.claims import Citation, Claim, Computed
from runtime.models.scripted import Reply, Rule
from signatures import Statement

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


def citation(quote: str, source: str = "s", start: int = 0) -> Citation:
    return Citation(
        source=source,
        start=start,
        end=start + len(quote),
        line_start=3,
        line_end=3,
        quote=quote,
        span_id="0" * 12,
        verdict="verbatim",
    )


def claim(id: str, text: str, *quotes: str, **fields: Any) -> Claim:
    made = tuple(citation(quote, start=100 * n) for n, quote in enumerate(quotes))
    return Claim(id=id, text=text, status=fields.pop("status", "direct"), citations=made, **fields)


def stated(text: str, *claims: Claim, status: Any = "direct", computed: Any = ()) -> Claim:
    statement = Statement(text=text, status=status, claim_ids=[each.id for each in claims])
    return cited(statement, {each.id: each for each in claims}, computed, "root/s9/final.1")


OPEN = claim("c1", "The valve is open.", "valve open at 10:42")
SHUT = claim("c2", "The valve is shut.", "valve shut")


def test_a_statement_gets_the_citations_of_the_claims_it_names() -> None:
    """72, S5: the writer groups and words; it cannot cite."""
    made = stated("First open, then shut.", OPEN, SHUT)
    assert [each.quote for each in made.citations] == ["valve open at 10:42", "valve shut"]
    assert made.premises == ("c1", "c2")
    assert made.status == "direct"


def test_a_statement_that_names_no_known_claim_is_insufficient() -> None:
    """S5, DESIGN 3: a claim without evidence becomes insufficient, whatever it says of itself."""
    statement = Statement(text="The butler did it.", status="direct", claim_ids=["c9", ""])
    made = cited(statement, {"c1": OPEN}, (), "x")
    assert (made.status, made.citations, made.premises, made.computed) == (
        "insufficient",
        (),
        (),
        False,
    )


@pytest.mark.parametrize(
    ("premise", "asked", "given"),
    [
        ("direct", "direct", "direct"),
        ("inferred", "direct", "inferred"),
        ("direct", "inferred", "inferred"),
        ("conflicting", "direct", "conflicting"),
        ("insufficient", "direct", "insufficient"),
        ("direct", "insufficient", "insufficient"),
    ],
)
def test_a_statement_is_no_stronger_than_its_weakest_premise(
    premise: Any, asked: Any, given: str
) -> None:
    weak = claim("c3", "It was so.", "it was so", status=premise)
    assert stated("It was so.", weak, status=asked).status == given


def test_a_conflict_needs_both_sides() -> None:
    """S6."""
    assert stated("Open or shut?", OPEN, SHUT, status="conflicting").status == "conflicting"
    assert stated("Open or shut?", OPEN, status="conflicting").status == "direct"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("It was open at 10:42.", "direct"),
        ("It is in line 3.", "direct"),
        ("It was open at 10:43.", "inferred"),
        ("2 valves were open.", "inferred"),
        ("It was open because of the heat.", "inferred"),
        ("Opening it led to the flood.", "inferred"),
    ],
)
def test_a_number_or_a_cause_that_nothing_states_is_an_inference(text: str, status: str) -> None:
    """DESIGN 3, S9: no arithmetic of the model is passed off as found."""
    assert stated(text, OPEN).status == status


def test_a_computed_number_may_be_stated() -> None:
    count = Computed(name="count", lines=("2 lines match valve.",), claim_ids=("c1", "c2"))
    assert stated("2 valves were open.", OPEN, computed=[count]).status == "direct"


def test_too_many_claims_are_concluded_in_groups() -> None:
    claims = [claim(f"c{n}", "x" * 1000, "q" * 500) for n in range(200)]
    groups = in_groups(claims)
    assert len(groups) > 1
    assert [each for group in groups for each in group] == claims
    assert in_groups([]) == [[]]


def test_a_digest_is_short_data() -> None:
    """22: quotes are cut, sources are few; ids are what the writer refers to."""
    long = claim("c1", "It is long.", *(f"{n} " + "x" * 5000 for n in range(9)))
    shown = digest(long)
    assert len(shown.quotes) == 3
    assert max(map(len, shown.quotes)) == 600
    assert shown.claim_id == "c1"


def test_the_findings_as_they_are_put_computed_ones_first() -> None:
    order = Computed(name="timeline", lines=(), claim_ids=("c2",))
    assert as_they_are([OPEN, SHUT], [order]) == [SHUT]
    assert as_they_are([OPEN, SHUT], []) == [OPEN, SHUT]


def test_the_writer_sees_claims_values_coverage_and_steps(lab: Any, say: Any) -> None:
    """72, 73: what was done and what was not, beside what was found."""
    steps = [
        say.step("s1", "scan", patterns=["FACT"]),
        say.step("s2", "compute", operation="count", targets=["s1"]),
        say.step("s3", "analyze", targets=["nowhere.txt"]),
        say.step("s4", "analyze", targets=["s1"]),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    prompt = ran.asked("Conclude")[0].prompt
    assert "2 lines match FACT." in prompt
    assert "root/s4/0.1" in prompt
    assert '"s1 completed: Do scan as s1"' in prompt
    assert '"s3 failed: Do analyze as s3"' in prompt
    assert "required partition" in prompt


def test_an_answer_lists_every_step_with_its_status(lab: Any, say: Any) -> None:
    """73."""
    steps = [say.step("s1", "analyze"), say.step("s2", "analyze", targets=["nowhere.txt"])]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    listed = [(each.id, each.status) for each in ran.answer.steps]
    assert listed == [("s1", "completed"), ("s2", "failed"), ("conclude", "completed")]


def test_unknown_claims_are_sent_back_once_and_never_shown(lab: Any, say: Any) -> None:
    """82, S5, bar 5: the reviewer says what is wrong; the second reply is taken as far as it holds."""
    made_up = say.conclude(("It was the butler.", ["c99"]), ("And the cook.", []))
    ran = lab.ask(lab.model(Conclude=made_up), lab.corpus(TWO))
    assert len(ran.asked("Conclude")) == 2
    assert "c99" in ran.asked("Conclude")[1].prompt
    assert "butler" not in ran.answer.text
    assert {each.status for each in ran.answer.claims} == {"insufficient"}
    assert "without evidence: It was the butler." in ran.answer.unknowns
    assert ran.answer.outcome != "answered"


def test_a_known_claim_beside_an_unknown_one_holds(lab: Any, say: Any) -> None:
    mixed = say.conclude(("It is open.", ["root/s1/0.1", "c99"]))
    ran = lab.ask(lab.model(Conclude=mixed), lab.corpus(TWO))
    assert [each.quote for each in ran.answer.claims[0].citations] == ["FACT the valve is open"]
    assert ran.answer.claims[0].premises == ("root/s1/0.1",)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("In short: all is well.", id="prose"),
        pytest.param(Reply('{"statements": [', finish_reason="length"), id="truncated"),
        pytest.param({"statements": [], "unknowns": [], "statement_count": 4}, id="cut list"),
        pytest.param(Reply(error="context"), id="overflow"),
    ],
)
def test_without_a_writer_the_findings_are_given_as_they_are(lab: Any, reply: Any) -> None:
    """72, 75, 94, bar 5: verified claims survive; it is flagged and warned about."""
    ran = lab.ask(lab.model(Conclude=reply), lab.corpus(TWO))
    assert len(ran.answer.claims) == 2
    assert ran.answer.degraded
    assert ran.warned == ["conclude_failed"]
    assert ran.statuses()["s2"] == "completed"


def test_a_writer_with_nothing_to_say_makes_no_answer(lab: Any, say: Any) -> None:
    """74: an empty conclusion is not an answer, and what was read stays covered."""
    ran = lab.ask(lab.model(Conclude=say.conclude(unknowns=["Who did it?"])), lab.corpus(TWO))
    assert ran.answer.outcome == "not_found_in_covered", "facts were found: they are not absent"
    assert ran.answer.unknowns == ("Who did it?",)


def test_a_conclusion_over_groups_keeps_all_evidence(lab: Any, say: Any) -> None:
    """72: partial conclusions are premises of the last one."""
    lines = "".join(f"FACT {n} {'x' * 700}\n" for n in range(160))
    ran = lab.ask(lab.model(), lab.corpus({"a.txt": lines}))
    assert len(ran.asked("Conclude")) >= 3
    cited_lines = {each.line_start for claim in ran.answer.claims for each in claim.citations}
    assert cited_lines == set(range(1, 161))


def test_conflicts_that_the_writer_states_are_listed(lab: Any, say: Any) -> None:
    """S6: both sides, side by side."""
    both = say.conclude(("Open or off?", ["root/s1/0.1", "root/s1/1.1"]))
    both["statements"][0]["status"] = "conflicting"
    ran = lab.ask(lab.model(Conclude=both), lab.corpus(TWO))
    assert ran.answer.conflicts[0].values == ("FACT the valve is open", "FACT the pump is off")
    assert ran.answer.claims[0].status == "conflicting"


def test_a_writer_may_not_change_a_count(lab: Any, say: Any) -> None:
    """S9: sent back once; then the value is still the computed one, and the wrong number is an inference."""
    steps = [
        say.step("s1", "scan", patterns=["FACT"]),
        say.step("s2", "compute", operation="count", targets=["s1"]),
    ]
    wrong = say.conclude(("There are 7 such lines.", ["root/s2.count"]))
    ran = lab.ask(
        lab.model(kind="count", steps=steps, Conclude=wrong),
        lab.corpus(TWO),
        "How many FACT lines?",
    )
    assert "computed count, 2" in ran.asked("Conclude")[1].prompt
    assert ran.answer.value == 2
    assert ran.answer.claims[0].status == "inferred"


def test_a_first_reply_that_cannot_be_read_is_asked_for_again(lab: Any) -> None:
    rule = Rule(signature="Conclude", times=1, reply="All is well.")
    ran = lab.ask(lab.model(rule), lab.corpus(TWO))
    assert not ran.answer.degraded
    assert len(ran.answer.claims) == 2


def test_a_conclusion_that_is_too_much_for_the_model_is_made_in_groups(lab: Any, say: Any) -> None:
    """26: a context overflow splits the work; no evidence is lost on the way."""
    lines = [f"FACT number {n} " + f"and so on {n} " * 60 for n in range(12)]

    def writer(request: Any) -> Any:
        ids = [each["claim_id"] for each in request.value("claims", [])]
        if len(ids) > 6:
            return Reply(error="context")
        return say.conclude((f"{len(ids)} things.", ids)) if ids else say.conclude()

    ran = lab.ask(lab.model(Conclude=writer), lab.corpus({"a.txt": "\n".join(lines) + "\n"}))
    assert len(ran.asked("Conclude")) > 2
    assert not ran.answer.degraded
    cited = {cite.line_start for claim in ran.answer.claims for cite in claim.citations}
    assert cited == set(range(1, 13))


def test_a_timeline_in_stretches_keeps_its_order(lab: Any, say: Any) -> None:
    lines = [
        f"2026-03-10 09:{n:02}:00,000 ERROR FACT step {n} " + f"and so on {n} " * 60
        for n in range(12)
    ]

    def reader(request: Any) -> Any:
        found = lab.facts(request)
        times = [each["text"].removeprefix("It says: ")[:23] for each in found["claims"]]
        timed = zip(found["claims"], times, strict=True)
        return {**found, "claims": [{**each, "time": time} for each, time in timed]}

    def writer(request: Any) -> Any:
        claims = request.value("claims", [])
        return Reply(error="context") if len(claims) > 6 else lab.restated(request)

    steps = [
        say.step("s1", "analyze"),
        say.step("s2", "compute", targets=["s1"], operation="timeline"),
        say.step("s3", "conclude"),
    ]
    model = lab.model(kind="timeline", steps=steps, AnalyzeLeaf=reader, Conclude=writer)
    ran = lab.ask(model, lab.corpus({"a.log": "\n".join(lines) + "\n"}), "What happened?")
    assert [claim.citations[0].line_start for claim in ran.answer.claims] == list(range(1, 13))
    assert [entry["line"] for entry in ran.answer.value] == list(range(1, 13))
    assert not ran.answer.degraded
