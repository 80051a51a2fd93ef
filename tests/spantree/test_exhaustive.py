"""Exhaustive questions over real meetings and logs: a whole answer, or one that names what it lacks; never a top-k.

The data is not part of the repository. Where it is absent, these tests are skipped.
"""

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import dspy
import pytest

from data.corpus import Corpus
from programs.catalog import PROGRAMS
from spantree import Answer, Limits, make_lm, open_corpus

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
MEETINGS = SHARED / "qmsum" / "val.jsonl"
LOG = SHARED / "loghub_2k" / "Apache_2k.log"
pytestmark = pytest.mark.skipif(
    not (MEETINGS.is_file() and LOG.is_file()), reason=f"no QMSum and Loghub samples at {SHARED}"
)
NUMBERS = (25, 33)
"""Two short meetings, by their places in the file."""

VARIANTS: dict[str, dict[str, Any]] = {
    **{name: {} for name in PROGRAMS},
    "rlm repl": {"action_space": "repl"},
    "direct small": {"window": 6_000},
    "retrieve all": {"top_k": 1_000},
}
"""The programs, and what is chosen of their options: a window that cuts, a ranking that reaches every passage."""
RANKING = ("retrieve", "retrieve all")
COUNTING = ("auto", "recursive", "rlm", "rlm repl", "plan_execute", "react")
"""Those that search for strings, and count what they find."""
EACH = pytest.mark.parametrize("name", VARIANTS)


@dataclass(frozen=True)
class Asked:
    """A question about `meetings` or `log`: `string` is what its lines contain, `source` its only source."""

    corpus: str
    question: str
    string: str = ""
    source: str = ""


COUNTS = (
    Asked("meetings", 'How many lines mention "remote control"?', "remote control"),
    Asked("meetings", "有多少行提到“button”？", "button"),
    Asked("meetings", 'How many lines in meeting-33.txt mention "button"?', "button", "meeting-33.txt"),
    Asked("log", "有多少行提到“Can't find child”？", "Can't find child"),
)  # fmt: skip
LISTS = (
    Asked("meetings", "列出所有提到“batteries”的行。", "batteries"),
    Asked("log", 'List every line that mentions "index forbidden by rule".', "index forbidden by rule"),
)  # fmt: skip
ABSENT = (
    Asked("meetings", 'Is there any line that mentions "zebra"?', "zebra"),
    Asked("log", "是否有任何一行提到“kernel panic”？", "kernel panic"),
)
READ = (
    Asked("meetings", "List everything that was said about the buttons."),
    Asked("meetings", "Do any statements about the battery contradict each other?"),
    Asked("meetings", "How did the price evolve from the start to the end?"),
)
"""Questions without strings to search for: readers have to see everything."""
QUESTIONS = (*COUNTS, *LISTS, *ABSENT, *READ)


@dataclass(frozen=True)
class Desk:
    """The corpora, and the answers to the questions, each asked once of each program."""

    corpora: dict[str, Corpus]
    answer: Callable[[str, Asked], Answer]


def ask(
    name: str,
    question: str,
    corpus: Corpus,
    *,
    model: str = "extractive",
    limits: Limits | None = None,
) -> Answer:
    program = PROGRAMS[name.split()[0]].build(VARIANTS[name], lm=make_lm(model), limits=limits)
    with dspy.context(trace=None):
        return program(question=question, corpus=corpus).answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The meetings as files, a turn a line."""
    made = tmp_path_factory.mktemp("meetings")
    rows = [json.loads(line) for line in MEETINGS.read_text(encoding="utf-8").splitlines()]
    for number in NUMBERS:
        turns = rows[number]["meeting_transcripts"]
        text = "".join(f"{turn['speaker']}: {turn['content']}\n" for turn in turns)
        (made / f"meeting-{number}.txt").write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def desk(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    store = tmp_path_factory.mktemp("store")
    corpora = {
        "meetings": open_corpus([folder], store=store),
        "log": open_corpus([LOG], store=store),
    }

    @cache
    def answer(name: str, asked: Asked) -> Answer:
        return ask(name, asked.question, corpora[asked.corpus])

    return Desk(corpora, answer)


@pytest.fixture(scope="module")
def torn(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The meetings beside a file that cannot be read."""
    here = shutil.copytree(folder, tmp_path_factory.mktemp("torn") / "here")
    here.joinpath("minutes.pdf").write_bytes(b"%PDF-1.4 \0\0\0")
    return open_corpus([here], store=tmp_path_factory.mktemp("store"))


