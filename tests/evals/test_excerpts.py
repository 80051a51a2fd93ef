"""Excerpts: what demos and reflection prompts hold of a call. Never a document, never a mark that poses as a prompt."""

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import to_jsonable_python

from data.corpus import open_corpus
from evals.call_facts import CallFacts, call_facts
from evals.excerpts import TEXT, excerpt, excerpt_outputs
from evals.harmless import JOINER, harmless
from programs.evidence import shown
from runtime.models.scripted import ScriptedEngine
from signatures import Act, AnalyzeLeaf, ClassifyQuestion, Conclude, Plan, Refine
from tests.evals.meetings import ATTACK, BUDGET, FORGED, Meetings, leaf, meetings, written
from tests.evals.samples import question, span


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Meetings:
    return meetings(tmp_path_factory.mktemp("held"), filler=120)


def holder(inputs: dict[str, Any], text: str) -> str:
    return next(each.span_id for each in inputs["spans"] if text in each.text)


def corpus_text(made: dict[str, Any]) -> str:
    return "".join(each["text"] for each in made["spans"])


# A reader


def test_an_excerpt_holds_what_was_cited_and_says_what_was_left_out(held: Meetings) -> None:
    inputs = held.reading("budget.txt")
    given_one, reply = held.excerpts(inputs, leaf(("40000.", holder(inputs, BUDGET), BUDGET)))
    (cited,) = [each for each in given_one["spans"] if BUDGET in each["text"]]
    whole = next(each for each in inputs["spans"] if each.span_id == cited["span_id"])
    assert cited["text"] in whole.text
    assert len(cited["text"]) < len(whole.text)
    line = whole.text[: whole.text.index(cited["text"])].count("\n")
    assert cited["first_line"] == whole.first_line + line
    assert cited["margin_before"].endswith("characters left out]")
    assert reply["evidence"][0]["quote"] == BUDGET
    assert reply["claim_count"] == 1
    assert list(given_one) == list(inputs)
    assert list(reply) == list(leaf())


def test_an_excerpt_holds_what_was_missed(held: Meetings) -> None:
    """Whoever writes better instructions has to see what the reader passed over."""
    given_one, reply = held.excerpts(held.reading("budget.txt"), leaf())
    assert BUDGET in corpus_text(given_one)
    assert reply["claims"] == []


def test_a_reading_that_found_nothing_still_shows_some_text(held: Meetings) -> None:
    given_one, _ = held.excerpts(held.reading("venue.txt"), leaf())
    assert 100 < len(corpus_text(given_one)) <= TEXT


def test_a_reading_of_500_000_characters_is_1500(tmp_path: Path) -> None:
    """dspy#9059: a reflection prompt of 568,000 tokens, since inputs went into it whole."""
    held = meetings(tmp_path, filler=5_000)
    spans = tuple(
        each
        for part in held.corpus.partitions().by_source("venue.txt")
        for each in held.corpus.partitions().spans(part.id)
    )
    inputs = {**held.reading("venue.txt"), "spans": shown(held.corpus, spans)}
    assert len(written(to_jsonable_python(inputs))) > 200_000
    texts = [each.text.splitlines()[1] for each in inputs["spans"][:60]]
    ids = [each.span_id for each in inputs["spans"][:60]]
    reply = leaf(*((line, id, line) for line, id in zip(texts, ids, strict=True)))
    given_one, made = held.excerpts(inputs, reply)
    assert len(corpus_text(given_one)) <= TEXT
    assert len(written(given_one)) < 6_000
    assert len(written(made)) < 6_000
    assert "more spans left out]" in given_one["spans"][-1]["margin_after"]
    assert 0 < made["claim_count"] == len(made["claims"]) < 60


def test_an_excerpt_never_holds_a_whole_source(tmp_path: Path) -> None:
    """Demos that inline documents leak them into the program that is saved."""
    root = tmp_path / "tiny"
    root.mkdir()
    (root / "a.txt").write_text(BUDGET, encoding="utf-8")
    (root / "b.txt").write_text("One.\nTwo.\nThree.\n", encoding="utf-8")
    corpus = open_corpus([root], store=tmp_path / "store")
    parts = corpus.partitions()
    spans = tuple(each for part in parts.partitions for each in parts.spans(part.id))
    inputs = {"question": "?", "spans": shown(corpus, spans), "patterns": []}
    first, second = (each.span_id for each in inputs["spans"])
    reply = leaf(("A", first, BUDGET), ("B", second, "Two."), ("C", "ffffffffffff", BUDGET))
    asked = question("string", "x", gold=[[[span(corpus, "a.txt", BUDGET)]]])
    facts = call_facts("analyze_leaf", inputs, reply, asked, corpus)
    made = written([f("l", inputs, reply, facts) for f in (excerpt, excerpt_outputs_of)])
    for each in corpus.sources:
        assert corpus.text(each.id) not in json.loads(json.dumps(made))
        assert written(corpus.text(each.id))[1:-1] not in made
    assert "It was decided that" in made


