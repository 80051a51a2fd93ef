"""Importers: public data become sets whose gold is exact, and what cannot be is counted.

The data are not part of the project: tests that need them are skipped where they are absent. What a format allows and
the sample does not hold is shown on rows made up here.
"""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from data.questions import GoldSpan, Question, QuestionSet
from data.sets.importers import IMPORTERS, load_report
from data.sets.lint import lint_folder
from data.sets.storage import load_set, open_set_corpus, save_set
from runtime.errors import QuestionSetError

DATA = Path(__file__).parents[2].parent / "shared" / "data"
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


def gold(question: Question) -> list[GoldSpan]:
    return [span for fact in question.gold for each in fact for span in each]


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lines_of(name: str, file: str) -> list[dict[str, Any]]:
    path = DATA / FOLDERS[name] / file
    raw = gzip.decompress(path.read_bytes()) if file.endswith(".gz") else path.read_bytes()
    return [json.loads(line) for line in raw.decode().split("\n") if line]


# On the real data


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


# FEVER: the shape of its groups is in the sample, the pages are not, so they are made up


def fever(folder: Path, rows: Iterable[Mapping[str, Any]], *, missing: str = "") -> Path:
    """Claims with a wiki of made-up sentences for every page that they name."""
    rows = list(rows)
    last: dict[str, int] = {}
    for row in rows:
        for _, _, page, number in (each for group in row["evidence"] for each in group):
            if page is not None and page != missing:
                last[page] = max(last.get(page, 0), number)
    pages = [
        {
            "id": page,
            "text": "",
            "lines": "\n".join(f"{n}\tSentence {n} of {page}.\tlink\tlink" for n in range(end + 1)),
        }
        for page, end in last.items()
    ]
    written(folder / "wiki-pages" / "wiki-001.jsonl", pages)
    return written(folder / "claims.jsonl", rows).parent


def test_fever_groups_are_alternatives(tmp_path: Path) -> None:
    """Any one group suffices, and of a group every sentence is needed."""
    path = DATA / "fever_scorer" / "actual.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the sample is not at {path}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 400)]
    for number, row in enumerate(rows):
        row["claim"] = f"Claim {number}."
    made = IMPORTERS["fever"](fever(tmp_path / "fever", rows), tmp_path / "set")
    assert lint_folder(made, tmp_path / "set") == []
    assert len(made.questions) == len(rows)
    for row, question in zip(rows, made.questions, strict=True):
        if row["label"] == "NOT ENOUGH INFO":
            assert (question.kind, question.gold, question.answerable) == (
                "unanswerable",
                (),
                False,
            )
            continue
        groups = {frozenset((page, n) for *_, page, n in group) for group in row["evidence"]}
        (fact,) = question.gold
        told = {
            frozenset(
                (each.quote.split(" of ")[1].rstrip("."), int(each.quote.split()[1]))
                for each in alternative
            )
            for alternative in fact
        }
        assert told == {frozenset((p.rstrip("."), n) for p, n in group) for group in groups}
        assert question.answer.values == ("true" if row["label"] == "SUPPORTS" else "false",)
    assert any(
        len(alternative) > 1 for each in made.questions for f in each.gold for alternative in f
    )


def test_fever_claims_without_their_pages_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": 7, "label": "SUPPORTS", "claim": "One.", "evidence": [[[1, 1, "Here", 2]]]},
        {"id": 8, "label": "REFUTES", "claim": "Two.", "evidence": [[[1, 1, "Gone", 0]]]},
        {
            "id": 9,
            "label": "REFUTES",
            "claim": "Three.",
            "evidence": [[[1, 1, "Here", 0], [1, 2, "Gone", 0]], [[2, 3, "Here", 1]]],
        },
    ]
    source = fever(tmp_path / "fever", rows, missing="Gone")
    made = IMPORTERS["fever"](source, tmp_path / "set")
    assert [each.tags[1] for each in made.questions] == ["claim=7", "claim=9"]
    assert [len(each.gold[0]) for each in made.questions] == [1, 1]
    assert sum(load_report(tmp_path / "set").left_out.values()) == 1


# What may be in other copies of the data


def hotpot(id_: str, **changes: Any) -> dict[str, Any]:
    return {
        "_id": id_,
        "question": f"Who is {id_}?",
        "answer": "yes",
        "supporting_facts": [["a/b: c?", 1]],
        "context": [["a/b: c?", ["First. ", " Ünïcödé 😀 second."]], ["A/B: C?", ["Other."]]],
    } | changes


