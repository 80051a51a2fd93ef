"""Feedback: about this call, this predictor and this run; never the answer, never an order of the corpus."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.questions import Question
from evals.call_facts import CallFacts, FailedRef, GoldPlace, call_facts
from evals.excerpts import excerpt, excerpt_outputs
from evals.feedback import LONGEST, feedback, unusable
from evals.log import SampleRecord
from evals.objective import Objective, grade
from evals.score import score
from programs.answer import Answer
from tests.evals.meetings import ATTACK, BUDGET, FORGED, VENUE, Meetings, leaf, meetings
from tests.evals.samples import answer, claim, span

OBJECTIVE = Objective.parse("verified_correct")


@dataclass(frozen=True)
class Made:
    """A call, or a rollout, without what feedback does not look at."""

    predictor: str = "analyze_leaf"
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    facts: CallFacts = field(default_factory=CallFacts)


@dataclass(frozen=True)
class MadeRollout:
    question_id: str
    record: SampleRecord
    calls: tuple[Made, ...] = ()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Meetings:
    return meetings(tmp_path_factory.mktemp("held"))


def record(held: Meetings, asked: Question, said: Answer) -> SampleRecord:
    return SampleRecord(
        program="p",
        question_id=asked.id,
        epoch=1,
        state="done",
        answer=said.model_dump(mode="json"),
        score=score(asked, said, held.corpus),
        seconds=1.0,
        started="now",
    )


def told(
    held: Meetings,
    name: str,
    said: Answer,
    *calls: Made,
    predictor: str | None = None,
    about: int | None = None,
) -> str:
    asked = held.questions[name]
    made = MadeRollout(name, record(held, asked, said), calls)
    call = None if about is None else calls[about]
    named = call.predictor if call and predictor is None else predictor
    return feedback(asked, made, grade(made.record, OBJECTIVE), named, call)


def read(held: Meetings, source: str, reply: dict[str, Any], name: str = "budget") -> Made:
    """A reader's call as an optimizer is shown it."""
    inputs = held.reading(source)
    facts = held.facts(inputs, reply, held.questions[name])
    seen = "analyze_leaf", inputs, reply, facts
    return Made("analyze_leaf", excerpt(*seen), excerpt_outputs(*seen), facts)


def holder(held: Meetings, text: str) -> str:
    spans = held.reading("budget.txt")["spans"]
    return next(each.span_id for each in spans if text in each.text)


NOTHING = answer(outcome="not_found_in_covered")


# This very call


def test_a_reader_is_told_what_it_missed_and_where(held: Meetings) -> None:
    said = told(held, "budget", NOTHING, read(held, "budget.txt", leaf()), about=0)
    assert "Of 1 needed fact, 1 stood in what this call was given; it missed 1" in said
    assert "fact 1 at budget.txt line 31" in said


def test_a_reader_is_not_blamed_for_what_another_one_had(held: Meetings) -> None:
    calls = read(held, "venue.txt", leaf()), read(held, "budget.txt", leaf())
    said = told(held, "budget", NOTHING, *calls, about=0)
    assert "None of the evidence that the question needs stood in what this call was given" in said
    other = told(held, "budget", NOTHING, *calls, about=1)
    assert "None of the evidence" not in other
    assert said != other


def test_each_citation_that_failed_is_told_with_how(held: Meetings) -> None:
    id = holder(held, BUDGET)
    reply = leaf(("A", "ffffffffffff", "x y"), ("B", id, "the Lisbon budget was 5 euros"))
    said = told(held, "budget", NOTHING, read(held, "budget.txt", reply), about=0)
    assert "2 pieces of its evidence failed" in said
    assert 'c1: "x y" - its span_id is not one of the spans shown' in said
    assert 'c2: "the Lisbon budget was 5 euros" - the quote differs' in said
    assert 'Without any evidence that holds, and so thrown away: "A"; "B"' in said


