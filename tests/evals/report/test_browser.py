"""The report in a real browser: it opens, filters, leads everywhere, and neither asks for nor complains of anything.

Skipped where no browser is installed.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evals.report import rendered, report_of
from evals.report.pages import SampleLine
from evals.report.sample_page import SamplePage
from evals.report.verdict import outcome_of, verdict_of
from tests.evals.report.chromium import Tab
from tests.evals.report.hostile import Evaluated

SHOWN = "[...document.querySelectorAll('#list tbody tr')].filter((row) => !row.hidden).length"
OPEN = "[...document.querySelectorAll('.page')].filter((page) => page.checkVisibility())"
OVERVIEW = "document.querySelector('main').checkVisibility()"
SAMPLES = 40


@pytest.fixture
def tab(new_tab: Callable[[], Tab], page: Path) -> Iterator[Tab]:
    """The report, opened; it must not have asked for anything else or complained of anything."""
    opened = new_tab()
    opened.look(width=1280, height=900)
    opened.open(page.as_uri())
    yield opened
    assert opened.requests == [page.as_uri()]
    assert opened.complaints == []


def choose(tab: Tab, name: str, value: str) -> None:
    """Choose a value of a filter, as a hand does."""
    tab.evaluate(
        f"(() => {{ const field = document.querySelector('#filters [name={name}]');"
        f" field.value = {value!r};"
        " field.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )


def test_it_opens_at_its_first_page(tab: Tab) -> None:
    assert tab.evaluate("document.title") == "<u>hostile</u>: 5 programs on 8 questions"
    assert tab.evaluate("document.querySelector('h1').checkVisibility()")
    assert tab.evaluate(f"{OPEN}.length") == 0
    assert tab.evaluate("document.querySelectorAll('svg.chart').length") == 5
    assert tab.evaluate(
        "[...document.querySelectorAll('svg.chart')].every((each) => each.clientHeight > 100)"
    )


def test_every_link_leads_to_what_it_names(tab: Tab) -> None:
    links = tab.evaluate(
        "[...new Set([...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href')))]"
    )
    assert len(links) > SAMPLES
    for link in links:
        tab.follow(link)
        name = link[1:].split("&")[0]
        assert tab.evaluate(f"document.getElementById('{name}').checkVisibility()"), link
        assert tab.evaluate(OVERVIEW) != tab.evaluate(f"{OPEN}.length === 1"), link
    tab.follow("#samples")
    assert tab.evaluate(OVERVIEW)


def test_a_corpus_with_script_tags_does_nothing(tab: Tab) -> None:
    """Every page is opened; the text is there to be read, and nothing of it was obeyed."""
    for number in range(1, SAMPLES + 1):
        tab.follow(f"#s{number}")
    assert tab.evaluate("window.owned === undefined")
    assert tab.evaluate("document.scripts.length") == 1
    assert tab.evaluate("document.querySelectorAll('iframe, img, blockquote a').length") == 0
    assert "<script>window.owned = 1" in tab.evaluate("document.body.textContent")


@pytest.mark.parametrize("name", ["program", "kind", "outcome", "verdict"])
def test_the_list_is_filtered_by_each_field(tab: Tab, evaluated: Evaluated, name: str) -> None:
    kinds = {question.id: question.kind for question in evaluated.made.questions}
    tell = {
        "program": lambda record: record.program,
        "kind": lambda record: kinds[record.question_id],
        "outcome": outcome_of,
        "verdict": verdict_of,
    }[name]
    values = [tell(record) for record in evaluated.log.records]
    options = tab.evaluate(
        f"[...document.querySelector('[name={name}]').options].map((o) => o.value)"
    )
    assert set(options) == {"", *values}
    assert len(set(values)) > 1
    for value in set(values):
        choose(tab, name, value)
        assert tab.evaluate(SHOWN) == values.count(value)
        assert tab.evaluate("count.textContent") == f"{values.count(value)} of {SAMPLES} samples"
    tab.evaluate("document.querySelector('#filters button').click()")
    tab.wait_for(f"{SHOWN} === {SAMPLES}")


def test_filters_add_up_and_words_are_found(tab: Tab) -> None:
    choose(tab, "program", "telling")
    choose(tab, "verdict", "right, verified")
    both = tab.evaluate(SHOWN)
    choose(tab, "words", "PUMP monday-3")
    assert tab.evaluate(SHOWN) <= both
    choose(tab, "verdict", "")
    assert tab.evaluate(SHOWN) == 1
    choose(tab, "words", "no such words")
    assert tab.evaluate(SHOWN) == 0


def test_a_cell_of_the_table_leads_to_its_samples(tab: Tab) -> None:
    tab.evaluate("document.querySelector('#kinds tbody tr:nth-child(3) td a').click()")
    tab.wait_for(f"{SHOWN} === 4")
    assert tab.evaluate("document.querySelector('[name=program]').value") == "auto"
    assert tab.evaluate("document.querySelector('[name=kind]').value") == "lookup"


def test_next_and_previous_keep_to_the_filter(tab: Tab) -> None:
    choose(tab, "program", "telling")
    listed = tab.evaluate(
        "[...document.querySelectorAll('#list tr')].filter((r) => r.dataset.page && !r.hidden)"
        ".map((r) => r.dataset.page)"
    )
    tab.follow(f"#{listed[0]}")
    assert tab.evaluate(f"{OPEN}[0].querySelector('.previous').hidden")
    for page in listed[1:]:
        tab.evaluate(f"{OPEN}[0].querySelector('.next').click()")
        tab.wait_for(f"{OPEN}[0].id === '{page}'")
    assert tab.evaluate(f"{OPEN}[0].querySelector('.next').hidden")


def test_it_is_used_with_the_keyboard_alone(tab: Tab) -> None:
    """Tab reaches the list, Enter opens a page and puts the focus there."""
    tab.call("Page.bringToFront")
    tab.evaluate("document.querySelector('#filters button').focus()")
    tab.press("Tab")
    assert tab.evaluate("document.activeElement.closest('#list') !== null")
    assert tab.evaluate("document.activeElement.matches(':focus-visible')")
    tab.press("Enter")
    tab.wait_for(f"{OPEN}.length === 1")
    assert tab.evaluate(f"document.activeElement.closest('.page') === {OPEN}[0]")
    tab.evaluate("history.back()")
    tab.wait_for(OVERVIEW)


def test_light_and_dark_follow_the_reader(tab: Tab) -> None:
    def brightness(of: str) -> int:
        found = tab.evaluate(f"getComputedStyle(document.querySelector('{of}')).color")
        back = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(numbers(found)) - sum(numbers(back))

    def numbers(color: str) -> list[int]:
        return [int(each) for each in color.split("(")[1].rstrip(")").split(",")[:3]]

    assert brightness("body") < -400
    chart = "getComputedStyle(document.querySelector('svg.chart text')).fill"
    light = tab.evaluate(chart)
    tab.look(width=1280, height=900, dark=True)
    assert brightness("body") > 400
    assert tab.evaluate(chart) != light


def test_it_is_readable_on_a_phone(tab: Tab) -> None:
    """Nothing is wider than the screen but tables, which scroll within themselves."""
    tab.look(width=360, height=740, phone=True)
    for link in ("#top", *(f"#s{number}" for number in range(1, SAMPLES + 1))):
        tab.follow(link)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360, link
    small = "[...document.querySelectorAll('p, td, dd, blockquote')].filter((each) =>"
    small += " parseFloat(getComputedStyle(each).fontSize) < 12).length"
    assert tab.evaluate(small) == 0


def test_without_scripts_everything_is_there_to_be_read(
    new_tab: Callable[[], Tab], page: Path
) -> None:
    opened = new_tab()
    opened.call("Emulation.setScriptExecutionDisabled", value=True)
    opened.open(page.as_uri())
    assert opened.evaluate(f"{OPEN}.length") == SAMPLES
    assert not opened.evaluate("document.getElementById('filters').checkVisibility()")


def test_the_policy_stops_what_would_get_in_or_out(new_tab: Callable[[], Tab], page: Path) -> None:
    """Were something not escaped: no script, no style and no request but those of the file."""
    opened = new_tab()
    opened.open(page.as_uri())
    opened.evaluate(
        "new Promise((done) => {"
        " const script = document.createElement('script'); script.textContent = 'window.owned = 6';"
        " const image = new Image(); image.onerror = () => done(); image.src = 'http://127.0.0.1:9/';"
        " const style = document.createElement('style');"
        " style.textContent = 'body { display: none }';"
        " document.body.append(script, style, image); })"
    )
    blocked = opened.evaluate("fetch('http://127.0.0.1:9/').then(() => false, () => true)")
    assert blocked
    assert opened.evaluate("window.owned === undefined")
    assert opened.evaluate("getComputedStyle(document.body).display") == "block"
    assert len(opened.complaints) >= 4
    assert all("Content Security Policy" in each for each in opened.complaints)


def test_three_thousand_samples_open(
    new_tab: Callable[[], Tab], evaluated: Evaluated, tmp_path: Path
) -> None:
    report, pages = report_of([evaluated.log], evaluated.made, lambda _: evaluated.corpus)
    rounds = range(3000 // len(pages))
    lines: list[SampleLine] = [
        replace(line, id=f"{line.id}x{n}") for n in rounds for line in report.samples
    ]
    many: list[SamplePage] = [replace(each, id=f"{each.id}x{n}") for n in rounds for each in pages]
    path = tmp_path / "many.html"
    path.write_text(rendered(replace(report, samples=tuple(lines)), many), encoding="utf-8")
    opened = new_tab()
    opened.open(path.as_uri())
    assert opened.evaluate(SHOWN) == 3000
    choose(opened, "verdict", "error")
    assert opened.evaluate(SHOWN) == 600
    opened.follow("#s7x70")
    assert opened.evaluate(f"{OPEN}.map((page) => page.id)") == ["s7x70"]
    assert opened.complaints == []
