"""Primitive actions: exhaustive searches, rankings and readings, within the part that a step names."""

from typing import Any

import pytest

from data.corpus import Corpus, load_corpus
from runtime.errors import PatternError, PermissionFailure
from runtime.limits import Limits

LOG = "".join(
    f"2026-03-02 08:{n // 60:02}:{n % 60:02} {'ERROR' if n % 7 == 0 else 'INFO'} request {n} of the day\n"
    for n in range(2000)
)
TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}


def test_a_search_counts_everything_and_keeps_a_page(lab: Any, say: Any) -> None:
    """S10: never a silent top-k."""
    ran = lab.ask(
        lab.model(steps=[say.step("s1", "scan", patterns=["request"])]), lab.corpus({"r.log": LOG})
    )
    found = ran.step("s1").observation.payload
    assert (found.total, len(found.hits)) == (2000, 1000)
    assert dict(found.by_source) == {"r.log": 2000}
    assert sum(count for _, count in found.by_time) == 2000
    assert ran.step("s1").observation.summary == "2000 lines match request: r.log (2000)"


def test_finding_nothing_is_a_result_and_told_as_such(lab: Any, say: Any) -> None:
    """9, 26: success with the class not_found, so that refinement may widen the search."""
    ran = lab.ask(lab.model(steps=[say.step("s1", "scan", patterns=["zebra"])]), lab.corpus(TWO))
    seen = ran.step("s1").observation
    assert (ran.step("s1").status, seen.success, seen.error_class) == (
        "completed",
        True,
        "not_found",
    )
    assert seen.summary == "no line matches zebra"


@pytest.mark.parametrize(
    ("fields", "error_class"),
    [
        ({"patterns": []}, "missing_input"),
        ({"patterns": ["/(?=x)y/"]}, "parse_failure"),
        ({"patterns": ["/(/"]}, "parse_failure"),
        ({"patterns": [""]}, "parse_failure"),
        ({"patterns": ["x"], "targets": ["nowhere.txt"]}, "not_found"),
    ],
)
def test_a_search_that_cannot_be_made_is_a_failed_step_and_not_the_end(
    lab: Any, say: Any, fields: Any, error_class: str
) -> None:
    """11: a pattern that a model writes wrongly is information for the rest of its plan."""
    steps = [say.step("s1", "scan", **fields), say.step("s2", "analyze")]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert ran.step("s1").status == "failed"
    assert ran.step("s1").observation.error_class == error_class
    assert f"error_class ## ]]\n{error_class}" in ran.asked("Refine")[0].prompt
    assert ran.answer.outcome == "answered"


def test_a_pattern_that_a_classification_gets_wrong_is_left_out(lab: Any) -> None:
    """45, 94."""
    model = lab.model(patterns=["/(?<=x)y/", "valve"])
    ran = lab.ask(model, lab.corpus(TWO), "What of the valve?")
    assert ran.state.classified.patterns == ("valve",)
    assert "pattern_refused" in ran.warned
    assert any("lookbehind" in warning for warning in ran.answer.warnings)


def test_a_search_of_a_part_counts_only_that_part(lab: Any, say: Any) -> None:
    """20: a child that is limited to the results of a search does not search around them."""
    count = [
        say.step("s1", "scan", patterns=["ERROR"]),
        say.step("s2", "compute", operation="count", targets=["s1"]),
        say.step("s3", "rank", query="request error"),
    ]
    steps = [
        say.step("s1", "scan", patterns=['"request 700 "']),
        say.step("s2", "subtask", query="Count there", targets=["s1"]),
    ]
    ran = lab.ask(
        lab.model(
            steps=steps,
            Plan=lambda request: say.plan(
                *(count if "Count there" in request.inputs["task"] else steps)
            ),
        ),
        lab.corpus({"r.log": LOG}),
    )
    part = ran.corpus.partitions().partition(ran.state.frames["root.s2"].targets[0])
    inside = ran.corpus.slice("r.log", part.start, part.end)
    assert part.end - part.start < len(LOG)
    assert (
        ran.step("root.s2/s1").observation.payload.total
        == inside.count("ERROR")
        < LOG.count("ERROR")
    )
    assert ran.step("root.s2/s2").observation.payload.value == inside.count("ERROR")
    spans = {span.id for span in ran.corpus.partitions().spans(part.id)}
    assert set(ran.step("root.s2/s3").observation.payload.span_ids) <= spans


def test_reading_adds_the_neighbors(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "scan", patterns=['"request 700 "']),
        say.step("s2", "read", targets=["s1"]),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus({"r.log": LOG}))
    spans = [ran.corpus.partitions().span(id) for id in ran.step("s2").observation.payload.span_ids]
    assert len(spans) == 3
    assert spans[0].end == spans[1].start
    assert spans[1].end == spans[2].start
    hit = ran.step("s1").observation.payload.hits[0]
    assert spans[1].start <= hit.start < spans[1].end


def test_an_invalid_expression_of_the_question_is_told_to_the_user(lab: Any) -> None:
    """DESIGN 7: a pattern that is not valid; one clear message, no call, no run."""
    engine = lab.model()
    with pytest.raises(PatternError) as refused:
        lab.program(engine)(question="How many lines match /(?=x)y/?", corpus=lab.corpus(TWO))
    assert "lookahead" in refused.value.message
    assert refused.value.hint
    assert engine.log == []
    assert lab.runs() == []


class Guarded(Corpus):
    """A corpus of an application that asks for permission before each search."""

    refused: frozenset[str] = frozenset()

    def scan(self, *args: Any, **settings: Any) -> Any:
        sources = settings.get("sources") or {source.id for source in self.sources}
        if self.refused & set(sources):
            raise PermissionFailure(f"you may not search {', '.join(sorted(self.refused))}")
        return super().scan(*args, **settings)


def test_a_missing_permission_blocks_only_what_depends_on_it(lab: Any, say: Any) -> None:
    """28, bar 5: it is asked for (an unknown of the answer), the rest is carried out; the answer is partial."""
    plain = lab.corpus(TWO)
    corpus = load_corpus(plain.version, store=plain.store)
    corpus.__class__ = Guarded
    corpus.refused = frozenset(("a.txt",))  # type: ignore[attr-defined]
    steps = [
        say.step("s1", "scan", patterns=["FACT"], targets=["a.txt"]),
        say.step("s2", "analyze", targets=["s1"]),
        say.step("s3", "scan", patterns=["FACT"], targets=["b.txt"]),
        say.step("s4", "analyze", targets=["s3"]),
    ]
    ran = lab.ask(
        lab.model(kind="list", patterns=["FACT"], steps=steps),
        corpus,
        "List each FACT.",
        limits=Limits(in_flight=1),
    )
    assert ran.step("s1").observation.error_class == "permission"
    assert ran.statuses() == {
        "s1": "failed",
        "s2": "blocked",
        "s3": "completed",
        "s4": "completed",
        "conclude": "completed",
    }
    assert ran.answer.outcome == "partial"
    assert [claim.citations[0].source for claim in ran.answer.claims] == ["b.txt"]
    assert any("you may not search a.txt" in each for each in ran.answer.unknowns)
