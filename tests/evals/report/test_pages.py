"""The report as text: it is whole, escaped, the same each time, and says what the log says."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evals.contenders import clusters_of, contenders
from evals.log import EvalLog
from evals.measures import MEASURES
from evals.report import rendered, report_of
from evals.report.findings import Finding, findings
from evals.report.pages import Report
from evals.report.sample_page import SamplePage
from evals.report.tables import Field, Table
from runtime.errors import RunError
from tests.evals.duel import duel, numbered
from tests.evals.report.hostile import ATTACKS, Evaluated

QUESTIONS, PROGRAMS = 8, 5


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def made(evaluated: Evaluated) -> tuple[Report, list[SamplePage]]:
    return report_of([evaluated.log], evaluated.made, lambda _: evaluated.corpus)


@pytest.fixture(scope="module")
def html(made: tuple[Report, list[SamplePage]]) -> str:
    return rendered(*made)


def page_of(pages: list[SamplePage], program: str, question: str) -> SamplePage:
    """The page of a program's sample on the question that has these words."""
    (found,) = (p for p in pages if p.tags[0][0] == program and question in p.question)
    return found


def test_text_of_corpus_model_and_log_is_escaped(html: str) -> None:
    """A corpus with script tags does nothing."""
    elements = Elements(html)
    tags = [tag for tag, _ in elements.found]
    assert tags.count("script") == 1
    assert tags.count("style") == 1
    assert not {"img", "iframe", "object", "embed", "base", "i", "b", "u"} & set(tags)
    assert all(not name.startswith("on") for _, held in elements.found for name in held)
    assert sum("http-equiv" in held for _, held in elements.found) == 1
    assert ATTACKS[0] in elements.text
    assert "{{ 7 * 191 }}" in elements.text
    assert "1337" not in elements.text.replace("window", "")


def test_nothing_leaves_the_file(html: str) -> None:
    """No address but that of an SVG namespace, which is a name, and an empty icon."""
    elements = Elements(html)
    for tag, held in elements.found:
        for name in ("src", "href", "action", "srcset", "poster", "data", "xlink:href"):
            value = held.get(name)
            assert value is None or value.startswith("#") or (tag, value) == ("link", "data:,")
    policy = next(held["content"] for _, held in elements.found if "http-equiv" in held)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "style" not in {name for _, held in elements.found for name in held}


def test_characters_that_no_page_can_hold_are_made_visible(html: str) -> None:
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", html)
    assert "\u241b[31m \ufffd reversed \ufffd 水泵 😀 &amp;amp; \ufffd" in html


def test_the_same_log_gives_the_same_bytes(evaluated: Evaluated, html: str) -> None:
    assert evaluated.html() == html


def test_every_sample_has_a_page_and_a_line(made: tuple[Report, list[SamplePage]]) -> None:
    report, pages = made
    assert len(pages) == len(report.samples) == QUESTIONS * PROGRAMS
    assert [page.id for page in pages] == [line.id for line in report.samples]
    assert all(len(page.others) == PROGRAMS - 1 for page in pages)
    assert len({line.id for line in report.samples}) == len(pages)


def test_a_claim_is_shown_with_its_quote_in_its_surroundings(
    made: tuple[Report, list[SamplePage]],
) -> None:
    page = page_of(made[1], "telling", "Pump monday-3")
    quotes = [quote for claim in page.claims for quote in claim.quotes]
    assert quotes
    right = [quote for quote in quotes if ("gold", "good") in quote.tags]
    assert right
    marked = {piece.mark: piece.text for piece in right[0].pieces}
    assert "Pump monday-3 delivered 103 liters" in marked["both"]
    assert right[0].place == "monday & <i>.log:8"
    assert [quote.tags[0][0] for quote in quotes] == [
        "gold",
        "wrong: not gold",
        "the text says something else",
    ]
    assert any(not piece.mark and piece.text.strip(" …") for piece in right[0].pieces)
    (fact,) = page.facts
    assert fact.found == "found"


def test_wrong_citations_and_missed_gold_are_marked(
    made: tuple[Report, list[SamplePage]],
) -> None:
    tags = {
        tag for page in made[1] for claim in page.claims for q in claim.quotes for tag in q.tags
    }
    assert ("wrong: not gold", "bad") in tags
    facts = {(fact.found, fact.tone) for page in made[1] for fact in page.facts}
    assert ("missed", "bad") in facts
    assert ("found", "good") in facts


def test_surroundings_are_cut(made: tuple[Report, list[SamplePage]]) -> None:
    for page in made[1]:
        quotes = [quote for claim in page.claims for quote in claim.quotes]
        for quote in [*quotes, *(quote for fact in page.facts for quote in fact.quotes)]:
            assert sum(len(piece.text) for piece in quote.pieces) < 500


