"""Direct and ChainOfThought: the whole text in one call, or both of its ends, with the cut reported."""

import json
from typing import Any

import dspy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.span import Span
from programs import ChainOfThought, Direct, Program
from programs.baselines.excerpt import Excerpt
from programs.pieces import characters
from runtime.errors import LimitsError, ModelError
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.request import PromptRequest
from runtime.models.scripted import Reply, Rule

BOTH = pytest.mark.parametrize("program", [Direct, ChainOfThought], ids=lambda each: each.name)
NOISE = "only noise here, and more of the same\n"


def text(facts: dict[int, str], lines: int = 300) -> str:
    """Lines of noise, with a FACT in some of them."""
    return "".join(f"FACT {facts[at]}\n" if at in facts else NOISE for at in range(lines))


def shown_in(prompt: str) -> list[str]:
    """The ids of the spans of a prompt, in order."""
    return [part.split('"')[0] for part in prompt.split('"span_id": "')[1:] if part[:12].isalnum()]


def limited(window: int) -> Any:
    """A model that refuses a prompt with more evidence than its window."""

    def respond(request: PromptRequest) -> Any:
        spans = request.value("spans", [])
        if sum(len(span["text"]) for span in spans) > window:
            return Reply(error="context")
        return facts(request)

    return respond


def facts(request: PromptRequest) -> dict[str, Any]:
    found = [
        {"span": span["span_id"], "line": line}
        for span in request.value("spans", [])
        for line in span["text"].splitlines()
        if line.startswith("FACT")
    ]
    claims = [
        {"claim_id": f"c{at}", "text": each["line"], "status": "direct", "time": ""}
        for at, each in enumerate(found)
    ]
    evidence = [
        {"claim_id": f"c{at}", "span_id": each["span"], "quote": each["line"]}
        for at, each in enumerate(found)
    ]
    return {
        "claims": claims,
        "evidence": evidence,
        "fields_found": [],
        "unknowns": [],
        "claim_count": len(claims),
    }


@BOTH
def test_a_text_that_fits_is_shown_whole_in_one_call(lab: Any, program: type[Program]) -> None:
    files = {"a.txt": text({3: "one", 290: "two"}), "b.txt": text({150: "three"})}
    ran = lab.ask(lab.model(), lab.corpus(files), "List each FACT.", of=program)
    assert len(ran.asked("AnalyzeLeaf")) == 1
    assert len(ran.answer.claims) == 3
    assert ran.answer.outcome == "answered"
    assert ran.answer.coverage.truncations == ()
    assert ran.answer.coverage.ratio == 1.0
    assert ran.answer.coverage.partitions > 1


@BOTH
def test_what_does_not_fit_is_cut_in_the_middle_and_reported(
    lab: Any, program: type[Program]
) -> None:
    """DESIGN 3: head and tail, with the cut reported; a limit of the window never looks like success."""
    corpus = lab.corpus({"a.txt": text({3: "one", 500: "lost", 997: "two"}, 1_000)})
    ran = lab.ask(lab.model(), corpus, "List each FACT.", of=program, window=30_000)
    assert [claim.text for claim in ran.answer.claims] == ["It says: FACT one", "It says: FACT two"]
    assert ran.answer.outcome == "partial"
    reach = ran.answer.coverage
    assert reach.unread
    assert 0 < len(reach.completed) < len(reach.required) == reach.partitions
    assert ran.warned == ["window"]
    (told,) = reach.truncations
    assert told in ran.answer.warnings
    size = corpus.source("a.txt").characters
    assert (
        f"the text has {size} characters and the model's window holds 30000: the middle (" in told
    )
    assert "of a.txt) was not shown" in told


def test_where_the_middle_lies_is_told_by_lines(lab: Any) -> None:
    corpus = lab.corpus({"a.txt": text({}, 200), "b.txt": text({}, 200)})
    ran = lab.ask(lab.model(), corpus, "List each FACT.", of=Direct, window=6_000)
    (told,) = ran.answer.coverage.truncations
    shown = {each for call in ran.calls for each in call.span_ids}
    spans = [each for each in _spans(corpus) if each.id not in shown]
    for name in ("a.txt", "b.txt"):
        inside = [each for each in spans if each.source == name]
        assert f"lines {inside[0].first_line}-{inside[-1].last_line} of {name}" in told
    assert f"the middle ({characters(spans)} characters" in told


