"""The leaf size: partitions longer than it are read in pieces, and nothing else of a run changes."""

import re
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.span import Span
from programs import Program, Recursive
from programs.base import LEAST_LEAF
from programs.baselines import MapReduce, PlanExecute, Retrieve
from programs.catalog import PROGRAMS, takers
from programs.pieces import characters, joined, pieces
from programs.readings import Reading
from programs.route import Auto
from programs.workspace import LEAF_CHARACTERS
from runtime.errors import LimitsError
from runtime.frames import fold
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule, ScriptedEngine
from spantree.cli.settings import Settings

LONG = {"long.txt": "".join(f"FACT number {n} of the long file\n" for n in range(450))}
MANY = {f"{n}.txt": f"FACT {n}\n" * 300 for n in range(3)}


def spans_of(lengths: list[int], source: str = "a", start: int = 0) -> list[Span]:
    found, at = [], start
    for length in lengths:
        found.append(Span(f"{source}{at}", source, at, at + length, 1, 1))
        at += length
    return found


def shown(ran: Any) -> list[int]:
    """Characters of evidence that each leaf call was shown, in the order of their keys."""
    partitioning = ran.corpus.partitions()
    calls = [call for call in ran.calls if call.signature == "AnalyzeLeaf"]
    calls.sort(key=lambda call: [int(n) for n in re.findall(r"/(\d+)", call.key)])
    return [characters(partitioning.span(each) for each in call.span_ids) for call in calls]


lengths = st.lists(st.integers(1, 1_200), min_size=1, max_size=40)
sizes = st.integers(1_200, 20_000)


@given(lengths, sizes)
def test_pieces_are_all_of_it_in_order_and_no_longer_than_the_leaf_size(
    each: list[int], most: int
) -> None:
    spans = spans_of(each)
    cut = pieces(spans, most)
    assert list(chain.from_iterable(cut)) == spans
    assert all(piece and characters(piece) <= most for piece in cut)


