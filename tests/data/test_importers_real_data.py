"""Importers on the real data: public data become sets whose gold is exact, and what cannot be is counted.

The data are not part of the project: tests that need them are skipped where they are absent.
"""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.questions import QuestionSet
from data.sets.importers import IMPORTERS, load_report
from data.sets.lint import lint_folder
from data.sets.storage import load_set, open_set_corpus, save_set
from tests.data.importers_desk import DATA, gold

FOLDERS = {
    "chunking": "chunking_evaluation",
    "qmsum": "qmsum",
    "hotpotqa": "hotpotqa_distractor_100",
    "ramdocs": "ramdocs",
    "evidence_inference": "evidence_inference",
    "loghub": "loghub_2k",
    "key_value": "lost_in_the_middle",
}
LIMITS = {"hotpotqa": 25, "ramdocs": 40, "key_value": 15}
"""Where each question has a corpus of its own, which takes its time to build."""

Imported = Callable[[str], tuple[QuestionSet, Path]]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """The set of an importer, with its folder; each is made once. Skips where the data are absent."""
    made: dict[str, tuple[QuestionSet, Path]] = {}

    def get(name: str) -> tuple[QuestionSet, Path]:
        source = DATA / FOLDERS[name]
        if not source.exists():
            pytest.skip(f"the sample is not at {source}")
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            limit = LIMITS.get(name)
            questions = IMPORTERS[name](source, folder, limit=limit, seed=3, store=folder / "store")
            made[name] = questions, folder
        return made[name]

    return get


def lines_of(name: str, file: str) -> list[dict[str, Any]]:
    path = DATA / FOLDERS[name] / file
    raw = gzip.decompress(path.read_bytes()) if file.endswith(".gz") else path.read_bytes()
    return [json.loads(line) for line in raw.decode().split("\n") if line]


@pytest.mark.parametrize("name", FOLDERS)
def test_the_linter_finds_nothing(imported: Imported, name: str) -> None:
    """Offsets, quotes, sources, versions, duplicates, types, splits: after a round trip through the disk."""
    made, folder = imported(name)
    save_set(made, folder)
    assert load_set(folder) == made
    assert lint_folder(made, folder, store=folder / "store") == []


@pytest.mark.parametrize("name", FOLDERS)
def test_every_quote_is_the_slice_and_the_report_counts_all(imported: Imported, name: str) -> None:
    made, folder = imported(name)
    report = load_report(folder)
    assert report.kept == len(made.questions) > 0
    assert report.spans == sum(len(gold(each)) for each in made.questions)
    assert str(report) in made.made_by
    if name not in LIMITS:
        lost = report.left_out.items()
        assert report.kept + sum(n for why, n in lost if "span" not in why) == report.found
    for entry in made.corpora:
        corpus = open_set_corpus(made, folder, entry.name, store=folder / "store")
        texts = {each.id: corpus.text(each.id) for each in corpus.sources if each.readable}
        for each in (q for q in made.questions if q.corpus == entry.name):
            for span in (*gold(each), *each.allowed):
                assert texts[span.source][span.start : span.end] == span.quote


@pytest.mark.parametrize("name", ["chunking", "evidence_inference", "loghub"])
def test_documents_are_the_files_byte_by_byte(imported: Imported, name: str) -> None:
    """haystack#403: line ends are those of the data; most logs have CRLF."""
    _, folder = imported(name)
    originals = {path.name: path for path in (DATA / FOLDERS[name]).rglob("*") if path.is_file()}
    copies = [path for path in (folder / "corpora").rglob("*") if path.is_file()]
    assert copies
    assert all(path.read_bytes() == originals[path.name].read_bytes() for path in copies)


def test_chunking_has_every_reference(imported: Imported) -> None:
    made, folder = imported("chunking")
    table = DATA / FOLDERS["chunking"] / "questions_df.csv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [each.question for each in made.questions] == [row["question"] for row in rows]
    assert len(made.questions) == 319
    for question, row in zip(made.questions, rows, strict=True):
        told = {(r["start_index"], r["end_index"]) for r in json.loads(row["references"])}
        assert {(span.start, span.end) for span in gold(question)} == told
    assert load_report(folder).mended == 0


def test_qmsum_turns_are_lines(imported: Imported) -> None:
    """A range of turns is the lines from the first to the last, both included."""
    made, _ = imported("qmsum")
    asked = {each.question: each for each in made.questions if "specific" in each.tags}
    compared = 0
    for row in lines_of("qmsum", "val.jsonl"):
        turns = row["meeting_transcripts"]
        queries = Counter(each["query"] for each in row["specific_query_list"])
        for query in row["specific_query_list"]:
            question = asked.get(query["query"])
            if question is None or queries[query["query"]] > 1:
                continue
            (first, last), *_ = query["relevant_text_span"]
            quote = question.gold[0][0][0].quote.split("\n")
            if turns[int(first)]["content"] not in quote[0]:
                continue  # another meeting was asked the same
            compared += 1
            assert len(quote) == int(last) - int(first) + 1
            assert turns[int(last)]["content"].strip() in quote[-1]
            assert quote[0].startswith(turns[int(first)]["speaker"])
    assert compared > 180


def test_qmsum_general_questions_need_every_partition(imported: Imported) -> None:
    made, folder = imported("qmsum")
    general = [each for each in made.questions if "general" in each.tags]
    assert len(general) == 34
    for each in general[:5]:
        corpus = open_set_corpus(made, folder, each.corpus, store=folder / "store")
        assert each.kind == "aggregate"
        partitions = corpus.partitions().partitions
        assert each.required_partitions == tuple(p.id for p in partitions)


