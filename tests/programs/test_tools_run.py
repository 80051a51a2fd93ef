"""Whole runs by tools: the answer with its coverage, what the journal keeps, and going on after a crash."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from data.corpus import open_corpus
from data.samples import samples_path
from data.stretches import Stretches
from programs.run import Run
from programs.tools.functions import tool_functions
from programs.turns import is_stuck
from runtime.errors import RunError
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.observations import Scanned
from tests.programs.by_hand import ByHand, Hand, play

FILES = {
    "a.log": "08:00 start\n08:05 FACT disk full\n08:09 stop\n",
    "b.log": "09:00 start\n09:05 disk ok\n09:09 FACT stop\n",
    "c.log": "10:00 nothing\n",
}


async def incident(hand: Hand) -> None:
    """Find the first occurrence of a request in the sample, and prove it."""
    assert len((await hand("list_sources"))["sources"]) > 1
    found = await hand("search", pattern="ERROR", source="")
    hit = found["hits"][0]
    around = await hand(
        "read_span", source=hit["source"], first_line=max(1, hit["line"] - 2), last_line=hit["line"]
    )
    assert hit["text"] in around["spans"][-1]["text"]
    counted = await hand("count", pattern="ERROR", by="source")
    hand.submit(
        "",
        (f"The first error is in line {hit['line']}", [(hit["span_id"], hit["text"])]),
        ("Errors by source", [(counted["claim_id"], "")]),
    )


def test_a_run_over_the_sample_ends_with_exact_citations(lab: Any) -> None:
    """One tool set: search, read, count, submit; every citation is the slice that it says."""
    corpus = open_corpus([samples_path("incident")], store=lab.folder / "store")
    ran = play(lab, corpus, incident, "What was the first error?")
    answer = ran.answer
    assert answer.outcome == "answered"
    assert len(answer.claims) == 2
    for claim in answer.claims:
        assert claim.citations
        for cited in claim.citations:
            assert corpus.slice(cited.source, cited.start, cited.end) == cited.quote
            assert "ERROR" in cited.quote
    assert answer.receipt.calls == 0
    characters = answer.coverage.characters
    assert characters.total == characters.read, "code went through all of it"
    assert characters.cited > 0
    assert 0 < characters.shown < characters.read
    shown = Stretches.of(
        (place.source, place.start, place.end)
        for each in ran.state.accessed
        for place in each.shown
    )
    assert characters.shown == len(shown)


async def everything(hand: Hand) -> None:
    """Each kind of call once, with claims of readers at the end."""
    outputs = [
        await hand("list_sources"),
        await hand("search", pattern="disk"),
        await hand("search", pattern="/(/"),
        await hand("count", pattern="disk", by="source"),
        await hand("rank", query="disk full"),
        await hand("read_span", source="a.log"),
        await hand("subcall", question="What are the facts?"),
        await hand("budget"),
    ]
    facts = outputs[6]["claims"]
    if hand.frame.step("t9") is None:
        hand.submit(
            "The disk was full",
            ("The disk was full", [(facts[0]["claim_id"], "")]),
            ("disk ok", [(outputs[1]["hits"][1]["span_id"], "disk ok")]),
            ("2 lines", [(outputs[3]["claim_id"], "")]),
        )


class Killed(BaseException):
    """The process is gone."""


def commits_of(lab: Any, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> int:
    """How many commits the run of everything makes."""
    made = []
    commit = Run.commit

    def counting(self: Run, *events: Any, **fields: Any) -> None:
        made.append(events)
        commit(self, *events, **fields)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "commit", counting)
        play(lab, lab.corpus(FILES), everything, **settings)
    return len(made)


def kill_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the process die before a commit: all that it did since the one before is lost, but for recorded calls."""
    made = 0
    commit = Run.commit

    def dying(self: Run, *events: Any, **fields: Any) -> None:
        nonlocal made
        made += 1
        if made >= number:
            raise Killed
        commit(self, *events, **fields)

    monkeypatch.setattr(Run, "commit", dying)


