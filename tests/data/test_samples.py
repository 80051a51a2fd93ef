"""The sample texts are reproducible, and their gold is exact."""

import re
from pathlib import Path

import pytest

from data.samples import GoldSpan, SampleQuestion, questions, samples_path
from data.samples.generate import main

LOGS = (
    "aftersales-worker.log",
    "inventory-service.log",
    "order-service.log",
    "payment-gateway.log",
)
TIMESTAMP = re.compile(r"2026-03-10[ T]\d\d:\d\d:\d\d[,.]\d{3} ")


def log_text(name: str) -> str:
    return (samples_path("incident") / name).read_bytes().decode("utf-8")


def by_id(identifier: str) -> SampleQuestion:
    return next(question for question in questions() if question.id == identifier)


def spans(question: SampleQuestion) -> list[GoldSpan]:
    return [each for fact in question.facts for alternative in fact for each in alternative]


def time_of(each: GoldSpan) -> str:
    return each.quote[:23].replace("T", " ").replace(".", ",")


def test_check_finds_the_committed_files_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_check_names_the_file_that_differs_or_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    (tmp_path / "incident" / LOGS[0]).write_bytes(b"changed")
    (tmp_path / "questions.jsonl").unlink()
    assert main(["--check", "--out", str(tmp_path)]) == 1
    reported = capsys.readouterr().err
    assert LOGS[0] in reported
    assert "questions.jsonl" in reported
    assert LOGS[1] not in reported


def test_every_gold_quote_is_the_slice_of_its_source() -> None:
    texts: dict[Path, str] = {}
    for question in questions():
        for each in spans(question):
            path = samples_path(question.corpus) / each.source
            text = texts.setdefault(path, path.read_bytes().decode("utf-8"))
            assert text[each.start : each.end] == each.quote, question.id
            assert each.quote.strip() == each.quote != "", question.id


def test_questions_have_unique_ids_and_name_existing_corpora() -> None:
    ids = [question.id for question in questions()]
    assert len(ids) == len(set(ids)) >= 24
    assert {question.corpus for question in questions()} == {"incident", "minutes", "handbook"}


def test_only_answerable_questions_have_an_answer_and_gold() -> None:
    for question in questions():
        assert question.answerable == (question.answer is not None) == bool(question.facts)
    assert sum(not question.answerable for question in questions()) >= 3


def test_questions_of_many_kinds_and_in_both_languages() -> None:
    kinds = {question.kind for question in questions()}
    assert kinds == {
        "lookup",
        "count",
        "existence",
        "list",
        "timeline",
        "conflict",
        "cause",
        "summary",
    }
    chinese = [question for question in questions() if re.search(r"[一-鿿]", question.question)]
    assert len(chinese) >= 5


def test_counts_agree_with_a_plain_count_of_lines() -> None:
    lines = [line for log in LOGS for line in log_text(log).splitlines()]
    counts = [question for question in questions() if question.kind == "count"]
    assert len(counts) >= 4
    for question in counts:
        literals = re.findall(r'"([^"]+)"', question.question)
        assert literals
        hits = [line for line in lines if all(literal in line for literal in literals)]
        assert question.answer == len(hits) == len(question.facts[0]), question.id


def test_four_logs_of_about_twenty_thousand_lines_in_time_order() -> None:
    folder = samples_path("incident")
    assert tuple(sorted(path.name for path in folder.iterdir())) == LOGS
    texts = [log_text(log) for log in LOGS]
    assert 19_000 <= sum(text.count("\n") for text in texts) <= 21_000
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 2_000_000
    for text in texts:
        times = [line[:23] for line in text.splitlines() if TIMESTAMP.match(line)]
        assert times == sorted(times)


def test_one_log_has_windows_line_ends_and_two_have_traces() -> None:
    for log in LOGS:
        text = log_text(log)
        expected = text.count("\n") if log == "payment-gateway.log" else 0
        assert text.count("\r\n") == text.count("\r") == expected
    assert "\njava.net.SocketTimeoutException" in log_text("order-service.log")
    assert "\nTraceback (most recent call last)" in log_text("aftersales-worker.log")
    assert "补偿队列积压" in log_text("aftersales-worker.log")


def test_the_planted_chain_is_in_time_order_and_crosses_all_services() -> None:
    evolution = by_id("incident-evolution")
    begins = [
        min(time_of(each) for alternative in fact for each in alternative)
        for fact in evolution.facts
    ]
    assert begins == sorted(set(begins))
    assert isinstance(evolution.answer, tuple)
    assert [item[:19] for item in evolution.answer] == [begin[:19] for begin in begins]
    assert {each.source for each in spans(evolution)} == set(LOGS)


def test_links_of_the_chain_have_warnings_errors_and_a_few_plain_messages() -> None:
    evolution = by_id("incident-evolution")
    levels = [{each.quote[24:].split()[0] for a in fact for each in a} for fact in evolution.facts]
    assert sum("ERROR" in found for found in levels) >= 4
    assert sum(found == {"INFO"} for found in levels) == 3


def test_the_alert_comes_forty_minutes_after_the_first_warning() -> None:
    evolution = by_id("incident-evolution")
    first, alert = time_of(evolution.facts[0][0][0]), time_of(evolution.facts[5][0][0])
    assert (first[11:16], alert[11:16]) == ("09:04", "09:44")


def test_the_breaker_opens_after_exactly_the_six_failures_that_it_names() -> None:
    before, _, after = log_text("payment-gateway.log").partition(
        "breaker to inventory-service OPEN after 6"
    )
    assert after
    assert before.count("capture aborted") == 6


def test_the_red_herring_is_no_part_of_the_chain() -> None:
    assert not any("recommendation" in each.quote for each in spans(by_id("incident-evolution")))
    assert "deploy of recommendation-service 2.31.0 finished" in log_text("order-service.log")


def test_a_contradiction_needs_both_sides() -> None:
    for identifier in ("minutes-conflict-retention", "minutes-zh-conflict-window"):
        ((alternative,),) = by_id(identifier).facts
        assert len({each.source for each in alternative}) == 2


def test_six_minutes_of_some_length() -> None:
    minutes = sorted(samples_path("minutes").glob("*.md"))
    assert len(minutes) == 6
    for path in minutes:
        assert 60 <= len(path.read_text(encoding="utf-8").splitlines()) <= 120, path.name


def test_an_unknown_sample_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no sample named 'nothing'"):
        samples_path("nothing")