def _spans(corpus: Any) -> list[Span]:
    return list(corpus.partitions("auto").all_spans())


@BOTH
@pytest.mark.parametrize("refused", ["context", "truncated"])
def test_what_the_model_refuses_is_shown_less_of_not_read_in_pieces(
    lab: Any, program: type[Program], refused: str
) -> None:
    """dspy#9171 and kin: an overflow is an outcome. Direct does not turn into MapReduce: it shows less and says so."""

    def respond(request: PromptRequest) -> Any:
        spans = request.value("spans", [])
        if sum(len(span["text"]) for span in spans) <= 9_000:
            return facts(request)
        if refused == "context":
            return Reply(error="context")
        return Reply(reply=facts(request), finish_reason="length")

    corpus = lab.corpus({"a.txt": text({3: "one", 500: "lost", 997: "two"}, 1_000)})
    ran = lab.ask(lab.model(AnalyzeLeaf=respond), corpus, "List each FACT.", of=program)
    sizes = [len(call.span_ids) for call in ran.calls if call.signature == "AnalyzeLeaf"]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes) > 2
    statuses = [call.status for call in ran.calls if call.signature == "AnalyzeLeaf"]
    assert statuses == ["failed"] * (len(sizes) - 1) + ["done"]
    assert [claim.text for claim in ran.answer.claims] == ["FACT one", "FACT two"]
    assert ran.answer.outcome == "partial"
    (told,) = ran.answer.coverage.truncations
    assert "and the model took no more than " in told
    assert ran.answer.coverage.unread


def test_a_model_that_takes_nothing_at_all_fails_and_says_so(lab: Any) -> None:
    corpus = lab.corpus({"a.txt": text({3: "one"})})
    ran = lab.ask(lab.model(AnalyzeLeaf=limited(10)), corpus, "List each FACT.", of=Direct)
    assert ran.answer.outcome == "failed"
    assert ran.answer.claims == ()
    assert ran.answer.coverage.completed == ()
    sizes = [len(call.span_ids) for call in ran.calls]
    assert sizes[-1] == 1
    assert len(sizes) < 12


def test_a_reading_that_fails_for_another_reason_is_not_cut(lab: Any) -> None:
    """Less text mends no malformed reply."""
    corpus = lab.corpus({"a.txt": text({3: "one"})})
    model = lab.model(Rule(signature="AnalyzeLeaf", reply="no JSON"))
    ran = lab.ask(model, corpus, "List each FACT.", of=Direct)
    assert {len(call.span_ids) for call in ran.calls} == {len(_spans(corpus))}
    assert ran.answer.outcome == "failed"
    assert ran.answer.coverage.truncations == ()


def test_limits_end_the_cutting(lab: Any) -> None:
    corpus = lab.corpus({"a.txt": text({3: "one"}, 2_000)})
    ran = lab.ask(
        lab.model(AnalyzeLeaf=limited(2_000)),
        corpus,
        "List each FACT.",
        of=Direct,
        limits=Limits(calls=3),
    )
    assert ran.answer.outcome == "partial"
    assert (
        len(ran.engine.log) == 2
    )  # the third one is kept for the conclusion, and nothing is to be concluded
    assert "limit" in ran.warned