def test_stack_receipt_and_coverage_are_those_of_the_run(
    evaluated: Evaluated, made: tuple[Report, list[SamplePage]]
) -> None:
    record = evaluated.log.by_key["recursive", "count", 1]
    page = page_of(made[1], "recursive", "How many lines")
    assert record.answer is not None
    assert [step.text for step in page.steps] == [s["description"] for s in record.answer["steps"]]
    assert dict(page.receipt)["model"] == "extractive"
    assert dict(page.receipt)["run"] == record.answer["run_id"]
    assert dict(page.coverage)["partitions"].endswith("that were needed")
    assert dict(page.scores)["verified correct"] == "1.00 (1 of 1)"


def test_an_error_is_shown_as_one_and_is_in_no_mean(
    made: tuple[Report, list[SamplePage]],
) -> None:
    report, pages = made
    page = page_of(pages, "crashing", "Pump monday-3")
    assert page.error is not None
    assert page.error.name == "ValueError"
    assert page.answer is None
    assert any("crashing: 8 samples ended in an error" in each for each in report.cautions)
    row = next(each for each in report.headline.rows if each.name == "crashing")
    verified = report.headline.columns.index("verified correct") - 1
    assert row.cells[0].small == "8 errors"
    assert row.cells[verified].text == "–"


def test_the_table_says_what_the_scores_say(
    evaluated: Evaluated, made: tuple[Report, list[SamplePage]]
) -> None:
    report, _ = made
    column = report.headline.columns.index("verified correct") - 1
    for row in report.headline.rows:
        values = [
            value
            for record in evaluated.log.of(row.name)
            if (value := MEASURES["verified_correct"].value(record)) is not None
        ]
        told = f"{sum(values) / len(values):.2f}" if values else "–"
        assert row.cells[column].text == told


def test_a_baseline_that_is_as_good_or_better_is_named(tmp_path: Path) -> None:
    """Baselines are honest."""
    told = {
        "recursive": numbered(*[0] * 30, *[1] * 70),
        "direct": numbered(*[1] * 100),
        "retrieve": numbered(*[0] * 29, *[1] * 70, 0),
        "auto": numbered(*[0] * 10, *[1] * 90),
    }
    found, paired = found_in(duel(tmp_path / "log", told))
    texts = [each.text for each in found]
    assert (
        "On all questions, direct is better than recursive, with 100% of the tokens of recursive."
        in texts
    )
    assert any(
        text.startswith("On all questions, retrieve is as good as recursive") for text in texts
    )
    assert any(text.startswith("The regret of auto is 0.10 [") for text in texts)
    assert [row.name for row in paired.rows] == ["direct", "retrieve"]


def test_where_no_other_program_is_as_good_that_is_said(tmp_path: Path) -> None:
    told = {"recursive": numbered(*[1] * 100), "direct": numbered(*[0] * 60, *[1] * 40)}
    found, _ = found_in(duel(tmp_path / "log", told))
    assert found[0].text.startswith("No other program is shown to be as good as recursive")
    alone, _ = found_in(duel(tmp_path / "alone", {"direct": numbered(1, 0)}))
    assert "nothing to hold them against" in alone[0].text


def found_in(log: EvalLog) -> tuple[list[Finding], Table]:
    """The findings on told results."""
    entered = tuple(contenders([log]))
    kinds = {"lookup": log.manifest.questions}
    return findings(Field(entered, clusters_of(entered), kinds, seed=0))


def test_a_log_of_another_set_is_refused(evaluated: Evaluated) -> None:
    other = evaluated.made.model_copy(update={"questions": evaluated.made.questions[:2]})
    with pytest.raises(RunError, match="was scored with version"):
        report_of([evaluated.log], other, lambda _: evaluated.corpus)


def test_the_method_names_the_share_that_the_scores_were_made_with(evaluated: Evaluated) -> None:
    log = evaluated.log
    records = []
    for each in log.records:
        strict = each.score.model_copy(update={"tau": 0.9}) if each.score else None
        records.append(each.model_copy(update={"score": strict}))
    for made, told in (
        (log, "at least 50%"),
        (replace(log, records=tuple(records)), "at least 90%"),
    ):
        report, _ = report_of([made], evaluated.made, lambda _: evaluated.corpus)
        assert told in report.method[0]


def test_an_unfinished_log_says_so(evaluated: Evaluated) -> None:
    log = evaluated.log
    part = EvalLog(log.folder, log.manifest, log.records[:7])
    report, pages = report_of([part], evaluated.made, lambda _: evaluated.corpus)
    assert "log is not finished: it has 7 of 40 samples." in report.cautions
    assert len(pages) == 7
