"""The answer as a page: exact text for answers made by hand."""

import io
from typing import Any

import pytest
from rich.console import Console

from programs.answer import Answer, Characters, Conflict, Coverage, Receipt, Search, StepLine
from programs.selection import RANKED_ONLY
from programs.tally import NOT_BY_CODE
from runtime.claims import Citation, Claim
from spantree.cli.render import cost_words, render_answer

RECEIPT = Receipt(
    model="extractive",
    leaf_model="extractive",
    calls=12,
    cached_calls=0,
    failed_calls=0,
    input_tokens=12000,
    output_tokens=345,
    cost_usd=0.0,
    wall_seconds=3.21,
    max_depth=0,
    retries=0,
    sandbox_seconds=0.0,
)
WHOLE = Coverage(
    required=("p1", "p2"),
    completed=("p1", "p2"),
    failed=(),
    unread=(),
    unparsed=(),
    searches=(),
    truncations=(),
    partitions=2,
)


def made(**changes: Any) -> Answer:
    """An answer that says nothing, with changes."""
    answer = Answer(
        text="",
        value=None,
        outcome="answered",
        claims=(),
        conflicts=(),
        unknowns=(),
        warnings=(),
        coverage=WHOLE,
        receipt=RECEIPT,
        steps=(),
        degraded=False,
        run_id="r1",
        corpus_version="0" * 16,
        question="?",
        kind="lookup",
        program="recursive",
    )
    claims = changes.get("claims", ())
    changes.setdefault("text", "\n".join(claim.text for claim in claims))
    return answer.model_copy(update=changes)


def cited(source: str, line: int, quote: str, last: int | None = None) -> Citation:
    """A citation of one line, or of several."""
    return Citation(
        source=source,
        start=line * 1000,
        end=line * 1000 + len(quote),
        line_start=line,
        line_end=last or line,
        quote=quote,
        span_id="0" * 12,
        verdict="verbatim",
    )


def said(id: str, text: str, *citations: Citation, **changes: Any) -> Claim:
    """A direct claim, with changes."""
    return Claim(**{"id": id, "text": text, "status": "direct", "citations": citations, **changes})


def printed(answer: Answer, width: int = 80) -> str:
    """What a console of this width gets."""
    stream = io.StringIO()
    render_answer(answer, width).print(Console(file=stream, width=width))
    return stream.getvalue()


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


def test_conflicts_stand_side_by_side() -> None:
    march = cited("minutes-2.md", 14, "Decision: we ship on 15 March.")
    april = cited("minutes-5.md", 9, "Decision: we ship on 1 April.")
    answer = made(
        claims=(
            said("c1", "The release is on 15 March.", march, status="conflicting"),
            said("c2", "The release is on 1 April.", april, status="conflicting"),
        ),
        conflicts=(
            Conflict(topic="release date", claim_ids=("c1", "c2"), values=("15 March", "1 April")),
        ),
    )
    assert """\
  - The release is on 15 March. (conflicting) [1]
  - The release is on 1 April. (conflicting) [2]
""" in printed(answer)
    assert """
Conflicts
  - release date
    15 March                               1 April
    [1] minutes-2.md:14                    [2] minutes-5.md:9
""" in printed(answer)


def test_a_side_whose_value_is_not_in_the_words_of_the_text_still_has_its_place() -> None:
    sides = (cited("2.md", 28, "发布窗口定为每周二"), cited("3.md", 23, "发布窗口定为每周四"))
    answer = made(
        claims=(said("c1", "发布窗口自相矛盾。", *sides, status="conflicting"),),
        conflicts=(Conflict(topic="发布窗口", claim_ids=("c1",), values=("tuesday", "thursday")),),
    )
    assert """
    tuesday                                thursday
    [1] 2.md:28                            [2] 3.md:23
""" in printed(answer)


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


def test_more_than_three_sides_of_a_conflict_stand_below_each_other() -> None:
    sides = [cited(f"{n}.md", n, f"budget: {n} EUR") for n in range(1, 5)]
    answer = made(
        claims=(said("c1", "The budget differs.", *sides, status="conflicting"),),
        conflicts=(
            Conflict(
                topic="budget", claim_ids=("c1",), values=tuple(f"{n} EUR" for n in range(1, 5))
            ),
        ),
    )
    assert """
Conflicts
  - budget
    * 1 EUR  [1] 1.md:1
    * 2 EUR  [2] 2.md:2
    * 3 EUR  [3] 3.md:3
    * 4 EUR  [4] 4.md:4
""" in printed(answer)


def test_what_was_read_shown_and_cited_are_three_numbers() -> None:
    """In one line below the coverage; a run of an earlier version, which has no such numbers, has no such line."""
    reached = Characters(total=1_843_201, read=1_843_201, shown=96_114, cited=1_204)
    answer = made(coverage=WHOLE.model_copy(update={"characters": reached}))
    assert """
Coverage
  - examined 2 of 2 required partitions (the corpus has 2)
  - of 1,843,201 characters code read 1,843,201, a model was shown 96,114, the
    answer cites 1,204
""" in printed(answer)
    assert "characters" not in printed(made())
    single = Characters(total=1, read=1, shown=0, cited=0)
    assert "of 1 character code read 1," in printed(
        made(coverage=WHOLE.model_copy(update={"characters": single}))
    )