def test_hotpotqa_reads_the_original_file_too(tmp_path: Path) -> None:
    """Lists of pairs; titles that are no file names, and that differ only in case; offsets behind an emoji."""
    source = tmp_path / "hotpot_dev_distractor_v1.json"
    source.write_text(json.dumps([hotpot("x"), hotpot("y", answer="1,234")]))
    made = IMPORTERS["hotpotqa"](source, tmp_path / "set")
    assert lint_folder(made, tmp_path / "set") == []
    names = sorted(path.name for path in (tmp_path / "set" / "corpora" / "x").iterdir())
    assert names == ["A_B_ C_ 2.txt", "a_b_ c_.txt"]
    assert [each.quote for each in gold(made.questions[0])] == ["Ünïcödé 😀 second."]
    assert made.questions[0].answer.values == ("true",)
    assert made.questions[1].answer.values == ("1234",)
    assert made.questions[1].answer.accepted == ("1,234",)


def test_gold_that_is_not_there_leaves_the_question_out(tmp_path: Path) -> None:
    """LongMemEval#37: some supporting facts of HotpotQA name a sentence that the paragraph does not have."""
    rows = [hotpot("x"), hotpot("y", supporting_facts=[["a/b: c?", 1], ["a/b: c?", 9]])]
    made = IMPORTERS["hotpotqa"](written(tmp_path / "h.jsonl", rows), tmp_path / "set")
    assert [each.corpus for each in made.questions] == ["x"]
    report = load_report(tmp_path / "set")
    assert (report.found, report.kept) == (2, 1)
    assert report.left_out == {"questions whose gold is not in the text": 1}


def test_duplicate_ids_and_questions_count_once(tmp_path: Path) -> None:
    """sgl-eval#39: rows that share an id are not one row that counts twice."""
    rows = [hotpot("x"), hotpot("x", question="Another?"), hotpot("y", question="  ")]
    made = IMPORTERS["hotpotqa"](written(tmp_path / "h.jsonl", rows), tmp_path / "set")
    assert [each.question for each in made.questions] == ["Who is x?"]
    assert sorted(load_report(tmp_path / "set").left_out.values()) == [1, 1]


