"""The score of a sample, from a question, an answer with its receipt, and a real corpus."""

import json
from pathlib import Path

import pytest

from data.corpus import Corpus
from evals.metrics import UNDEFINED, Ratio
from evals.score import STATES, SampleScore, score
from tests.evals.samples import answer, citation, claim, pumps, question, span

A, B, C = "Pump A ran for 7 hours.", "Pump B ran for 12 hours.", "Nobody checked pump C."


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return pumps(tmp_path_factory.mktemp("pumps"))


def test_a_right_answer_with_its_evidence_is_verified_correct(corpus: Corpus) -> None:
    at = span(corpus, "notes.txt", A)
    found = score(question("integer", "7", gold=[[[at]]]), answer(claim("7", at)), corpus)
    assert (found.state, found.correctness, found.read, found.read_from) == (
        "answer",
        "correct",
        "7",
        "text",
    )
    for each in (
        found.correct,
        found.verified_correct,
        found.citation_validity,
        found.quote_validity,
        found.evidence_recall,
        found.evidence_hit,
        found.citation_precision,
        found.partition_coverage,
        found.characters_read,
    ):
        assert each == Ratio(each.den, each.den)
        assert each.value == 1
    assert found.characters_shown == Ratio(50, 100)
    assert found.source_coverage == Ratio(1, 2)
    assert (found.calls, found.input_tokens, found.seconds, found.cost_usd) == (3, 100, 1.5, 0.0)


def test_right_without_evidence_is_not_verified(corpus: Corpus) -> None:
    """The right number with the wrong line, with no line, and with a quote that is not there."""
    right, wrong = span(corpus, "notes.txt", A), span(corpus, "notes.txt", B)
    asked = question("integer", "7", gold=[[[right]]])
    said = {
        "wrong": claim("7", wrong),
        "none": claim("7", computed=True),
        "also an invented one": claim("7", right, citation(right, source="nowhere.txt")),
        "misquoted": claim("7", citation(right, quote="Pump A ran for 9 hours.")),
    }
    for name, each in said.items():
        found = score(asked, answer(each, value=7), corpus)
        assert found.correct.value == 1, name
        assert found.verified_correct == Ratio(0, 1), name
    alone = score(asked, answer(said["none"], value=7), corpus)
    assert alone.answered_without_citation
    assert alone.citation_precision == alone.citation_validity == UNDEFINED
    assert alone.evidence_recall == Ratio(0, 1)


def test_each_way_in_which_a_citation_fails_is_counted(corpus: Corpus) -> None:
    at = span(corpus, "notes.txt", A)
    cited = claim(
        "7",
        at,
        citation(at, source="nowhere.txt"),
        citation(at, end=at.end + 1),
        citation(at, end=10_000),
        citation(at, start=-1),
        citation(at, start=5, end=5, quote=""),
    )
    found = score(question("integer", "7", gold=[[[at]]]), answer(cited), corpus)
    assert (found.unknown_sources, found.bad_ranges, found.quote_mismatches) == (1, 3, 1)
    assert found.citation_validity == found.quote_validity == Ratio(1, 6)
    assert found.citation_precision == Ratio(1, 6)


def test_offsets_are_code_points_of_the_stored_text(corpus: Corpus) -> None:
    """langextract#334, label-studio#1347: CJK and emoji; haystack#403: CRLF is kept, and counts as two."""
    text = corpus.text("diary.txt")
    assert "\r\n" in text
    for quote in ("水泵坏了😀", "😀", "replaced.\r\n"):
        at = span(corpus, "diary.txt", quote)
        asked = question("string", "x", gold=[[[at]]])
        assert score(asked, answer(claim("x", at)), corpus).verified_correct.value == 1
        start = len(text[: at.start].encode()), len(text[: at.start].encode("utf-16-le")) // 2
        for shifted in {each for each in start if each != at.start}:
            wrong = citation(at, start=shifted, end=shifted + len(quote))
            assert score(asked, answer(claim("x", wrong)), corpus).citation_validity.value == 0


def test_claims_without_enough_evidence_are_no_statements(corpus: Corpus) -> None:
    """What an answer calls insufficient is not counted for it, nor against it."""
    right, wrong = span(corpus, "notes.txt", A), span(corpus, "notes.txt", C)
    asked = question("integer", "7", gold=[[[right]]])
    shown = answer(claim("7", right), claim("9 perhaps", wrong, status="insufficient"))
    assert score(asked, shown, corpus) == score(asked, answer(claim("7", right)), corpus)


