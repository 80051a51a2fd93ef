"""What an answer covered and what it lacks, on its page: numbers, gaps, absence, and what degraded it."""

from typing import Any

import pytest

from programs.answer import Characters, Coverage, Search, StepLine
from programs.selection import RANKED_ONLY
from programs.tally import NOT_BY_CODE
from tests.spantree.render_desk import WHOLE, cited, made, printed, said


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
