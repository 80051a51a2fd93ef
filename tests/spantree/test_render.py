"""The answer as a page: exact text for answers made by hand."""

import pytest

from programs.answer import Conflict
from spantree.cli.render import cost_words
from tests.spantree.render_desk import cited, made, printed, said


def test_statements_have_numbered_citations_and_the_page_ends_with_a_receipt() -> None:
    login = cited("sshd.log", 956, "Accepted password for fztu from 119.137.62.142")
    answer = made(
        claims=(
            said("c1", "fztu logged in.", login, time="Dec 10 09:32:20"),
            said("c2", "It was the only login.", login, cited("sshd.log", 2, "end")),
        )
    )
    assert (
        printed(answer)
        == """\
Answer
  - Dec 10 09:32:20  fztu logged in. [1]
  - It was the only login. [1][2]

Sources
  [1] sshd.log:956  "Accepted password for fztu from 119.137.62.142"
  [2] sshd.log:2  "end"

Coverage
  - examined 2 of 2 required partitions (the corpus has 2)

extractive · 12 calls · 12,345 tokens · no cost · 3.2 s · run r1
"""
    )


def test_many_citations_of_a_statement_are_collapsed() -> None:
    lines = [cited("sshd.log", line, f"Failed password {line}") for line in range(1, 521)]
    page = printed(
        made(claims=(said("c1", "520 lines match.", *lines), said("c2", "So.", lines[8])))
    )
    assert "  - 520 lines match. [1][2][3][4][5][6][7][8] +512\n  - So. [9]\n" in page
    assert (
        """\
  [8] sshd.log:8  "Failed password 8"
      … and 512 more, see --json
  [9] sshd.log:9  "Failed password 9"
"""
        in page
    )


def test_text_of_a_file_cannot_reach_the_terminal_or_the_markup() -> None:
    quote = "[red]x[/red] \x1b]0;title\x07 \x1b[2J\u202e [link=http://a]y[/link] :smile:"
    answer = made(claims=(said("c1", "[bold]a\x1b[1mb[/bold]", cited("[b]\x1b.log", 1, quote)),))
    page = printed(answer)
    assert "\x1b" not in page
    assert "  - [bold]a␛[1mb[/bold] [1]\n" in page
    assert '  [1] [b]␛.log:1  "[red]x[/red] ␛]0;title␇ ␛[2J� [link=http://a]y[/link]\n' in page
    assert '      :smile:"\n' in page


def test_chinese_is_wrapped_by_its_width_and_long_paths_get_a_line_of_their_own() -> None:
    quote = "决定：推迟发布到四月一日，由李雷负责跟进，并在下次会议上汇报。" * 4
    answer = made(
        claims=(
            said(
                "c1",
                "会议决定推迟发布。",
                cited("会议纪要/第三次会议/二〇二六年三月二日上午的会议.md", 12, quote, last=14),
            ),
        )
    )
    assert (
        printed(answer, 60)
        == """\
Answer
  - 会议决定推迟发布。 [1]

Sources
  [1] 会议纪要/第三次会议/二〇二六年三月二日上午的会议.md:12-14
      "决定：推迟发布到四月一日，由李雷负责跟进，并在下次会
      议上汇报。决定：推迟发布到四月一日，由李雷负责跟进，…

Coverage
  - examined 2 of 2 required partitions (the corpus has 2)

extractive · 12 calls · 12,345 tokens · no cost · 3.2 s
run r1
"""
    )


@pytest.mark.parametrize(
    ("time", "text", "line"),
    [
        ("2026-03-10 09:04:12", "pool full", "2026-03-10 09:04:12  pool full"),
        ("2026-03-10 09:04:12", "09:04:12 pool full", "2026-03-10 09:04:12 pool full"),
        ("2026-03-10T09:04:12", "09:04:12 pool full", "2026-03-10 09:04:12 pool full"),
        ("09:04", "09:04 pool full", "09:04 pool full"),
        ("", "pool full", "pool full"),
    ],
)
def test_a_time_is_not_said_twice(time: str, text: str, line: str) -> None:
    page = printed(made(claims=(said("c1", text, cited("a.log", 1, "pool full"), time=time),)))
    assert page.splitlines()[1] == f"  - {line} [1]"


def test_a_program_that_was_chosen_is_named_with_the_reason() -> None:
    answer = made(program="retrieve", route="one fact is asked for, by no exact string")
    assert printed(answer).endswith(
        """\

answered by retrieve: one fact is asked for, by no exact string

extractive · 12 calls · 12,345 tokens · no cost · 3.2 s · run r1
"""
    )


@pytest.mark.parametrize("width", [30, 40, 80, 110])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    from rich.cells import cell_len

    answer = made(
        claims=(said("c1", "词" * 200 + "x" * 200, cited("很长" * 5, 1, "引" * 300)),),
        conflicts=(Conflict(topic="t" * 200, claim_ids=("c1",), values=("v" * 99, "值" * 99)),),
        unknowns=("u" * 300,),
    )
    assert all(cell_len(line) <= width for line in printed(answer, width).splitlines())


def test_an_unknown_cost_is_not_no_cost() -> None:
    assert cost_words(None) == "cost unknown"
    assert cost_words(0.0) == "no cost"
    assert cost_words(0.01234) == "$0.0123"
    assert cost_words(1234.5) == "$1,234.50"