def test_a_state_is_an_outcome(corpus: Corpus) -> None:
    """ragas#878: "IDK" got points by its wording. The wording of an answer says nothing about its state."""
    at = span(corpus, "notes.txt", A)
    asked = question("integer", "7", gold=[[[at]]])
    for outcome, state in STATES.items():
        told = answer(claim("I do not know. Not found.", at), outcome=outcome)
        assert score(asked, told, corpus).state == state
    assert set(STATES.values()) == {"answer", "partial", "abstain", "error"}


def test_not_found_is_right_only_if_everything_was_examined(corpus: Corpus) -> None:
    ids = [each.id for each in corpus.partitions().partitions]
    asked = question("none")
    targeted = question("none", required_partitions=ids)
    whole = {"required": ids, "completed": ids}
    right = [
        answer(coverage=whole),
        answer(outcome="not_found_in_covered", coverage={**whole, "unparsed": ("x.bin",)}),
        answer(outcome="escalated", coverage=whole),
    ]
    wrong = [
        answer(coverage={**whole, "completed": ids[:1]}),
        answer(coverage={**whole, "completed": ids[:1], "failed": ids[1:]}),
        answer(coverage={**whole, "unparsed": ("x.bin",)}),
        answer(coverage={"required": (), "completed": ()}),
        answer(outcome="partial", coverage=whole),
    ]
    for each in right:
        found = score(targeted, each, corpus)
        assert (found.correctness, found.covered) == ("correct", True)
        assert found.verified_correct == Ratio(1, 1)
        assert score(asked, each, corpus).correctness == "correct"
    for each in wrong:
        assert score(targeted, each, corpus).verified_correct == Ratio(0, 1)
        assert score(asked, each, corpus).correctness == "incorrect"
    # What the program did not require and gold does.
    selected = answer(coverage={"required": ids[:1], "completed": ids[:1]})
    assert score(asked, selected, corpus).correctness == "correct"
    found = score(targeted, selected, corpus)
    assert (found.correctness, found.target_coverage) == ("incorrect", Ratio(1, len(ids)))


def test_the_rubric_is_that_of_gold(corpus: Corpus) -> None:
    """memorybench#82: the rubric for abstention was never reached. Here gold decides."""
    at = span(corpus, "notes.txt", A)
    claimed = answer(claim("7", at))
    assert score(question("none"), claimed, corpus).correctness == "incorrect"
    assert score(question("none"), answer(), corpus).correctness == "correct"
    assert (
        score(question("integer", "7", gold=[[[at]]]), answer(), corpus).correctness == "abstained"
    )


def test_a_failed_run_is_an_error_and_no_zero(corpus: Corpus) -> None:
    at = span(corpus, "notes.txt", A)
    for asked in (question("set", "7", gold=[[[at]]]), question("none")):
        found = score(asked, answer(outcome="failed"), corpus)
        assert (found.state, found.correctness) == ("error", "error")
        assert found.correct == found.verified_correct == found.set_f1 == UNDEFINED


def test_what_cannot_be_read_is_neither_right_nor_wrong(corpus: Corpus) -> None:
    """It is not verified either: a program that names two numbers cannot win by it."""
    at = span(corpus, "notes.txt", A)
    asked = question("integer", "7", gold=[[[at]]])
    found = score(asked, answer(claim("7 or 8", at)), corpus)
    assert (found.correctness, found.correct) == ("unparsed", UNDEFINED)
    assert found.verified_correct == Ratio(0, 1)


def test_a_partial_answer_without_a_statement_is_no_answer(corpus: Corpus) -> None:
    at = span(corpus, "notes.txt", A)
    told = answer(outcome="partial", text="No answer within the limits of this run.")
    found = score(question("integer", "7", gold=[[[at]]]), told, corpus)
    assert (found.state, found.correctness, found.empty_answer) == ("partial", "no_answer", True)
    assert not found.answered_without_citation


def test_a_count_of_nothing_is_proved_by_what_was_examined(corpus: Corpus) -> None:
    ids = [each.id for each in corpus.partitions().partitions]
    none = answer(
        claim("0 lines match", computed=True), value=0, coverage={"required": ids, "completed": ids}
    )
    targeted = question("integer", "0", kind="aggregate", required_partitions=ids)
    assert score(targeted, none, corpus).verified_correct == Ratio(1, 1)
    some = none.model_copy(
        update={"coverage": none.coverage.model_copy(update={"completed": ids[:1]})}
    )
    assert score(targeted, some, corpus).verified_correct == Ratio(0, 1)
    untold = question("integer", "0", kind="aggregate")
    assert score(untold, none, corpus).verified_correct == UNDEFINED
    assert score(untold, none, corpus).citation_precision == UNDEFINED