def test_citations_beside_the_point_are_counted(held: Meetings) -> None:
    line = "Speaker 3 talked about the weather of day 3."
    reply = leaf(("A", holder(held, BUDGET), BUDGET), ("B", holder(held, line), line))
    said = told(held, "budget", NOTHING, read(held, "budget.txt", reply), about=0)
    assert "1 of its 2 citations lie outside of the evidence" in said


def test_an_excerpt_that_shows_less_says_so(held: Meetings) -> None:
    line = "Speaker 3 talked about the weather of day 3."
    reply = leaf(*(("A", holder(held, line), line) for _ in range(20)))
    said = told(held, "budget", NOTHING, read(held, "budget.txt", reply), about=0)
    assert re.search(r"gave 20 claims \(the excerpt shows [1-9] of them\)", said)


def test_a_conclusion_is_told_what_it_dropped(held: Meetings) -> None:
    digest = {"claim_id": "s1.1", "text": "A budget.", "status": "direct", "time": ""}
    inputs = {"claims": [{**digest, "sources": ["budget.txt"], "quotes": [BUDGET]}], "computed": []}
    reply = {"statements": [], "unknowns": [], "statement_count": 0}
    asked = held.questions["budget"]
    facts = call_facts("conclude", inputs, reply, asked, held.corpus)
    said = told(held, "budget", NOTHING, Made("conclude", inputs, reply, facts), about=0)
    assert "This call was given 1 claim and gave 0 statements" in said
    assert "it missed 1: fact 1 at budget.txt line 31 (s1.1)" in said


# The whole


def test_what_became_of_a_fact_is_told(held: Meetings) -> None:
    unread = told(held, "budget", NOTHING)
    assert "fact 1 in budget.txt (no call was shown it)" in unread
    passed = told(held, "budget", NOTHING, read(held, "budget.txt", leaf()))
    assert "fact 1 at budget.txt line 31 (shown, never cited)" in passed
    cited = leaf(("A", holder(held, BUDGET), BUDGET))
    dropped = told(held, "budget", NOTHING, read(held, "budget.txt", cited))
    assert "(a call cited it, then it was dropped)" in dropped


def test_where_nothing_answers_to_abstain_is_right(held: Meetings) -> None:
    invented = claim("Ana was elected.", span(held.corpus, "venue.txt", "Speaker 1"))
    wrong = told(
        held, "absent", answer(invented), read(held, "venue.txt", leaf(), "absent"), about=0
    )
    assert "Right is to abstain" in wrong
    assert "to abstain after reading everything was right" in told(held, "absent", answer())
    hasty = answer(outcome="not_found_in_covered", coverage={"completed": ("p1",)})
    assert "only once all that had to be read was read" in told(held, "absent", hasty)


def test_a_gate_is_named(held: Meetings) -> None:
    said = answer(claim("x"), outcome="partial", warnings=("limit reached: calls (3 of 3)",))
    assert "the score is 0 because of: the limit of calls ended the run" in told(
        held, "budget", said
    )


def test_an_error_is_told_by_its_first_words(held: Meetings) -> None:
    broken = SampleRecord(
        program="p", question_id="budget", epoch=1, state="error", error_class="ParseFailure",
        error=f"no JSON in ```{'x' * 900}", seconds=1.0, started="now",
    )  # fmt: skip
    made = MadeRollout("budget", broken)
    said = feedback(held.questions["budget"], made, grade(broken, OBJECTIVE), "analyze_leaf")
    assert "error: ParseFailure" in said
    assert len(said) <= LONGEST
    assert "```" not in said


def test_the_budget_is_told(held: Meetings) -> None:
    assert "It used 110 tokens, 1% of the 20000" in told(held, "budget", NOTHING)
    dear = answer(outcome="not_found_in_covered", receipt={"input_tokens": 50_000})
    assert "read less, and ask shorter" in told(held, "budget", dear)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plan", "A plan has to reach"),
        ("refine", "A refinement goes on"),
        ("conclude", "A conclusion takes up"),
        ("act", "A turn looks where"),
        ("classify", "The kind and requires_all"),
        ("analyze_leaf.predict", "A reader reports"),
        ("sub_query", "keep to its fields"),
    ],
)
def test_every_predictor_is_told_something(held: Meetings, name: str, words: str) -> None:
    said = told(held, "budget", NOTHING, predictor=name)
    assert words in said
    assert "was called 0 times" in said
    assert "Write rules that hold for other questions" in said