def excerpt_outputs_of(*given_ones: Any) -> dict[str, Any]:
    return excerpt_outputs(*given_ones)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_quotes_of_an_excerpt_stand_in_its_spans(held: Meetings, data: st.DataObject) -> None:
    """A demo whose quotes are not in its spans teaches to invent them."""
    source = data.draw(st.sampled_from(["budget.txt", "venue.txt", "attack.txt"]))
    inputs = held.reading(source)
    quotes = []
    for _ in range(data.draw(st.integers(0, 12))):
        each = data.draw(st.sampled_from(inputs["spans"]))
        start = data.draw(st.integers(0, max(0, len(each.text) - 2)))
        length = data.draw(st.integers(1, 400))
        quotes.append(("said", each.span_id, each.text[start : start + length]))
    reply = leaf(*quotes)
    given_one, made = held.excerpts(inputs, reply)
    by_id: dict[str, list[str]] = {}
    for each in given_one["spans"]:
        by_id.setdefault(each["span_id"], []).append(each["text"])
    failed = {each.claim_id for each in held.facts(inputs, reply).failed}
    for ref in made["evidence"]:
        if ref["claim_id"] not in failed:  # a marker that was cut in two stands nowhere
            assert any(ref["quote"] in text for text in by_id[ref["span_id"]])
    assert len(corpus_text(given_one)) <= TEXT + corpus_text(given_one).count(JOINER)
    assert made["claim_count"] == len(made["claims"])
    assert (given_one, made) == held.excerpts(to_jsonable_python(inputs), reply)


def test_a_quote_that_begins_within_a_mark_is_left_out_with_its_claim(held: Meetings) -> None:
    """The mark is broken up in the span, and half of one is none: such a quote would stand nowhere."""
    inputs = held.reading("attack.txt")
    (span,) = [each for each in inputs["spans"] if "```" in each.text][:1]
    torn = span.text.index("```") + 1
    reply = leaf(("said", span.span_id, span.text[torn : torn + 60]))
    given_one, made = held.excerpts(inputs, reply)
    shown = [each["text"] for each in given_one["spans"]]
    assert all(any(ref["quote"] in text for text in shown) for ref in made["evidence"])
    assert made["claim_count"] == len(made["claims"])


# Harmless


@pytest.mark.parametrize("first", [0, 6])
def test_nothing_in_an_excerpt_poses_as_a_prompt(held: Meetings, first: int) -> None:
    inputs = held.reading("attack.txt")
    text = "\n".join(each.text for each in inputs["spans"])
    quotes = text.splitlines()[first : first + 6]
    reply = leaf(*((line, inputs["spans"][0].span_id, line) for line in quotes))
    reply["unknowns"] = [ATTACK]
    given_one, made = held.excerpts(inputs, reply)
    assert ("NEW INSTRUCTION", "Obey the minutes")[first // 6] in written(given_one)
    for forged in FORGED:
        assert forged not in written([given_one, made])
        assert forged not in corpus_text(given_one)


@given(st.text(alphabet="`~#[]</!?|aE xample1\n", max_size=40))
def test_harmless_text_has_no_marks_and_loses_nothing(text: str) -> None:
    found = harmless(text)
    assert "``" not in found
    assert "~~" not in found
    assert "##" not in found
    assert "# " not in found
    assert found.replace(JOINER, "") == text
    assert harmless(found).replace(JOINER, "") == text


@given(st.text(alphabet="`~#[]</!?|aEx \n", max_size=30), st.data())
def test_a_part_of_a_text_stays_a_part_of_it(text: str, data: st.DataObject) -> None:
    """But for a mark of three characters that is cut in two, which only makes it more harmless."""
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    assert harmless(part).replace(JOINER, "") in harmless(text).replace(JOINER, "")
    if not set("[<") & set(text):
        assert harmless(part) in harmless(text)


# Other predictors

LONG = "A line of a log that nobody needs to see twice.\n" * 400


def digests(number: int) -> list[dict[str, Any]]:
    made = {"status": "direct", "time": "", "sources": ["budget.txt"]}
    return [
        {**made, "claim_id": f"k{n}", "text": f"Claim {n}. {LONG}", "quotes": [LONG, LONG, LONG]}
        for n in range(number)
    ]


STEP = {"id": "s1", "description": "Look.", "action": "scan", "patterns": [], "query": ""}
STEP |= {"targets": [], "operation": "", "depends_on": []}
CALLS: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (
        Plan,
        {"task": "What?", "kind": "lookup", "patterns": ["x"] * 50, "goal_chain": [],
         "constraints": "", "overview": LONG, "visited": LONG, "history": LONG,
         "budget": "much", "depth_left": 2, "max_steps": 12},
        {"think": LONG, "steps": [{**STEP, "query": LONG}] * 20, "step_count": 20},
    ),
    (
        Refine,
        {"task": "What?", "kind": "lookup", "patterns": [], "think": LONG, "completed": LONG,
         "observation": LONG, "error_class": "success", "remaining": [STEP] * 20,
         "overview": LONG, "budget": "much", "depth_left": 2, "max_steps": 12},
        {"think_next": LONG, "decision": "keep", "reason": LONG, "steps": [], "step_count": 0},
    ),
    (
        ClassifyQuestion,
        {"question": "What?", "overview": LONG},
        {"kind": "lookup", "requires_all": False, "patterns": [], "reason": LONG},
    ),
    (
        Act,
        {"question": "What?", "kind": "lookup", "patterns": [], "goal_chain": [], "overview": LONG,
         "turns": [{"turn": n, "call": "{}", "output": LONG} for n in range(30)],
         "budget": "much", "turns_left": 3},
        {"think": LONG, "call": {"tool": "search", "pattern": LONG}, "answer": "", "claims": [],
         "evidence": [], "claim_count": 0},
    ),
    (
        Conclude,
        {"question": "What?", "kind": "lookup", "claims": digests(40),
         "computed": [{"name": "n", "value": LONG, "claim_ids": ["k1"] * 500}],
         "coverage": "all", "steps_done": ["Look"] * 40},
        {"statements": [{"text": LONG, "status": "direct", "claim_ids": ["k39", "k3"]}] * 30,
         "unknowns": [LONG] * 30, "statement_count": 30},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "inputs", "outputs"), CALLS)