def test_a_total_over_a_part_is_unsupported(corpus: Corpus) -> None:
    at = span(corpus, "notes.txt", A)
    asked = question("integer", "1", kind="aggregate", gold=[[[at]]])
    counted = answer(claim("1 line", at, computed=True), value=1)
    assert (score(asked, counted, corpus).unsupported, score(asked, counted, corpus).unjudged) == (
        UNDEFINED,
        1,
    )
    part = counted.model_copy(
        update={"coverage": counted.coverage.model_copy(update={"completed": ("p1",)})}
    )
    assert score(asked, part, corpus).unsupported == Ratio(1, 1)


def test_coverage_of_other_partitions_is_undefined(corpus: Corpus) -> None:
    """Gold names partitions of `auto`; an answer over text that was cut in another way has other ids."""
    ids = [each.id for each in corpus.partitions().partitions]
    asked = question("none", required_partitions=ids)
    assert (
        score(
            asked, answer(coverage={"required": ("x",), "completed": ("x",)}), corpus
        ).target_coverage
        == UNDEFINED
    )


def test_a_judge_decides_what_is_supported(corpus: Corpus) -> None:
    """ragas#793, deepeval#2248: without evidence nothing is supported; promptfoo#2468: no verdict is no 1."""
    at = span(corpus, "notes.txt", A)
    asked = question("integer", "7", gold=[[[at]]])
    told = answer(claim("a", at), claim("b", at), claim("c", at), claim("d"))
    unjudged = score(asked, told, corpus)
    assert (unjudged.unsupported, unjudged.unjudged) == (Ratio(1, 1), 3)
    found = score(asked, told, corpus, verdicts={"a": True, "b": False, "c": None})
    assert (found.unsupported, found.unjudged) == (Ratio(2, 3), 1)


def test_a_citation_that_does_not_resolve_supports_nothing(corpus: Corpus) -> None:
    at = span(corpus, "notes.txt", A)
    invented = claim("7", citation(at, source="nowhere.txt"))
    found = score(question("integer", "7", gold=[[[at]]]), answer(invented), corpus)
    assert found.unsupported == Ratio(1, 1)
    assert not found.answered_without_citation


def test_an_unknown_price_is_not_zero(corpus: Corpus) -> None:
    told = answer(receipt={"cost_usd": None, "cached_calls": 2, "retries": 1})
    found = score(question("none"), told, corpus)
    assert (found.cost_usd, found.cached_calls, found.retries) == (None, 2, 1)


def test_a_score_survives_json(corpus: Corpus) -> None:
    """inspect_ai#4491: what is undefined is 0 of 0, never NaN or null."""
    at = span(corpus, "notes.txt", A)
    told = answer(claim("7", at))
    found = score(question("integer", "7", gold=[[[at]]]), told, corpus)
    text = found.model_dump_json()
    assert "NaN" not in text
    assert json.loads(text)["target_coverage"] == {"num": 0.0, "den": 0.0}
    assert SampleScore.model_validate_json(text) == found
    logged = json.loads(told.model_dump_json())
    assert score(question("integer", "7", gold=[[[at]]]), logged, corpus) == found


def test_a_source_that_could_not_be_read_cannot_be_cited(tmp_path: Path) -> None:
    from data.corpus import open_corpus

    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "b.bin").write_bytes(bytes(range(256)) * 40)
    corpus = open_corpus([tmp_path], store=tmp_path / "store")
    at = span(corpus, "a.txt", A)
    found = score(
        question("integer", "7", gold=[[[at]]]),
        answer(claim("7", citation(at, source="b.bin"))),
        corpus,
    )
    assert found.unknown_sources == 1
    assert found.source_coverage == Ratio(0, 1)


def test_gold_without_an_answer_grades_no_answer(corpus: Corpus) -> None:
    """Data that say where an answer stands and not what it is: evidence is measured, correctness is not."""
    at = span(corpus, "notes.txt", A)
    asked = question("none", gold=[[[at]]], answerable=True, kind="lookup")
    for told in (answer(claim("7", at)), answer(), answer(claim("7"))):
        found = score(asked, told, corpus)
        assert found.correctness == "ungraded"
        assert found.correct == found.verified_correct == UNDEFINED
    assert score(asked, answer(claim("7", at)), corpus).evidence_recall == Ratio(1, 1)
