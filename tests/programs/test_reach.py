"""Reach: what code read, what a model was shown and what an answer cites are three different numbers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpus import open_corpus
from data.stretches import Stretch, Stretches
from programs.answer import Characters
from programs.reach import characters
from programs.rlm import RLM
from programs.workspace import Workspace
from runtime.call_log import CallRecord
from runtime.events import Accessed, Place
from runtime.frames import RunState, apply
from runtime.ledger import Usage
from runtime.limits import Limits
from runtime.models.scripted import Rule
from tests.programs.acting import call, cell, cells, submit, turns

HAY = "just hay and more of it, line after line\n"
NEEDLE = "FACT needle is here"


def long_file(line: str = "") -> str:
    """About ten spans, `line` in one of them."""
    lines = [HAY] * 240
    if line:
        lines[100] = line + "\n"
    return "".join(lines)


FILES = {"a.txt": long_file(), "b.txt": long_file(NEEDLE), "c.txt": long_file()}
ALL = sum(map(len, FILES.values()))
stretches = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 12)), max_size=8
)


def points(places: list[Stretch]) -> set[tuple[str, int]]:
    return {(source, at) for source, start, end in places for at in range(start, end)}


@given(first=stretches, second=stretches)
def test_stretches_are_sets_of_characters(first: list[Stretch], second: list[Stretch]) -> None:
    """Hypothesis, against sets of single characters: what overlaps, repeats or touches counts once."""
    one, two = Stretches.of(first), Stretches.of(second)
    assert len(one) == len(points(first))
    assert points(list(one | two)) == points(first) | points(second)
    assert points(list(one & two)) == points(first) & points(second)
    assert one | two == two | one
    assert Stretches.of([*one, *one]) == one
    assert len(one & two) <= len(one) <= len(one | two)


@given(places=stretches, data=st.data())
def test_the_order_of_stretches_does_not_matter(places: list[Stretch], data: Any) -> None:
    """Hypothesis: intervals come out in order, apart from each other, whatever order they came in."""
    shuffled = data.draw(st.permutations(places))
    assert Stretches.of(shuffled).by_source == Stretches.of(places).by_source
    for intervals in Stretches.of(places).by_source.values():
        edges = [edge for interval in intervals for edge in interval]
        assert edges == sorted(set(edges))


def reach(ran: Any) -> tuple[int, int, int, int]:
    found: Characters = ran.answer.coverage.characters
    assert found.cited <= found.read <= found.total
    assert found.shown <= found.read
    return found.total, found.read, found.shown, found.cited


def test_reading_everything_shows_everything(lab: Any) -> None:
    ran = lab.ask(lab.model(), lab.corpus(FILES))
    assert reach(ran) == (ALL, ALL, ALL, len(NEEDLE))


def test_a_search_is_read_by_code_and_its_matches_are_shown(lab: Any, say: Any) -> None:
    steps = [say.step("s1", "scan", patterns=["needle"]), say.step("s2", "analyze", targets=["s1"])]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(FILES))
    (call,) = ran.asked("AnalyzeLeaf")
    span = ran.corpus.partitions().span_at("b.txt", 100 * len(HAY))
    assert "needle" in call.prompt
    assert reach(ran) == (ALL, ALL, span.end - span.start, len(NEEDLE))


def test_a_count_cites_lines_that_no_model_saw(lab: Any, say: Any) -> None:
    """What is cited may be more than what was shown: the lines were matched and counted by code."""
    steps = [
        say.step("s1", "scan", patterns=["needle"], targets=["b.txt", "c.txt"]),
        say.step("s2", "compute", operation="count", targets=["s1"]),
    ]
    ran = lab.ask(
        lab.model(kind="count", patterns=["needle"], steps=steps), lab.corpus(FILES), "How many?"
    )
    assert reach(ran) == (ALL, len(FILES["b.txt"]) + len(FILES["c.txt"]), 0, len(NEEDLE))


def test_a_ranking_is_read_by_code_and_its_best_passages_are_shown(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "rank", query="needle", targets=["b.txt"]),
        say.step("s2", "analyze", targets=["s1"]),
    ]
    total, read, shown, cited = reach(lab.ask(lab.model(steps=steps), lab.corpus(FILES)))
    assert (total, read, cited) == (ALL, len(FILES["b.txt"]), len(NEEDLE))
    assert 0 < shown < read


def test_the_scope_is_what_the_question_is_about(lab: Any, say: Any) -> None:
    """A question that names its source has that source as its whole."""
    ran = lab.ask(lab.model(), lab.corpus(FILES), "What are the facts in b.txt?")
    assert reach(ran) == (len(FILES["b.txt"]),) * 3 + (len(NEEDLE),)


def test_what_was_sent_twice_counts_once(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "analyze", query="First?"),
        say.step("s2", "analyze", query="Second?"),
        say.step("s3", "read", targets=["b.txt"]),
        say.step("s4", "analyze", query="Third?", targets=["s3"]),
    ]
    assert reach(lab.ask(lab.model(steps=steps), lab.corpus(FILES)))[:3] == (ALL, ALL, ALL)


def test_a_failed_attempt_was_shown_and_what_was_never_sent_was_not(lab: Any, say: Any) -> None:
    """The model saw what it could not answer; a limit kept the rest from it."""
    rule = Rule(signature="AnalyzeLeaf", contains="needle", reply="I cannot say.")
    assert reach(lab.ask(lab.model(rule), lab.corpus(FILES)))[2] == ALL
    few = lab.ask(lab.model(), lab.corpus(FILES), limits=Limits(calls=5, in_flight=1))
    total, _, shown, _ = reach(few)
    assert 0 < shown < total
    assert few.answer.outcome == "partial"


def test_of_a_span_that_was_read_in_part_that_part_was_read(lab: Any) -> None:
    """A line of a span is a line, to code and to the model."""
    driven = turns(call("read_span", source="b.txt", first_line=101, last_line=101), submit(""))
    ran = lab.ask(lab.model(Act=driven), lab.corpus(FILES), of=RLM)
    line = len(NEEDLE) + 1
    assert reach(ran) == (ALL, line, line, 0)


READ = """found = read_span(source="a.txt")
while found["next_cursor"]:
    found = read_span(source="a.txt", cursor=found["next_cursor"])
