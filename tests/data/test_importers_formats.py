"""What the formats of public data allow and the samples do not hold, shown on rows made up here."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from data.sets.importers import IMPORTERS, load_report
from data.sets.lint import lint_folder
from runtime.errors import QuestionSetError
from tests.data.importers_desk import gold, hotpot, written


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