def test_a_run_that_dies_before_any_commit_goes_on_and_shows_the_same(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resumed run asks no model again for what was answered, and repeats no step that was committed."""
    corpus, whole = lab.corpus(FILES), lab.model()
    shown: list[Any] = []

    async def watched(hand: Hand) -> None:
        await everything(hand)
        shown.append(hand.outputs)

    expected = play(lab, corpus, watched, engine=whole)
    commits = commits_of(lab, monkeypatch)
    assert commits > 15
    for number in range(2, commits + 1):
        engine = lab.model()
        program = ByHand(watched, lm=engine.lm(), journal=lab.journal)
        with monkeypatch.context() as patched:
            kill_at(patched, number)
            with pytest.raises(Killed):
                program(question="What is it?", corpus=corpus)
        with Journal.open(lab.journal) as journal:
            (run_id,) = [r.record.run_id for r in journal.runs() if r.status != "finished"]
        prediction = program.resume(run_id, corpus)
        assert len(engine.log) == len(whole.log) == 3
        assert shown[-1] == shown[0]
        assert prediction.answer.text == expected.answer.text
        ran = lab.ran(prediction, engine, corpus)
        assert ran.statuses() == expected.statuses()
        assert [(each.shown, each.read_characters) for each in ran.state.accessed] == [
            (each.shown, each.read_characters) for each in expected.state.accessed
        ]


def test_a_step_cannot_be_repeated_as_another_call(lab: Any) -> None:
    """A replay that takes another way must not be given the results of the first one."""

    async def script(hand: Hand) -> None:
        await hand("search", pattern="disk")
        with pytest.raises(RunError) as refused:
            await hand.toolbox.call(
                hand.frame,
                turn=1,
                step_id="t1",
                think="",
                tool="search",
                arguments={"pattern": "x"},
            )
        assert refused.value.hint

    play(lab, lab.corpus(FILES), script)


def test_the_journal_keeps_no_text_of_the_corpus(lab: Any) -> None:
    """Text is named by offsets and span ids; a claim's quotes are the exception, and here there are none."""
    files = {"a.log": "".join(f"{n} the quick brown fox\n" for n in range(50))}

    async def script(hand: Hand) -> None:
        await hand("search", pattern="/b.own/")
        await hand("rank", query="animals that are fast: foxes")
        await hand("read_span", source="a.log")
        assert all("quick brown" in json.dumps(each) for each in (hand.outputs[0], hand.outputs[2]))

    ran = play(lab, lab.corpus(files), script)
    assert not any("quick brown" in event.model_dump_json() for event in ran.events[2:-1])
    with closing(sqlite3.connect(lab.journal)) as connection:
        texts = [row[0] for row in connection.execute("SELECT body FROM texts")]
    assert not any("quick brown" in text for text in texts)
    assert isinstance(ran.step("t1").observation.payload, Scanned)


def test_a_count_is_one_call(lab: Any) -> None:
    """It has two steps; that is no reason to take it for a repetition."""

    async def script(hand: Hand) -> None:
        stuck = []
        for _ in range(3):
            await hand("count", pattern="disk")
            stuck.append(is_stuck(hand.run.state.acted))
        assert stuck == [False, False, True]

    play(lab, lab.corpus(FILES), script)


def test_a_count_that_nobody_asked_for_is_not_the_value(lab: Any) -> None:
    """A model that drives counts to look around; a typed value is only what the answer rests on."""

    async def script(hand: Hand) -> None:
        await hand("count", pattern="FACT")
        hit = (await hand("search", pattern="full"))["hits"][0]
        hand.submit("", ("The disk was full", [(hit["span_id"], "disk full")]))

    async def counted(hand: Hand) -> None:
        found = await hand("count", pattern="disk")
        await hand("count", pattern="nothing")
        hand.submit("", ("2 lines", [(found["claim_id"], "")]))

    async def silent(hand: Hand) -> None:
        await hand("count", pattern="FACT")
        hand.submit("")

    ran = play(lab, lab.corpus(FILES), script, "Which device was full?")
    assert (ran.answer.value, ran.answer.text) == (None, "The disk was full")
    ran = play(lab, lab.corpus(FILES), counted, 'How many lines contain "disk"?')
    assert (ran.answer.value, ran.answer.text) == (2, "2 lines")
    ran = play(lab, lab.corpus(FILES), silent, "Which device was full?")
    assert ran.answer.value is None
    assert "2 lines" not in ran.answer.text


# What coverage makes of it.


def test_a_search_for_the_string_of_the_question_settles_it_if_its_lines_were_seen(
    lab: Any,
) -> None:
    async def script(hand: Hand) -> None:
        hits = (await hand("search", pattern="disk"))["hits"]
        hand.submit("", ("It is full", [(hits[0]["span_id"], "disk full")]))

    ran = play(lab, lab.corpus(FILES), script, 'Is there any line with "disk"?')
    assert (ran.answer.kind, ran.answer.outcome) == ("existence", "answered")
    assert ran.answer.coverage.ratio == 1.0


def test_lines_that_did_not_fit_were_not_seen(lab: Any) -> None:
    """A cut output settles nothing: the lines of the other pages may say the opposite."""
    files = {f"{n:02}.log": f"disk {'x' * 300} {n}\n" for n in range(20)}

    async def one_page(hand: Hand) -> None:
        hits = (await hand("search", pattern="disk"))["hits"]
        assert len(hits) < 20
        hand.submit("", ("It is there", [(hits[0]["span_id"], "disk")]))

    async def all_pages(hand: Hand) -> None:
        page = await hand("search", pattern="disk")
        first = page["hits"][0]
        while page["next_cursor"] is not None:
            page = await hand("search", pattern="disk", cursor=page["next_cursor"])
        hand.submit("", ("It is there", [(first["span_id"], "disk")]))

    question, limits = 'Is there any line with "disk"?', Limits(tool_output_chars=2_000)
    ran = play(lab, lab.corpus(files), one_page, question, limits=limits)
    assert ran.answer.outcome == "partial"
    assert ran.answer.coverage.ratio < 1.0
    ran = play(lab, lab.corpus(files), all_pages, question, limits=limits)
    assert (ran.answer.outcome, ran.answer.coverage.ratio) == ("answered", 1.0)


def test_a_string_that_the_model_thought_of_settles_nothing(lab: Any) -> None:
    """That it finds nothing says nothing about the question."""

    async def script(hand: Hand) -> None:
        await hand("search", pattern="catastrophe")
        hand.submit("")

    ran = play(lab, lab.corpus(FILES), script, "Is there any problem with the disk?")
    assert ran.answer.outcome == "not_found_in_covered"
    assert ran.answer.coverage.ratio == 0.0


def test_what_a_model_read_whole_is_covered(lab: Any) -> None:
    async def script(hand: Hand) -> None:
        for source in FILES:
            await hand("read_span", source=source)
        hand.submit("")

    async def half(hand: Hand) -> None:
        await hand("read_span", source="a.log")
        await hand("read_span", source="b.log", last_line=2)
        hand.submit("")

    question = "Is there any fire?"
    assert play(lab, lab.corpus(FILES), script, question).answer.outcome == "not_found"
    ran = play(lab, lab.corpus(FILES), half, question)
    assert ran.answer.outcome == "not_found_in_covered"
    assert len(ran.answer.coverage.completed) == 1


def test_readers_that_failed_do_not_count_as_having_seen(lab: Any) -> None:
    """What was put before a reader that gave no usable reply was not judged by anyone."""

    async def script(hand: Hand) -> None:
        await hand("subcall", question="fire?")
        hand.submit("")

    ran = play(
        lab, lab.corpus(FILES), script, "Is there any fire?", engine=lab.model(AnalyzeLeaf="?")
    )
    assert ran.answer.coverage.completed == ()
    assert len(ran.answer.coverage.failed) == 3


def test_reading_the_spans_of_all_hits_settles_the_search(lab: Any) -> None:
    """The question's own string was searched for, and readers judged every line that has it."""

    async def script(hand: Hand) -> None:
        counted = await hand("count", pattern='"disk"')
        assert counted["total"] == 2
        found = await hand("subcall", question="q", span_ids=["a.log", "b.log"])
        hand.submit("", ("It was full", [(found["claims"][0]["claim_id"], "")]))

    async def spans(hand: Hand) -> None:
        long = hand.run.workspace.partitioning.by_source("long.log")[0].span_ids
        hits = (await hand("search", pattern="disk", source="long.log"))["hits"]
        assert {each["span_id"] for each in hits} == {long[0]}
        found = await hand("subcall", question="q", span_ids=[long[0]])
        assert hand.step().planned.targets[0] == "t1"
        hand.submit("", ("It was full", [(found["claims"][0]["claim_id"], "")]))

    question = 'Is there any line with "disk"?'
    ran = play(lab, lab.corpus(FILES), script, question)
    assert (ran.answer.outcome, ran.answer.coverage.ratio) == ("answered", 1.0)
    long = {"long.log": "FACT disk full\n" + "".join(f"line {n} of a log\n" for n in range(200))}
    ran = play(lab, lab.corpus(long), spans, question)
    assert (ran.answer.outcome, ran.answer.coverage.ratio) == ("answered", 1.0)


def test_the_functions_are_the_tools_by_name_with_hints_and_docs() -> None:
    """dspy.Tool and dspy.RLM read name, hints, defaults and docstring."""
    import dspy

    calls: list[tuple[str, dict[str, Any]]] = []
    functions = tool_functions(lambda name, given: calls.append((name, given)) or {"ok": name})
    names = ["list_sources", "search", "count", "rank", "read_span", "subcall", "budget"]
    assert [each.__name__ for each in functions] == names
    for each in functions:
        tool = dspy.Tool(each)
        assert tool.desc
        assert "  " not in tool.desc.replace("\n", " ")
    search = dspy.Tool(functions[1])
    assert search.args is not None
    assert search.args["pattern"]["type"] == "string"
    assert search.args["cursor"] == {"type": "integer", "default": 0}
    assert functions[5]("why?", ["a"]) == {"ok": "subcall"}
    assert calls == [("subcall", {"question": "why?", "span_ids": ["a"], "cursor": 0})]
    assert functions[4](source="a.log", first_line=3)["ok"] == "read_span"


@pytest.mark.parametrize("number", range(7))
def test_the_functions_pass_what_the_tools_take(lab: Any, number: int) -> None:
    given: list[tuple[str, dict[str, Any]]] = []
    made = tool_functions(lambda name, arguments: given.append((name, arguments)) or {})[number]
    values = {"pattern": "x", "query": "disk", "question": "q", "source": "a.log"}
    parameters = made.__annotations__.keys() & values.keys()
    made(**{name: values[name] for name in parameters})

    async def script(hand: Hand) -> None:
        output = await hand(given[0][0], **given[0][1])
        assert "error" not in output

    play(lab, lab.corpus(FILES), script)