print(len(search("needle")["hits"]))"""
SUBCALL = 'print(subcall("What are the facts?", ["b.txt"])["claims"])'
FIND = 'span = search("needle")["hits"][0]["span_id"]\nprint(len(span))'
QUOTE = f"""SUBMIT(answer="", claims=[{{"text": "A needle is here", "evidence": [
    {{"span_id": span, "quote": "{NEEDLE}"}}]}}])"""


@pytest.mark.parametrize(
    ("code", "shown"), [(READ, 0), (SUBCALL, len(FILES["b.txt"]))], ids=["code", "readers"]
)
def test_what_went_into_code_was_read_and_shown_to_nobody(lab: Any, code: str, shown: int) -> None:
    """Code that reads a file and prints a number has shown a number; what its readers were given was shown."""
    model = lab.model(ReplAction=cells(cell(code), cell(FIND), cell(QUOTE)))
    ran = lab.ask(model, lab.corpus(FILES), of=RLM, action_space="repl")
    assert reach(ran) == (ALL, ALL, shown, len(NEEDLE))


def test_it_is_in_the_json(lab: Any) -> None:
    printed = lab.ask(lab.model(), lab.corpus(FILES)).answer.to_json()
    expected = {"total": ALL, "read": ALL, "shown": ALL, "cited": len(NEEDLE)}
    assert printed["coverage"]["characters"] == expected


def record(*span_ids: str, **fields: Any) -> CallRecord:
    return CallRecord(
        key="k#1",
        signature="AnalyzeLeaf",
        attempt=1,
        model="m",
        input_hash="",
        started=0.0,
        span_ids=span_ids,
        **fields,
    )


@given(data=st.data())
def test_the_numbers_hang_on_no_order_and_only_grow(workspace: Workspace, data: Any) -> None:
    """Hypothesis: calls in any order and number, places of tools beyond the text, spans of failed calls."""
    ids = [span.id for span in workspace.partitioning.all_spans()]
    chosen = data.draw(st.lists(st.sampled_from(ids), max_size=12))
    calls = [record(each, status="done") for each in chosen]
    unsent = [record(*ids), record(*ids, status="failed")]
    offsets = st.integers(0, 12_000)
    places = data.draw(
        st.lists(st.builds(Place, source=st.sampled_from([*FILES]), start=offsets, end=offsets))
    )
    event = Accessed(
        frame_id="root",
        step_id="t1",
        tool="read_span",
        read_characters=0,
        shown_characters=0,
        shown=tuple(places),
        cut="",
    )
    state = apply(RunState(), event)
    found = characters(state, workspace, [*calls, *unsent], ())
    again = characters(state, workspace, [*unsent, *reversed(calls), *calls], ())
    assert found == again
    assert found.cited <= found.shown == found.read <= found.total == ALL
    more = characters(
        state, workspace, [*calls, record(*ids, status="failed", usage=Usage(calls=1))], ()
    )
    assert more.shown == ALL >= found.shown
    fewer = characters(state, workspace, calls[1:], ())
    assert fewer.shown <= found.shown


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("corpus")
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8", newline="")
    return Workspace(open_corpus([root], store=tmp_path_factory.mktemp("store")))