def test_hotpotqa_has_the_supporting_sentences(imported: Imported) -> None:
    made, folder = imported("hotpotqa")
    rows = {row["id"]: row for row in lines_of("hotpotqa", "hotpotqa_distractor_100.jsonl")}
    for question in made.questions:
        row = rows[question.corpus]
        context = dict(zip(row["context"]["title"], row["context"]["sentences"], strict=True))
        supporting = row["supporting_facts"]
        told = [
            context[title][number].strip()
            for title, number in zip(supporting["title"], supporting["sent_id"], strict=True)
        ]
        assert [span.quote for span in gold(question)] == told
        assert len(list((folder / "corpora" / question.corpus).iterdir())) == len(context)
    types = Counter(each.answer.type for each in made.questions)
    assert {"boolean", "string"} <= types.keys()


def test_ramdocs_answers_are_facts_and_documents_alternatives(imported: Imported) -> None:
    """InfiniteBench#18: every valid answer is a reference. A misleading document may be cited, and proves nothing."""
    made, _ = imported("ramdocs")
    rows = {row["question"]: row for row in lines_of("ramdocs", "RAMDocs_test.jsonl")}
    kinds = Counter(each.kind for each in made.questions)
    assert kinds["conflict"] > kinds["lookup"] > 0
    for question in (each for each in made.questions if each.answerable):
        row = rows[question.question]
        documents = {f"document {n}.txt": each for n, each in enumerate(row["documents"], 1)}
        assert len(question.gold) == len(question.answer.values)
        if question.answer.type == "set":
            assert set(question.answer.values) <= {each.strip() for each in row["gold_answers"]}
        for span in gold(question):
            assert documents[span.source]["type"] == "correct"
        allowed = {span.source for span in question.allowed}
        assert allowed == {n for n, d in documents.items() if d["type"] != "noise"}
        if len(question.gold) > 1 or any(d["type"] == "misinfo" for d in documents.values()):
            assert question.kind == "conflict"


def test_evidence_inference_goes_by_the_majority(imported: Imported) -> None:
    made, folder = imported("evidence_inference")
    assert load_report(folder).mended == 0
    disputed = [each for each in made.questions if "annotators disagree" in each.tags]
    assert all(each.allowed for each in disputed)
    assert {each.answer.values[0] for each in made.questions} == {
        "significantly increased",
        "significantly decreased",
        "no significant difference",
    }
    assert all(len(each.gold) == 1 for each in made.questions)
    assert any(len(each.gold[0]) > 1 for each in made.questions)


def test_loghub_counts_are_those_of_the_text(imported: Imported) -> None:
    """What the table says, a search of the log says too."""
    made, folder = imported("loghub")
    counts = {each.question: each for each in made.questions if each.tags == ("count", "level")}
    errors = counts["How many lines of Apache_2k.log have the level `error`?"]
    assert errors.answer.values == ("595",)
    assert len(errors.gold[0]) == 595
    corpus = open_set_corpus(made, folder, "Apache_2k", store=folder / "store")
    hits = corpus.scan(['"[error]"']).hits
    assert [corpus.line_of("Apache_2k.log", each[0].start) for each in errors.gold[0]] == [
        hit.line for hit in hits
    ]


def test_loghub_firsts_and_lasts_are_lines(imported: Imported) -> None:
    made, _ = imported("loghub")
    for each in made.questions:
        if each.tags[0] in ("first", "last"):
            ((line,),) = each.gold[0]
            words = each.answer.accepted or each.answer.values
            assert words[0] in line.quote
            assert not {"\n", "\r"} & set(line.quote)
    types = {(each.corpus, each.answer.type) for each in made.questions if each.tags[0] == "first"}
    assert ("HDFS_2k", "date") in types
    assert ("Linux_2k", "string") in types  # names no year


def test_loghub_asks_in_vain_too(imported: Imported) -> None:
    made, _ = imported("loghub")
    absent = Counter(each.corpus for each in made.questions if not each.answerable)
    assert sorted(absent.values()) == [2] * 6
    sets = {each.question: each for each in made.questions if each.answer.type == "set"}
    levels = sets["Which levels occur in BGL_2k.log?"]
    assert set(levels.answer.values) == {"INFO", "FATAL", "ERROR", "WARNING", "SEVERE"}
    assert len(levels.gold) == 5


def test_key_value_gold_is_the_line_of_the_key(imported: Imported) -> None:
    made, folder = imported("key_value")
    for question in made.questions:
        (span,) = gold(question)
        (path,) = (folder / "corpora" / question.corpus).iterdir()
        pairs = json.loads(path.read_text())
        key, value = json.loads(f"[{span.quote.replace(': ', ', ')}]")
        assert pairs[key] == value == question.answer.values[0]
        assert key in question.question
        assert f"position={list(pairs).index(key)}" in question.tags


@pytest.mark.parametrize("name", FOLDERS)
def test_splits_go_by_document(imported: Imported, name: str) -> None:
    made, _ = imported(name)
    splits: dict[tuple[str, str], set[str]] = {}
    for each in made.questions:
        for document in each.documents:
            splits.setdefault((each.corpus, document), set()).add(each.split)
    assert all(len(each) == 1 for each in splits.values())
    assert {each.split for each in made.questions} == {"train", "validation", "test"}


def test_a_limit_draws_by_seed(tmp_path: Path) -> None:
    source = DATA / FOLDERS["chunking"]
    if not source.exists():
        pytest.skip(f"the sample is not at {source}")
    run = IMPORTERS["chunking"]
    first, again, other = (
        run(source, tmp_path / str(n), limit=20, seed=seed) for n, seed in enumerate((1, 1, 2))
    )
    assert len(first.questions) == len(other.questions) == 20
    assert first == again
    assert [each.id for each in first.questions] != [each.id for each in other.questions]