def chunking(folder: Path, text: bytes, references: list[dict[str, Any]]) -> Path:
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "notes.md").write_bytes(text)
    with (folder / "questions_df.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "references", "corpus_id"])
        table.writerow(["What?", json.dumps(references), "notes"])
        table.writerow(["Where?", json.dumps(references), "absent"])
    return folder


def test_offsets_that_are_off_are_mended_where_the_quote_is_unique(tmp_path: Path) -> None:
    """A byte order mark is dropped by the corpus, and counted by who made the data; CRLF and emoji stay."""
    text = "\ufeffOne 😀.\r\nTwo.\r\nTwo.\r\n".encode()
    mark = {"content": "One 😀.", "start_index": 1, "end_index": 7}
    made = IMPORTERS["chunking"](chunking(tmp_path / "a", text, [mark]), tmp_path / "set")
    assert [(each.start, each.end) for each in gold(made.questions[0])] == [(0, 6)]
    report = load_report(tmp_path / "set")
    assert (report.mended, report.kept, report.found) == (1, 1, 2)
    assert lint_folder(made, tmp_path / "set") == []
    twice = {"content": "Two.", "start_index": 0, "end_index": 4}
    with pytest.raises(QuestionSetError, match="whose gold is not in the text"):
        IMPORTERS["chunking"](chunking(tmp_path / "b", text, [twice]), tmp_path / "other")


def test_a_line_break_within_a_turn_stays_within_its_line(tmp_path: Path) -> None:
    turns = [{"speaker": "A", "content": "one\r\ntwo"}, {"speaker": "B", "content": ""}]
    rows = [
        {
            "specific_query_list": [
                {"query": "What?", "relevant_text_span": [["0", "1"]]},
                {"query": "Whither?", "relevant_text_span": [["1", "2"]]},
            ],
            "meeting_transcripts": turns,
        }
    ]
    made = IMPORTERS["qmsum"](written(tmp_path / "m.jsonl", rows), tmp_path / "set")
    assert [span.quote for each in made.questions for span in gold(each)] == ["A: one two\nB:"]
    assert sum(load_report(tmp_path / "set").left_out.values()) == 1


def ramdoc(text: str, kind: str, answer: str) -> dict[str, str]:
    return {"text": text, "type": kind, "answer": answer}


def test_ramdocs_without_a_right_document(tmp_path: Path) -> None:
    """Nothing but noise: the question is unanswerable. Nothing but a lie: it is left out."""
    noise, lie = ramdoc("Of fish.", "noise", "unknown"), ramdoc("It is 7.", "misinfo", "7")
    rows = [
        {"question": "A?", "documents": [noise], "gold_answers": ["8"], "wrong_answers": []},
        {"question": "B?", "documents": [noise, lie], "gold_answers": ["8"], "wrong_answers": []},
    ]
    made = IMPORTERS["ramdocs"](written(tmp_path / "r.jsonl", rows), tmp_path / "set")
    (question,) = made.questions
    assert (question.question, question.kind, question.answerable) == ("A?", "unanswerable", False)
    assert lint_folder(made, tmp_path / "set") == []
    assert sum(load_report(tmp_path / "set").left_out.values()) == 1


def test_ramdocs_alternatives_are_sentences(tmp_path: Path) -> None:
    right = ramdoc("\ufeffFirst. It has 8 legs, says X. And 88 eyes. Yes, 8!", "correct", "8")
    rows = [{"question": "A?", "documents": [right], "gold_answers": ["8"]}]
    made = IMPORTERS["ramdocs"](written(tmp_path / "r.jsonl", rows), tmp_path / "set")
    assert [span.quote for span in gold(made.questions[0])] == ["It has 8 legs, says X.", "Yes, 8!"]


def test_a_log_that_its_table_does_not_fit_is_left_out(tmp_path: Path) -> None:
    for name, log in (("Good", b"a WARN x 1\r\nb INFO y\r\n"), ("Bad", b"a WARN x 1\nb INFO z\n")):
        (tmp_path / f"{name}.log").write_bytes(log)
        (tmp_path / f"{name}.log_structured.csv").write_text(
            "LineId,Level,Content,EventId,EventTemplate\n1,WARN,x 1,E1,x <*>\n2,INFO,y,E2,y\n"
        )
    made = IMPORTERS["loghub"](tmp_path, tmp_path / "set")
    assert {each.corpus for each in made.questions} == {"Good"}
    assert load_report(tmp_path / "set").left_out == {"logs that their table does not fit": 1}
    assert lint_folder(made, tmp_path / "set") == []


# What a user gets wrong


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_path_that_does_not_exist(tmp_path: Path, name: str) -> None:
    with pytest.raises(QuestionSetError, match="no such path") as raised:
        IMPORTERS[name](tmp_path / "nowhere", tmp_path / "set")
    assert raised.value.hint


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_folder_of_something_else(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(QuestionSetError) as raised:
        IMPORTERS[name](tmp_path, tmp_path / "set")
    assert raised.value.hint
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("name", ["qmsum", "hotpotqa", "ramdocs", "key_value"])
def test_malformed_rows_are_told_by_number(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.jsonl").write_text("\n{nothing\n")
    with pytest.raises(QuestionSetError, match="line 2: not JSON"):
        IMPORTERS[name](tmp_path / "a.jsonl", tmp_path / "set")
    with pytest.raises(QuestionSetError, match=r"row 1: .*Field required"):
        IMPORTERS[name](written(tmp_path / "b.jsonl", [{"colour": "red"}]), tmp_path / "set")


def test_a_folder_that_is_taken_is_not_written_over(tmp_path: Path) -> None:
    source = written(tmp_path / "h.jsonl", [hotpot("x")])
    IMPORTERS["hotpotqa"](source, tmp_path / "set")
    with pytest.raises(QuestionSetError, match="has files already"):
        IMPORTERS["hotpotqa"](source, tmp_path / "set")


def test_data_that_is_more_than_rows_is_not_read_from_a_hub(tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError, match="not read from a hub"):
        IMPORTERS["loghub"](Path("hub:logpai/loghub"), tmp_path / "set")


def test_rows_of_a_hub_are_converted_like_those_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub stands for `datasets.load_dataset`, which takes the name, the configuration and the split."""
    import datasets

    asked: list[tuple[Any, ...]] = []

    def load(path: str, name: str | None, *, split: str | None, streaming: bool) -> Any:
        asked.append((path, name, split, streaming))
        return datasets.Dataset.from_list([hotpot_columns("x")])

    monkeypatch.setattr(datasets, "load_dataset", load)
    source = Path("hub:hotpotqa/hotpot_qa:distractor:validation")
    made = IMPORTERS["hotpotqa"](source, tmp_path / "set")
    assert asked == [("hotpotqa/hotpot_qa", "distractor", "validation", True)]
    assert [span.quote for span in gold(made.questions[0])] == ["Ünïcödé 😀 second."]


def hotpot_columns(id_: str) -> dict[str, Any]:
    """A row as the hub has it: columns in place of pairs."""
    row = hotpot(id_)
    titles, sentences = zip(*row["context"], strict=True)
    supporting = list(zip(*row["supporting_facts"], strict=True))
    return {
        "id": id_,
        "question": row["question"],
        "answer": row["answer"],
        "supporting_facts": {"title": list(supporting[0]), "sent_id": list(supporting[1])},
        "context": {"title": list(titles), "sentences": list(sentences)},
    }