def lines_with(asked: Asked, corpus: Corpus) -> set[tuple[str, int]]:
    """Source and number of each line that contains the string, by the structured CSV of the log or by a search."""
    if asked.corpus == "log":
        with LOG.with_name(f"{LOG.name}_structured.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return {(LOG.name, int(row["LineId"])) for row in rows if asked.string in row["Content"]}
    return {
        (source.id, number)
        for source in corpus.sources
        if asked.source in ("", source.id)
        for number, line in enumerate(corpus.text(source.id).splitlines(), 1)
        if asked.string in line
    }


def scope(asked: Asked, corpus: Corpus) -> list[str]:
    return [
        each.id
        for each in corpus.partitions().partitions
        if asked.source in ("", each.source)
    ]  # fmt: skip


def assert_honest(answer: Answer, required: list[str]) -> None:
    """What became of every required partition is said once, and only a whole is told as one."""
    reach = answer.coverage
    assert list(reach.required) == required
    named = [*reach.completed, *reach.failed, *reach.unread]
    assert sorted(named) == sorted(required)
    if answer.outcome in ("answered", "not_found"):
        assert reach.completed == reach.required
        assert not reach.unparsed


def cited(answer: Answer) -> set[tuple[str, int]]:
    return {(each.source, each.line_start) for claim in answer.claims for each in claim.citations}


@EACH
@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.question)
def test_every_required_partition_is_completed_or_named(
    desk: Desk, name: str, asked: Asked
) -> None:
    corpus = desk.corpora[asked.corpus]
    answer = desk.answer(name, asked)
    assert_honest(answer, scope(asked, corpus))
    if name in RANKING:
        assert answer.outcome in ("partial", "not_found_in_covered")
        assert answer.coverage.completed == ()
        assert {each.exhaustive for each in answer.coverage.searches} == {False}
    if name == "auto":
        assert answer.program in ("recursive", "map_reduce")
        assert "rank" not in {each.method for each in answer.coverage.searches}


@EACH
@pytest.mark.parametrize("asked", COUNTS, ids=lambda asked: asked.question)
def test_a_count_is_exact_or_no_count(desk: Desk, name: str, asked: Asked) -> None:
    """What readers reported can be counted, and is not what is asked: it is told as theirs, and is no value."""
    truth = len(lines_with(asked, desk.corpora[asked.corpus]))
    answer = desk.answer(name, asked)
    assert truth > 0
    if name in COUNTING:
        assert (answer.value, answer.outcome) == (truth, "answered")
    else:
        assert answer.value is None
        assert answer.outcome in ("partial", "not_found_in_covered")
    if name == "map_reduce":
        assert answer.text.endswith("reported by readers")
        assert {claim.status for claim in answer.claims} == {"inferred"}
        assert any("not counted by code" in each for each in answer.warnings)


@EACH
@pytest.mark.parametrize("asked", LISTS, ids=lambda asked: asked.question)
def test_a_list_has_every_line(desk: Desk, name: str, asked: Asked) -> None:
    truth = lines_with(asked, desk.corpora[asked.corpus])
    answer = desk.answer(name, asked)
    assert cited(answer) <= truth
    if answer.outcome == "answered":
        assert cited(answer) == truth
    assert (answer.outcome == "answered") == (name not in (*RANKING, "direct small"))


@EACH
@pytest.mark.parametrize("asked", ABSENT, ids=lambda asked: asked.question)
def test_an_absence_is_stated_over_everything_or_not_at_all(
    desk: Desk, name: str, asked: Asked
) -> None:
    assert not lines_with(asked, desk.corpora[asked.corpus])
    answer = desk.answer(name, asked)
    assert answer.claims == ()
    whole = name not in (*RANKING, "direct small")
    assert (answer.outcome == "not_found") == whole


@EACH
def test_what_stands_there_is_not_called_absent(desk: Desk, name: str) -> None:
    """A reader that looks for "list" and "everything" beside "buttons" finds nothing, and would say so."""
    answer = desk.answer(name, READ[0])
    assert answer.outcome in ("answered", "partial")
    assert any("button" in cite.quote for claim in answer.claims for cite in claim.citations)


READING = tuple(name for name in VARIANTS if not name.startswith(("direct", "cot", "retrieve")))
"""Those that read the partitions one by one."""


@pytest.mark.parametrize("name", READING)
def test_what_readers_failed_at_is_named(desk: Desk, name: str) -> None:
    """A tenth of the replies cannot be read and a tenth of the calls time out, with no retry."""
    weak = "simulated:malformed=0.1,timeout=0.1,seed={}"
    corpus = desk.corpora["meetings"]
    required = scope(READ[0], corpus)
    failed = 0
    for seed in (1, 2):
        limits = Limits(retries=0)
        answer = ask(name, READ[0].question, corpus, model=weak.format(seed), limits=limits)
        assert_honest(answer, required)
        lacking = {*answer.coverage.failed, *answer.coverage.unread}
        failed += len(answer.coverage.failed)
        if lacking:
            assert answer.outcome == "partial" or not answer.claims
            assert answer.outcome not in ("answered", "not_found")
            named = answer.to_json()["coverage"]["details"]
            assert {*named["failed"], *named["unread"]} == lacking
    assert failed > 0


@EACH
def test_what_a_small_budget_left_unread_is_named(desk: Desk, name: str) -> None:
    corpus = desk.corpora["meetings"]
    required = scope(READ[0], corpus)
    answer = ask(name, READ[0].question, corpus, limits=Limits(calls=8))
    assert_honest(answer, required)
    assert answer.receipt.calls <= 8
    if name in READING:
        assert answer.outcome == "partial"
        assert answer.coverage.completed
        assert answer.coverage.unread
        assert any("limit reached: calls" in each for each in answer.warnings)


@EACH
@pytest.mark.parametrize("asked", [LISTS[0], ABSENT[0]], ids=lambda asked: asked.question)
def test_a_file_that_cannot_be_read_is_never_passed_over(
    torn: Corpus, name: str, asked: Asked
) -> None:
    answer = ask(name, asked.question, torn)
    assert answer.coverage.unparsed == ("minutes.pdf",)
    assert answer.outcome in ("partial", "not_found_in_covered")
