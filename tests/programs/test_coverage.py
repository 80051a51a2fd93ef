"""Coverage: what was really examined, whatever a model says it has examined."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from runtime.limits import Limits
from runtime.models.scripted import Rule

ASKED = 'Is there any line that mentions "needle"?'
HAY = "just hay and more of it, line after line\n"


def long_file(word: str = "hay", at: int = 0) -> str:
    """About ten spans, `word` in one of them."""
    lines = [HAY] * 240
    lines[at] = f"FACT {word} is here\n"
    return "".join(lines)


FILES = {f"{name}.txt": long_file() for name in "abc"}


def ratio(ran: Any) -> tuple[str, int, int]:
    reach = ran.answer.coverage
    return ran.answer.outcome, len(reach.completed), len(reach.required)


def test_reading_everything_is_complete(lab: Any) -> None:
    """S10: absence after reading every partition."""
    ran = lab.ask(
        lab.model(kind="existence", AnalyzeLeaf=lab.say.leaf()), lab.corpus(FILES), "Any needle?"
    )
    assert ratio(ran) == ("not_found", 3, 3)
    assert ran.answer.coverage.ratio == 1.0
    assert ran.answer.claims == ()


def test_a_ranking_is_never_complete(lab: Any, say: Any) -> None:
    """DESIGN 3: a question about everything is not answered from a top-k, though it touched every partition."""
    steps = [say.step("s1", "rank", query="hay"), say.step("s2", "analyze", targets=["s1"])]
    model = lab.model(kind="existence", steps=steps, AnalyzeLeaf=say.leaf())
    ran = lab.ask(model, lab.corpus(FILES), "Any needle?")
    touched = ran.step("s2").observation.payload.done
    assert len(touched) >= 2
    assert ratio(ran) == ("not_found_in_covered", 0, 3)
    assert [each.exhaustive for each in ran.answer.coverage.searches] == [False]


def test_what_was_found_by_ranking_does_not_answer_a_question_about_everything(
    lab: Any, say: Any
) -> None:
    steps = [say.step("s1", "rank", query="hay"), say.step("s2", "analyze", targets=["s1"])]
    ran = lab.ask(lab.model(kind="list", steps=steps), lab.corpus(FILES), "List all facts.")
    assert ran.answer.claims
    assert ran.answer.outcome == "partial"
    assert ran.answer.coverage.unread


def test_a_question_for_one_thing_needs_what_was_selected(lab: Any, say: Any) -> None:
    steps = [say.step("s1", "rank", query="hay"), say.step("s2", "analyze", targets=["s1"])]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(FILES), "Where is the hay?")
    reach = ran.answer.coverage
    assert ran.answer.outcome == "answered"
    assert reach.required == reach.completed != ()
    assert reach.partitions == 3


def test_an_exhaustive_search_for_the_questions_own_string_settles_absence(
    lab: Any, say: Any
) -> None:
    """S10: method, coverage and failures of a negative answer are part of it."""
    steps = [
        say.step("s1", "scan", patterns=['"needle"']),
        say.step("s2", "analyze", targets=["s1"]),
    ]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(FILES), ASKED)
    assert ratio(ran) == ("not_found", 3, 3)
    assert ran.asked("AnalyzeLeaf") == []
    assert [each.model_dump() for each in ran.answer.coverage.searches] == [
        {"method": "scan", "query": '"needle"', "total": 0, "sources": 3, "exhaustive": True}
    ]


@pytest.mark.parametrize(
    "patterns",
    [['"nadel"'], ['"needle"', '"red"'], ["/need(le)+s/"]],
    ids=["another string", "one string too many", "a stricter expression"],
)
def test_a_search_for_what_a_model_thought_of_settles_nothing(
    lab: Any, say: Any, patterns: list[str]
) -> None:
    """Coverage is computed, not believed: whatever the model called the patterns of the question."""
    steps = [say.step("s1", "scan", patterns=patterns), say.step("s2", "analyze", targets=["s1"])]
    model = lab.model(kind="existence", patterns=patterns, steps=steps)
    ran = lab.ask(model, lab.corpus(FILES), ASKED)
    assert ratio(ran) == ("not_found_in_covered", 0, 3)


def test_lines_that_match_must_be_read(lab: Any, say: Any) -> None:
    """A partition with a match is complete when the match was judged; the others are by exclusion."""
    files = {**FILES, "b.txt": long_file("needle", at=100)}
    steps = [
        say.step("s1", "scan", patterns=['"needle"']),
        say.step("s2", "analyze", targets=["s1"]),
    ]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(files), ASKED)
    assert ratio(ran) == ("answered", 3, 3)
    assert len(ran.asked("AnalyzeLeaf")) == 1

    only_found = lab.ask(lab.model(kind="existence", steps=steps[:1]), lab.corpus(files), ASKED)
    assert ratio(only_found) == ("answered", 3, 3)
    assert len(only_found.asked("AnalyzeLeaf")) == 1, "the plan left it at the search"

    failing = lab.model(kind="existence", steps=steps, AnalyzeLeaf="I cannot say.")
    failed = lab.ask(failing, lab.corpus(files), ASKED)
    assert ratio(failed) == ("not_found_in_covered", 2, 3)
    assert len(failed.answer.coverage.failed) == 1


def test_reading_around_the_matches_is_as_good(lab: Any, say: Any) -> None:
    files = {**FILES, "b.txt": long_file("needle", at=100)}
    steps = [
        say.step("s1", "scan", patterns=['"needle"']),
        say.step("s2", "read", targets=["s1"]),
        say.step("s3", "analyze", targets=["s2"]),
    ]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(files), ASKED)
    assert ratio(ran) == ("answered", 3, 3)


def test_a_search_of_some_sources_says_nothing_of_the_others(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "scan", patterns=['"needle"'], targets=["a.txt", "c.txt"]),
        say.step("s2", "analyze", targets=["s1"]),
    ]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(FILES), ASKED)
    assert ratio(ran) == ("not_found_in_covered", 2, 3)
    names = {
        each.source
        for each in ran.corpus.partitions().partitions
        if each.id in ran.answer.coverage.unread
    }
    assert names == {"b.txt"}


def test_a_question_that_names_its_source_needs_no_other(lab: Any, say: Any) -> None:
    steps = [say.step("s1", "scan", patterns=['"needle"'])]
    files = {**FILES, "torn.pdf": b"%PDF-1.4 \0\0\0"}
    asked = 'Is there any line in a.txt that mentions "needle"?'
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(files), asked)
    assert ratio(ran) == ("not_found", 1, 1)
    assert ran.answer.coverage.unparsed == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("torn.txt", bytes(range(128, 256)) * 40, id="not a text"),
        pytest.param("paper.pdf", b"%PDF-1.4 \0\0\0", id="a format that is not read"),
    ],
)
def test_a_file_that_could_not_be_read_limits_what_may_be_claimed(
    lab: Any, say: Any, name: str, content: bytes
) -> None:
    """DESIGN 7: the rest goes on; the file is listed; neither absence nor a whole list may be claimed."""
    corpus = lab.corpus({**FILES, name: content})
    steps = [say.step("s1", "scan", patterns=['"needle"'])]
    ran = lab.ask(lab.model(kind="existence", steps=steps), corpus, ASKED)
    assert ratio(ran) == ("not_found_in_covered", 3, 3)
    assert ran.answer.coverage.unparsed == (name,)
    assert lab.ask(lab.model(kind="list"), corpus, "List all facts.").answer.outcome == "partial"
    assert lab.ask(lab.model(), corpus, "Where is the hay?").answer.outcome == "answered"


def test_what_is_left_out_on_purpose_limits_nothing(lab: Any, say: Any) -> None:
    """A picture and an empty file hold no text to miss."""
    corpus = lab.corpus({**FILES, "photo.png": b"\x89PNG\r\n\x1a\n\0\0", "empty.txt": b""})
    steps = [say.step("s1", "scan", patterns=['"needle"'])]
    ran = lab.ask(lab.model(kind="existence", steps=steps), corpus, ASKED)
    assert ratio(ran) == ("not_found", 3, 3)


def test_bytes_that_could_not_be_decoded_limit_absence(lab: Any, say: Any) -> None:
    torn = ("日本語のテキスト\n" * 40).encode() + b"\xff\xfe\xfd" + b" end\n"
    steps = [say.step("s1", "scan", patterns=['"needle"'])]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus({"j.txt": torn}), ASKED)
    assert ratio(ran) == ("not_found_in_covered", 1, 1)
    assert ran.answer.coverage.truncations == ("some bytes of j.txt could not be decoded",)


@pytest.mark.parametrize(
    ("searches", "suffice"),
    [([['"needle"']], False), ([['"needle"'], ['"pin"']], True), ([["/needle|pin/"]], True)],
)
def test_strings_of_two_clauses_are_absent_once_both_were_searched_for(
    lab: Any, say: Any, searches: list[list[str]], suffice: bool
) -> None:
    """What no search has settled is read."""
    steps = [say.step(f"s{i}", "scan", patterns=each) for i, each in enumerate(searches, 1)]
    question = 'Does "needle" appear, and does "pin"?'
    model = lab.model(kind="existence", steps=steps, AnalyzeLeaf=say.leaf())
    ran = lab.ask(model, lab.corpus(FILES), question)
    assert ratio(ran) == ("not_found", 3, 3)
    assert ("AnalyzeLeaf" not in {call.signature for call in model.log}) is suffice


def test_a_malformed_file_that_is_decoded_whole_limits_nothing(lab: Any, say: Any) -> None:
    """Absence is limited by what could not be decoded, not by what a complaint happens to say."""
    text = ("日本語のテキスト\n" * 40) + '"byte\n'
    steps = [say.step("s1", "scan", patterns=['"needle"'])]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus({"j.csv": text}), ASKED)
    assert ran.corpus.source("j.csv").parse_status == "degraded"
    assert ratio(ran) == ("not_found", 1, 1)


def test_hits_beyond_the_page_are_counted_and_listed_as_cut(lab: Any, say: Any) -> None:
    """S10: never a silent top-k."""
    corpus = lab.corpus({"a.log": "an error\n" * 1200, "b.log": "all good\n"})
    steps = [say.step("s1", "scan", patterns=["error"]), say.step("s2", "analyze", targets=["s1"])]
    ran = lab.ask(
        lab.model(kind="list", patterns=["error"], steps=steps), corpus, "List every error."
    )
    assert ran.answer.coverage.searches[0].total == 1200
    assert ran.answer.coverage.truncations == (
        "only 1000 of 1200 lines that match error were kept",
    )
    assert len(ran.answer.coverage.unread) >= 1


def test_a_partition_is_complete_once_a_later_reading_succeeds(lab: Any, say: Any) -> None:
    """S8: what failed may be read again, and only that counts as failed which never succeeded."""
    rule = Rule(signature="AnalyzeLeaf", contains="First?", reply="prose")
    steps = [
        say.step("s1", "analyze", query="First?", targets=["a.txt"]),
        say.step("s2", "analyze", query="Second?"),
    ]
    ran = lab.ask(lab.model(rule, kind="list", steps=steps), lab.corpus(FILES))
    assert ran.statuses()["s1"] == "failed"
    assert ratio(ran) == ("answered", 3, 3)


places = st.lists(st.sampled_from(["a.txt", "b.txt", "c.txt"]), max_size=2, unique=True)
acts = st.tuples(
    st.sampled_from(["analyze", "own", "other", "rank"]),
    places,
    st.sampled_from(["", "this", "all", "beside", "fetched"]),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(acts, min_size=1, max_size=4), failing=st.sampled_from(["", "a", "b", "c"]))
@example(moves=[("other", [], ""), ("own", ["a.txt"], "")], failing="")
@example(moves=[("other", [], ""), ("own", ["a.txt"], "all")], failing="")
@example(moves=[("rank", [], ""), ("own", ["a.txt"], "fetched")], failing="")
def test_coverage_never_exceeds_reality(lab: Any, say: Any, moves: Any, failing: str) -> None:
    """Hypothesis: a completed partition was shown to a reader as a whole, or its matches were and it had no other.

    Readings take in one step, all steps so far, a step and a source beside it, or what a step fetched.
    """
    files = {
        name: long_file(f"{name[0]} needle" if name[0] in "ab" else f"{name[0]} straw", 50)
        for name in FILES
    }
    steps = []
    found: list[str] = []
    for n, (act, where, reading) in enumerate(moves):
        query = {"query": f"Question {n}?"}
        if act == "analyze":
            steps.append(say.step(f"x{n}", "analyze", targets=where, **query))
            continue
        pattern = {"own": '"needle"', "other": '"straw"', "rank": ""}[act]
        action = "rank" if act == "rank" else "scan"
        patterns = [pattern] if pattern else []
        steps.append(say.step(f"x{n}", action, targets=where, patterns=patterns, query="hay line"))
        found.append(f"x{n}")
        used = list(found) if reading == "all" else [f"x{n}"]
        if reading == "fetched":
            steps.append(say.step(f"z{n}", "read", targets=list(found), depends_on=list(found)))
            used = [f"z{n}"]
        if reading:
            targets = [*used, "c.txt"] if reading == "beside" else used
            steps.append(say.step(f"y{n}", "analyze", targets=targets, depends_on=used, **query))
    rules = (
        [Rule(signature="AnalyzeLeaf", contains=f"FACT {failing} ", reply="prose")]
        if failing
        else []
    )
    corpus = lab.corpus(files)
    model = lab.model(*rules, kind="existence", patterns=['"needle"', '"straw"'], steps=steps)
    ran = lab.ask(model, corpus, ASKED)

    shown = {
        id
        for call in ran.calls
        if call.signature == "AnalyzeLeaf" and call.status == "done"
        for id in call.span_ids
    }
    searched = {
        source
        for step in ran.state.frames["root"].steps
        if step.planned.patterns == ['"needle"'] and step.status == "completed"
        for source in step.observation.payload.sources
    }
    cut = corpus.partitions()
    for partition in cut.partitions:
        spans = cut.spans(partition.id)
        matches = [s for s in spans if "needle" in corpus.slice(s.source, s.start, s.end)]
        read_whole = all(span.id in shown for span in spans)
        settled = partition.source in searched and all(span.id in shown for span in matches)
        if partition.id in ran.answer.coverage.completed:
            assert read_whole or settled
    if ran.answer.outcome == "not_found":
        assert ran.answer.coverage.ratio == 1.0


def test_a_prompt_shows_what_is_covered(lab: Any, say: Any) -> None:
    """The writer knows what was not read."""
    rule = Rule(signature="AnalyzeLeaf", contains="FACT b", error="context")
    files = {"a.txt": "FACT a\n", "b.txt": "FACT b\n"}
    ran = lab.ask(lab.model(rule, kind="list"), lab.corpus(files), limits=Limits(retries=0))
    prompt = ran.asked("Conclude")[0].prompt
    assert re.search(r"## coverage ## \]\]\n1 of 2 required partitions, 1 failed", prompt)