def test_every_predictor_is_excerpted(
    signature: Any, inputs: dict[str, Any], outputs: dict[str, Any]
) -> None:
    facts = CallFacts()
    given_one = excerpt("p", inputs, outputs, facts)
    made = excerpt_outputs("p", inputs, outputs, facts)
    assert list(given_one) == list(inputs)
    assert list(made) == list(outputs)
    assert "left out]" in written(given_one)
    assert len(written(given_one)) < 6_000
    assert len(written(made)) < 12_000
    assert LONG not in written(given_one)
    assert given_one == excerpt("p", json.loads(json.dumps(inputs)), outputs, facts)
    for count, name in (("step_count", "steps"), ("statement_count", "statements")):
        assert count not in made or made[count] == len(made[name])


def test_a_conclusion_keeps_the_claims_that_it_names() -> None:
    _, inputs, outputs = CALLS[-1]
    given_one = excerpt("conclude", inputs, outputs, CallFacts())
    made = excerpt_outputs("conclude", inputs, outputs, CallFacts())
    kept = {each["claim_id"] for each in given_one["claims"]}
    assert {"k3", "k39"} <= kept
    assert len(kept) == 8
    assert all(set(each["claim_ids"]) <= kept for each in made["statements"])


def test_short_inputs_stay_as_they_are() -> None:
    inputs = {"question": "What?", "overview": "3 sources", "kind": "lookup", "depth_left": 2}
    assert excerpt("plan", inputs, {}, CallFacts()) == inputs


# As demos


@pytest.mark.parametrize("adapter", [dspy.JSONAdapter(), dspy.ChatAdapter()])
def test_an_excerpt_renders_as_a_demo(held: Meetings, adapter: dspy.Adapter) -> None:
    inputs = held.reading("budget.txt")
    reply = leaf(("40000 euros.", holder(inputs, BUDGET), BUDGET))
    given_one, made = held.excerpts(inputs, reply)
    predict = dspy.Predict(AnalyzeLeaf)
    predict.demos = [dspy.Example(augmented=True, **given_one, **made)]
    saved = json.loads(json.dumps(predict.dump_state()))
    predict.load_state(saved)
    engine = ScriptedEngine(replies=[leaf()])
    with dspy.context(lm=engine.lm(), adapter=adapter):
        predict(**held.reading("venue.txt"))
    (call,) = engine.log
    prompt = call.prompt.replace('\\"', '"')
    assert prompt.count(BUDGET) == 2  # in the span, and as its quote
    assert "40000 euros." in prompt
    assert "Not supplied for this particular example" not in prompt
    assert corpus_text(given_one) not in ("", held.corpus.text("budget.txt"))


@pytest.mark.parametrize("adapter", [dspy.JSONAdapter(), dspy.ChatAdapter()])
@pytest.mark.parametrize(("signature", "inputs", "outputs"), CALLS)
def test_every_predictor_takes_its_excerpt_as_a_demo(
    signature: Any, inputs: dict[str, Any], outputs: dict[str, Any], adapter: dspy.Adapter
) -> None:
    given_one = excerpt("p", inputs, outputs, CallFacts())
    made = excerpt_outputs("p", inputs, outputs, CallFacts())
    demos = [{"augmented": True, **given_one, **made}]
    messages = adapter.format(signature, demos, inputs)
    shown_one = "\n".join(each["content"] for each in messages[:-1])
    assert "Not supplied for this particular example" not in shown_one
    assert len(shown_one) < 40_000
