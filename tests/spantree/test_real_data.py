"""What `spantree ask` does by default, with the embedded reader on public data: logs, and questions with evidence.

The data is not part of the repository. Where it is absent, these tests are skipped and say so.
"""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import dspy
import pytest

from data.corpus import Corpus
from spantree import Answer, Auto, make_lm, open_corpus

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
LOGS = SHARED / "loghub_2k"
CHUNKING = SHARED / "chunking_evaluation"
needs_logs = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no Loghub samples at {LOGS}")
needs_chunking = pytest.mark.skipif(not CHUNKING.is_dir(), reason=f"no questions at {CHUNKING}")


def ask(question: str, corpus: Corpus) -> Answer:
    with dspy.context(trace=None):
        return Auto(lm=make_lm("extractive"))(question=question, corpus=corpus).answer


@pytest.fixture
def sshd(tmp_path: Path) -> Corpus:
    return open_corpus([LOGS / "OpenSSH_2k.log"], store=tmp_path)


@needs_logs
@pytest.mark.parametrize(
    ("question", "value"),
    [
        ('How many lines mention "Failed password"?', 520),
        ('How many lines mention "failed password"?', 0),
        ("How many lines mention failed password?", 520),
        ('How many lines mention "Failed password for root"?', 370),
        ('How many lines mention both "Failed password" and 183.62.140.253?', 286),
        ("有多少行提到“Failed password”？", 520),
    ],
)
def test_a_count_is_exact_and_cites_its_lines(sshd: Corpus, question: str, value: int) -> None:
    """Quoted text is literal and case-sensitive, unquoted words are not; nothing comes from a selection."""
    answer = ask(question, sshd)
    assert answer.value == value
    assert type(answer.value) is int
    assert answer.outcome == "answered"
    assert answer.coverage.ratio == 1.0
    assert {search.method for search in answer.coverage.searches} == {"scan"}
    cited = {cite.line_start for claim in answer.claims for cite in claim.citations}
    assert len(cited) == value


@needs_logs
def test_a_lookup_cites_the_line_and_names_the_user(sshd: Corpus) -> None:
    answer = ask('Which user logged in successfully ("Accepted password") and when?', sshd)
    assert answer.outcome == "answered"
    assert "fztu" in answer.text
    assert [cite.line_start for claim in answer.claims for cite in claim.citations] == [956]


@needs_logs
@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ('Does "Accepted password" appear, and does "zzz"?', {956}),
        (
            'Which lines mention "Accepted password" and which mention "Invalid user webmaster"?',
            {2, 16, 956},
        ),
        ("是否出现“Accepted password”，是否出现“zzz”？", {956}),
    ],
)
def test_clauses_about_two_strings_need_no_line_with_both(
    sshd: Corpus, question: str, lines: set[int]
) -> None:
    answer = ask(question, sshd)
    assert answer.outcome == "answered"
    assert {cite.line_start for claim in answer.claims for cite in claim.citations} == lines


@needs_logs
def test_a_count_and_a_question_beside_it_are_both_answered(sshd: Corpus) -> None:
    answer = ask(
        'How many lines mention "Failed password", and does "Accepted password" appear?', sshd
    )
    assert answer.outcome == "answered"
    assert '520 lines match "Failed password".' in answer.text
    assert "Accepted password for fztu" in answer.text


@needs_logs
def test_which_value_occurs_most_is_not_told_from_one_line(sshd: Corpus) -> None:
    answer = ask('Which IP has the most "Failed password" lines?', sshd)
    assert answer.outcome != "answered"
    assert not answer.claims
    assert "cannot rank values" in answer.unknowns[0]


@needs_logs
@pytest.mark.parametrize(
    "question",
    [
        'Is there any line that mentions "Accepted publickey"?',
        'Which user logged in successfully ("Accepted publickey") and when?',
        "是否有任何一行提到“Accepted publickey”？",
    ],
)
def test_absence_is_stated_over_everything(sshd: Corpus, question: str) -> None:
    answer = ask(question, sshd)
    assert answer.outcome == "not_found"
    assert answer.coverage.ratio == 1.0
    assert len(answer.coverage.required) == answer.coverage.partitions
    assert not answer.claims


@needs_logs
def test_an_identifier_is_found_in_the_one_file_that_holds_it(tmp_path: Path) -> None:
    corpus = open_corpus(sorted(LOGS.glob("*_2k.log")), store=tmp_path)
    answer = ask("What happened to blk_38865049064139660?", corpus)
    cited = [cite for claim in answer.claims for cite in claim.citations]
    assert {(cite.source, cite.line_start) for cite in cited} == {("HDFS_2k.log", 1)}
    assert answer.outcome == "answered"


@needs_chunking
def test_evidence_is_recalled_with_precision(tmp_path: Path) -> None:
    """All 319 questions: recall at least 0.62 with precision at least 0.46, and every citation exact."""
    corpora = {
        file.stem: open_corpus([file], store=tmp_path)
        for file in sorted((CHUNKING / "corpora").glob("*.md"))
    }
    with (CHUNKING / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    scores: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        corpus = corpora[row["corpus_id"]]
        answer = ask(row["question"], corpus)
        cited = [cite for claim in answer.claims for cite in claim.citations]
        assert all(corpus.slice(c.source, c.start, c.end) == c.quote for c in cited)
        scores.setdefault(row["corpus_id"], []).append(
            recall_and_precision(
                {at for cite in cited for at in range(cite.start, cite.end)}, gold(row)
            )
        )
    recall = fmean(fmean(each[0] for each in of) for of in scores.values())
    precision = fmean(fmean(each[1] for each in of) for of in scores.values())
    assert recall >= 0.62
    assert precision >= 0.46


def gold(row: dict[str, Any]) -> set[int]:
    references: Iterable[dict[str, int]] = json.loads(row["references"])
    return {at for ref in references for at in range(ref["start_index"], ref["end_index"])}


def recall_and_precision(cited: set[int], wanted: set[int]) -> tuple[float, float]:
    """Over characters; an answer that cites nothing has precision 0 here, which is the stricter reading."""
    found = len(cited & wanted)
    return found / len(wanted), found / len(cited) if cited else 0.0