def test_a_partial_answer_says_what_is_missing_and_which_steps_are_not_done() -> None:
    """Checklist 73, 94: done and undone are told apart, a fallback is flagged."""
    coverage = Coverage(
        required=("p1", "p2", "p3", "p4"),
        completed=("p1",),
        failed=("p2",),
        unread=("p3", "p4"),
        unparsed=("scan.pdf",),
        searches=(
            Search(method="scan", query='"pool"', total=7, sources=3, exhaustive=True),
            Search(method="rank", query="who", total=20, sources=0, exhaustive=False),
        ),
        truncations=("only 5 of 7 lines that match pool were kept",),
        partitions=160,
    )
    answer = made(
        outcome="partial",
        claims=(
            said("c1", "The pool was full.", cited("a.log", 1, "pool full"), status="inferred"),
            said("c2", "Nobody knew.", status="insufficient"),
        ),
        text="The pool was full.",
        unknowns=("without evidence: Nobody knew.",),
        warnings=("limit reached: calls (12 of 12)",),
        coverage=coverage,
        steps=(
            StepLine(frame_id="root", id="s1", description="Scan", status="completed"),
            StepLine(frame_id="root", id="s2", description="Read", status="timed_out"),
            StepLine(frame_id="root", id="s3", description="Conclude", status="pending"),
        ),
        degraded=True,
        degraded_by=("a plan was rescued from a malformed reply",),
    )
    assert (
        printed(answer)
        == """\
Partial answer: limit reached: calls (12 of 12); 1 partition failed; 2
partitions not examined; 1 source not readable; only 5 of 7 lines that match
pool were kept
  ! degraded: a plan was rescued from a malformed reply
  - The pool was full. (inferred) [1]

Sources
  [1] a.log:1  "pool full"

Not found or not covered
  - without evidence: Nobody knew.
  - examined 1 of 4 required partitions (the corpus has 160), 1 failed, 2 not
  - not readable: scan.pdf
  - only 5 of 7 lines that match pool were kept
  - searched every line of 3 sources for "pool": 7 lines
  - ranked by relevance for who: the best 20 passages (not exhaustive)

Warnings
  - limit reached: calls (12 of 12)

Steps: 1 of 3 done
  ✓ s1  Scan
  ✗ s2  Read (timed out)
  · s3  Conclude (pending)

extractive · 12 calls · 12,345 tokens · no cost · 3.2 s · run r1
"""
    )


def test_absence_is_told_with_the_method_that_showed_it() -> None:
    """Checklist S10."""
    search = Search(method="scan", query='"kernel panic"', total=0, sources=1, exhaustive=True)
    answer = made(
        outcome="not_found",
        text="Not found: every partition that the question needs was examined.",
        coverage=WHOLE.model_copy(update={"searches": (search,)}),
    )
    assert (
        printed(answer)
        == """\
Not found: all that had to be examined was, and it is not there

Coverage
  - examined 2 of 2 required partitions (the corpus has 2)
  - searched every line of 1 source for "kernel panic": 0 lines

extractive · 12 calls · 12,345 tokens · no cost · 3.2 s · run r1
"""
    )


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


def test_what_was_found_and_not_stated_is_not_called_absent() -> None:
    """ "Not found: something was found" would contradict itself."""
    whole = printed(made(outcome="not_found_in_covered"))
    assert whole.startswith("No answer: something was found, but nothing was stated from it\n")
    part = WHOLE.model_copy(update={"completed": ("p1",), "unread": ("p2",)})
    cut = printed(made(outcome="not_found_in_covered", coverage=part))
    assert cut.startswith("Not found in what was examined: 1 partition not examined\n")


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({"warnings": (NOT_BY_CODE,)}, "Partial answer: the number was not counted by code"),
        (
            {"warnings": (f'{RANKED_ONLY}: "what are" asks for several, and there may be more',)},
            "Partial answer: only the passages that rank best were read",
        ),
        (
            {
                "degraded": True,
                "degraded_by": ("the model did not submit an answer: findings follow",),
                "warnings": ("the model used its 3 turns and did not submit",),
            },
            "Partial answer: the model did not submit an answer",
        ),
    ],
)
def test_a_partial_answer_without_a_gap_is_headed_by_its_reason(
    changes: dict[str, Any], title: str
) -> None:
    lines = printed(made(outcome="partial", **changes)).splitlines()
    assert lines[0] == title


def test_each_cause_of_a_degraded_answer_is_told() -> None:
    causes = ("a plan was rescued from a malformed reply", "there is no usable conclusion")
    page = printed(made(degraded=True, degraded_by=causes))
    assert [line for line in page.splitlines() if "!" in line] == [
        f"  ! degraded: {each}" for each in causes
    ]