@given(lengths, sizes)
def test_what_fits_is_one_piece_and_pieces_are_of_about_equal_length(
    each: list[int], most: int
) -> None:
    cut = pieces(spans_of(each), most)
    assert (len(cut) == 1) == (sum(each) <= most)
    fewest = -(-sum(each) // most)
    assert all(characters(piece) <= sum(each) / fewest + 1_200 for piece in cut)


@given(st.lists(lengths, min_size=1, max_size=6), sizes)
def test_neighbors_are_joined_within_a_source_and_the_leaf_size(
    each: list[list[int]], most: int
) -> None:
    groups, at = [], 0
    for number, found in enumerate(each):
        source = "a" if number < 3 else "b"
        groups.append(tuple(spans_of(found, source, at)))
        at += sum(found)
    together = joined(groups, most)
    assert list(chain.from_iterable(together)) == groups
    for those in together:
        assert len({span.source for group in those for span in group}) == 1
        assert len(those) == 1 or sum(map(characters, those)) <= most


def test_a_partition_longer_than_the_leaf_size_is_read_in_pieces_and_counts_once(lab: Any) -> None:
    corpus = lab.corpus(LONG)
    whole = lab.ask(lab.model(), corpus)
    cut = lab.ask(lab.model(), corpus, leaf_characters=3_000)
    assert max(shown(whole)) > 3_000
    assert max(shown(cut)) <= 3_000
    assert sum(shown(cut)) == sum(shown(whole))
    assert cut.answer.coverage == whole.answer.coverage
    assert len(cut.answer.coverage.completed) == len(corpus.partitions().partitions)
    quoted = [
        [c.quote for claim in ran.answer.claims for c in claim.citations] for ran in (cut, whole)
    ]
    assert quoted[0] == quoted[1]
    assert len(quoted[0]) == 450


def test_a_partition_one_piece_of_which_fails_is_failed_and_keeps_what_was_read(lab: Any) -> None:
    """The other pieces keep their claims; the partition appears once, and the answer is partial."""
    rule = Rule(signature="AnalyzeLeaf", contains="FACT number 7 of", reply="I found a fact.")
    corpus = lab.corpus({"long.txt": "".join(LONG["long.txt"].splitlines(True)[:200])})
    ran = lab.ask(lab.model(rule, requires_all=True), corpus, leaf_characters=2_000)
    assert len(corpus.partitions().partitions) == 1
    assert len(ran.answer.coverage.failed) == 1
    assert ran.answer.coverage.completed == ()
    assert ran.answer.outcome == "partial"
    assert 0 < len(ran.answer.claims) < 200


def test_a_partition_one_piece_of_which_was_not_read_is_unread(lab: Any) -> None:
    corpus = lab.corpus({"long.txt": "".join(LONG["long.txt"].splitlines(True)[:200])})
    limits = Limits(calls=5, in_flight=1)
    ran = lab.ask(lab.model(requires_all=True), corpus, leaf_characters=1_200, limits=limits)
    assert len(ran.answer.coverage.unread) == 1
    assert ran.answer.coverage.completed == ()
    assert ran.answer.outcome == "partial"


def test_larger_leaves_read_neighboring_partitions_together(lab: Any) -> None:
    """Above the usual size, several partitions of a source are one reading; sources stay apart."""
    corpus = lab.corpus({**LONG, **MANY})
    usual = lab.ask(lab.model(), corpus)
    large = lab.ask(lab.model(), corpus, leaf_characters=60_000)
    assert len(shown(usual)) == len(corpus.partitions().partitions) > 4
    assert len(shown(large)) == 4
    assert sum(shown(large)) == sum(shown(usual))
    assert large.answer.coverage == usual.answer.coverage


@pytest.mark.parametrize("given", [{}, {"leaf_characters": LEAF_CHARACTERS}], ids=["none", "same"])
def test_the_usual_leaf_size_reads_each_partition_at_once(lab: Any, given: dict[str, int]) -> None:
    """Under the same keys as ever, so that calls that are recorded are found again."""
    corpus = lab.corpus({**LONG, **MANY})
    ran = lab.ask(lab.model(), corpus, **given)
    partitioning = corpus.partitions()
    calls = {c.key: c.span_ids for c in ran.calls if c.signature == "AnalyzeLeaf"}
    assert sorted(calls.values()) == sorted(each.span_ids for each in partitioning.partitions)
    assert {key.split("/")[2].split("#")[0].split(":")[1][:12] for key in calls} == {
        Reading(partitioning.spans(each.id), (each.id,)).key for each in partitioning.partitions
    }


@pytest.mark.parametrize("program", [Recursive, MapReduce, PlanExecute, Auto, Retrieve])
def test_every_program_whose_readers_see_parts_keeps_to_it(
    lab: Any, program: type[Program]
) -> None:
    own: dict[str, Any] = {"k": 40} if program is Retrieve else {}
    ran = lab.ask(
        lab.model(),
        lab.corpus(LONG),
        "List all facts of the long file.",
        of=program,
        leaf_characters=2_000,
        **own,
    )
    assert len(shown(ran)) > 3
    assert max(shown(ran)) <= 2_000


@pytest.mark.parametrize("name", takers("leaf_characters"))
def test_it_is_an_option_of_those_programs_and_recorded(name: str) -> None:
    made = Settings(program=name, leaf_characters=4_000)
    made.check()
    program: Any = made.build(made.models(), None, None)
    assert program.configuration(program.limits)["leaf_characters"] == 4_000


def test_it_is_no_option_where_the_text_is_read_at_once() -> None:
    assert set(PROGRAMS) - set(takers("leaf_characters")) == {"direct", "cot"}


def test_a_leaf_smaller_than_a_span_is_refused() -> None:
    """By programs and by the command line, which says the same number."""
    with pytest.raises(LimitsError, match="1199 characters is too small"):
        Recursive(leaf_characters=LEAST_LEAF - 1)
    with pytest.raises(Exception, match=f"at least {LEAST_LEAF}"):
        Settings(program="recursive", leaf_characters=LEAST_LEAF - 1).check()


class Stop(BaseException):
    """Raised in the middle of a run, as an interrupt would be."""


def test_a_resumed_run_goes_on_with_the_leaf_size_that_it_began_with(lab: Any) -> None:
    """No piece that was read is read again, and the program that resumes has another leaf size."""
    corpus, limits = lab.corpus(LONG), Limits(in_flight=1)
    asked = {"count": 0}

    def stops(request: Any) -> Any:
        asked["count"] += 1
        if asked["count"] == 4:
            raise Stop
        return lab.facts(request)

    with pytest.raises(Stop):
        lab.program(lab.model(AnalyzeLeaf=stops), leaf_characters=2_500, limits=limits)(
            question="What are the facts?", corpus=corpus
        )
    with Journal.open(lab.journal) as journal:
        run_id = journal.run("last").record.run_id
        assert journal.run(run_id).record.config["leaf_characters"] == 2_500
    engine: ScriptedEngine = lab.model()
    answer = lab.program(engine, limits=limits).resume(run_id, corpus).answer
    with Journal.open(lab.journal) as journal:
        done = [
            c for c in journal.calls(run_id) if c.signature == "AnalyzeLeaf" and c.status == "done"
        ]
        assert fold(journal.events(run_id)).finished
    partitioning = corpus.partitions()
    sizes = [characters(partitioning.span(each) for each in call.span_ids) for call in done]
    assert max(sizes) <= 2_500
    assert sum(sizes) == corpus.source("long.txt").characters
    assert len(engine.log) < len(done) + 6
    assert answer.outcome == "answered"
    assert len(answer.claims) == 450


def test_a_reader_that_cannot_take_a_piece_is_given_half_of_it(lab: Any) -> None:
    """Pieces are halved as whole partitions are."""

    def limited(request: Any) -> Any:
        return Reply(error="context") if len(request.value("spans")) > 1 else lab.facts(request)

    ran = lab.ask(lab.model(AnalyzeLeaf=limited), lab.corpus(LONG), leaf_characters=4_000)
    assert ran.answer.outcome == "answered"
    assert len(ran.answer.claims) == 450