@given(data=st.data())
def test_head_middle_and_tail_tile_the_text(data: Any) -> None:
    """Each span once, whole, in order; no more than the room, but for a single span; no end is favored."""
    lengths = data.draw(st.lists(st.integers(1, 50), max_size=30))
    room = data.draw(st.integers(1, 800))
    ends = [sum(lengths[: at + 1]) for at in range(len(lengths))]
    spans = tuple(
        Span(f"{at:012}", "a", end - length, end, 1, 1)
        for at, (end, length) in enumerate(zip(ends, lengths, strict=True))
    )
    made = Excerpt.of(spans, room)
    assert made.head + made.middle + made.tail == spans
    assert characters(made.shown) <= room or len(made.shown) == 1
    if not spans:
        return
    assert made.shown
    if characters(spans) <= room:
        assert made.shown == spans
    elif len(spans) > 1:
        assert made.middle
        assert characters(made.head) <= room // 2 or len(made.head) == 1
        assert characters(made.tail) <= room - room // 2
        following = made.middle[-1].end - made.middle[-1].start
        assert characters(made.tail) + following > room - max(room // 2, characters(made.head))


@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    sizes=st.lists(st.integers(0, 400), min_size=1, max_size=4),
    window=st.integers(200, 60_000),
    holds=st.integers(2_000, 60_000),
)
def test_coverage_never_claims_what_was_not_shown(
    lab: Any, sizes: list[int], window: int, holds: int
) -> None:
    """What the prompt of the accepted call holds, tiles the scope together with what is reported as unread."""
    files = {f"{at}.txt": text({size // 2: f"{at}"}, size + 1) for at, size in enumerate(sizes)}
    corpus = lab.corpus(files)
    ran = lab.ask(
        lab.model(AnalyzeLeaf=limited(holds)),
        corpus,
        "List each FACT.",
        of=Direct,
        window=window,
    )
    last = [call for call in ran.engine.log if call.signature == "AnalyzeLeaf"][-1]
    shown = shown_in(last.prompt)
    assert len(shown) == len(set(shown))
    partitioning = corpus.partitions("auto")
    whole = {each.id for each in partitioning.partitions if set(each.span_ids) <= set(shown)}
    every = {each.id for each in partitioning.partitions}
    reach = ran.answer.coverage
    assert set(reach.completed) == whole
    assert set(reach.unread) == every - whole
    assert bool(reach.truncations) == bool(every - whole)
    if whole != every:
        assert ran.answer.outcome in ("partial", "not_found_in_covered")
    for claim in ran.answer.claims:
        assert {cited.span_id for cited in claim.citations} <= set(shown)


def test_the_large_call_is_for_the_large_model(lab: Any) -> None:
    """`leaf_lm` is for the many cheap calls: Direct has none."""
    large, small = lab.model(), lab.model()
    program = Direct(lm=large.lm(), leaf_lm=small.lm())
    assert program(question="Which FACT?", corpus=lab.corpus({"a.txt": "FACT one\n"})).answer.claims
    assert small.log == []


def test_thinking_comes_before_claims(lab: Any) -> None:
    corpus = lab.corpus({"a.txt": "FACT one\n"})
    model = lab.model(AnalyzeLeaf=lambda request: {"reasoning": "Because.", **facts(request)})
    ran = lab.ask(model, corpus, "Which FACT?", of=ChainOfThought)
    (call,) = ran.asked("AnalyzeLeaf")
    assert list(json.loads(call.reply))[:2] == ["reasoning", "claims"]
    assert ran.answer.outcome == "answered"


def test_the_window_is_that_of_the_engine_unless_one_is_given(lab: Any) -> None:
    """Recorded with the run, so that it is resumed over the same excerpt."""
    corpus = lab.corpus({"a.txt": text({3: "one", 500: "lost", 997: "two"}, 1_000)})
    engine = lab.model(Rule(signature="AnalyzeLeaf", error="auth", times=1))
    engine.window = 9_000
    with pytest.raises(ModelError):
        lab.program(engine, of=Direct)(question="List each FACT.", corpus=corpus)
    with Journal.open(lab.journal) as journal:
        assert journal.run("last").record.config["window"] == 9_000
    other = lab.model()
    answer = lab.program(other, of=Direct, window=50_000).resume("last", corpus).answer
    assert "the model's window holds 9000" in answer.coverage.truncations[0]
    assert engine.log[0].prompt == other.log[0].prompt


def test_a_window_of_nothing_is_refused(lab: Any) -> None:
    with pytest.raises(LimitsError, match="window is 0") as refused:
        Direct(window=0)
    assert refused.value.hint


def test_a_question_about_one_source_shows_that_source(lab: Any) -> None:
    files = {"a.txt": text({3: "one"}, 500), "b.txt": text({3: "two"})}
    ran = lab.ask(
        lab.model(), lab.corpus(files), "List each FACT in b.txt.", of=Direct, window=20_000
    )
    assert [claim.text for claim in ran.answer.claims] == ["It says: FACT two"]
    assert ran.answer.outcome == "answered"
    (call,) = ran.asked("AnalyzeLeaf")
    assert '"source": "a.txt"' not in call.prompt


def test_the_window_is_found_through_the_settings_of_dspy(lab: Any) -> None:
    engine = lab.model()
    engine.window = 5_000
    corpus = lab.corpus({"a.txt": text({3: "one"}, 1_000)})
    with dspy.context(lm=engine.lm()):
        answer = Direct()(question="List each FACT.", corpus=corpus).answer
    assert "the model's window holds 5000" in answer.coverage.truncations[0]