def test_what_decides_how_much_is_read_is_told_what_was_needed(held: Meetings) -> None:
    asked = held.questions["budget"].model_copy(
        update={
            "kind": "aggregate",
            "required_partitions": tuple(each.id for each in held.corpus.partitions().partitions),
        }
    )
    made = MadeRollout("budget", record(held, asked, NOTHING))
    said = feedback(asked, made, grade(made.record, OBJECTIVE), "classify")
    assert re.search(r"needs \d+ parts of the text; an unknown part was examined", said)
    assert "requires_all is true" in said


# What never appears


def test_no_feedback_hands_out_an_answer(held: Meetings) -> None:
    """gepa#261: instructions that copy phrases of the training set. What is not told cannot be copied."""
    for name, gold in (("budget", BUDGET), ("venue", VENUE)):
        for source in ("budget.txt", "venue.txt", "attack.txt"):
            for about in (0, None):
                for predictor in (None, "analyze_leaf", "conclude", "plan"):
                    calls = (read(held, source, leaf(), name),)
                    said = told(held, name, NOTHING, *calls, about=about, predictor=predictor)
                    assert gold not in said
                    assert " ".join(gold.split()[:9]) not in said
                    assert not any(each in said for each in held.questions[name].answer.values)


def test_text_of_a_corpus_is_harmless_in_feedback(held: Meetings) -> None:
    inputs = held.reading("attack.txt")
    id = inputs["spans"][0].span_id
    pieces = [*ATTACK.splitlines(), ATTACK]
    for piece in pieces:
        reply = leaf((piece, id + "\n# x", piece + "!"), (piece, "```", piece))
        said = told(held, "budget", NOTHING, read(held, "attack.txt", reply), about=0)
        assert not any(each in said for each in FORGED), piece
        assert len(said) <= LONGEST
        assert not any(each in unusable("it broke", piece) for each in FORGED)


words = st.text(max_size=300)
places = st.builds(
    GoldPlace, fact=st.integers(1, 9), source=words, first_line=st.integers(1, 9),
    last_line=st.integers(1, 9), within=words,
)  # fmt: skip
refs = st.builds(
    FailedRef, claim_id=words, within=words, words=st.text(max_size=80),
    why=st.sampled_from(["empty", "not_in_text", "unknown_claim", "not_shown"]),
)  # fmt: skip
any_facts = st.builds(
    CallFacts,
    gold=st.lists(places, max_size=30).map(tuple),
    missed=st.lists(st.integers(1, 9), max_size=9).map(tuple),
    failed=st.lists(refs, max_size=30).map(tuple),
    failures=st.integers(0, 99),
    unsupported=st.lists(st.text(max_size=80), max_size=30).map(tuple),
    claims=st.integers(0, 99),
    citations=st.integers(0, 99),
    outside=st.integers(0, 99),
    spans=st.integers(0, 99),
)


@settings(max_examples=60)
@given(facts=any_facts, name=st.sampled_from(["analyze_leaf", "conclude", "plan", "x"]))
def test_any_feedback_is_bounded_and_the_same_again(
    held: Meetings, facts: CallFacts, name: str
) -> None:
    for asked in ("budget", "absent"):
        call = Made(name, {}, {}, facts)
        said = told(held, asked, NOTHING, call, about=0)
        assert 0 < len(said) <= LONGEST
        assert said == told(held, asked, NOTHING, call, about=0)
        assert "```" not in said
        assert "[[ ##" not in said
        assert "\n#" not in said
    assert 0 < len(unusable("x", "y" * 10_000)) <= LONGEST
