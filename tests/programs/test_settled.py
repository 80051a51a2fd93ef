"""What settles a partition: a search, the reading of its matches, a computation that takes them, and nothing beside."""

from typing import Any

import pytest

ASKED = 'Is there any line that mentions "needle"?'
HAY = "just hay and more of it, line after line\n"
SOURCES = ("a.txt", "b.txt", "c.txt")


def long_file(word: str) -> str:
    """About ten spans, one partition, `word` in one line."""
    lines = [HAY] * 240
    lines[50] = f"FACT {word} is here\n"
    return "".join(lines)


def completed(ran: Any) -> set[str]:
    """The sources whose partition counts as completed: each file here is one partition."""
    cut = ran.corpus.partitions()
    return {cut.partition(each).source for each in ran.answer.coverage.completed}


NEEDLES = {name: long_file("needle" if name in ("a.txt", "b.txt") else "straw") for name in SOURCES}


@pytest.mark.parametrize("searched", [["a.txt"], ["a.txt", "b.txt"]])
@pytest.mark.parametrize("beside", ["another search", "a ranking", "a reading of both"])
def test_a_search_settles_what_it_went_through_whatever_was_read_with_it(
    lab: Any, say: Any, beside: str, searched: list[str]
) -> None:
    """A reading that takes in matches of the question's string and other things judged only the former completely."""
    other = say.step("s1", "scan", patterns=['"straw"'])
    ranking = say.step("s1", "rank", query="hay")
    steps = [
        ranking if beside == "a ranking" else other,
        say.step("s2", "scan", patterns=['"needle"'], targets=searched),
    ]
    if beside == "a reading of both":
        steps.append(say.step("s3", "read", targets=["s1", "s2"]))
        steps.append(say.step("s4", "analyze", targets=["s3"]))
    else:
        steps.append(say.step("s4", "analyze", targets=["s1", "s2"]))
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(NEEDLES), ASKED)
    partition = ran.corpus.partitions().partition
    assert {partition(each).source for each in ran.step("s4").observation.payload.done} > set(
        searched
    )
    assert completed(ran) == set(searched)


def test_what_is_read_whole_beside_the_matches_is_complete(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "scan", patterns=['"needle"'], targets=["a.txt", "b.txt"]),
        say.step("s2", "analyze", targets=["s1", "c.txt"], depends_on=["s1"]),
    ]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(NEEDLES), ASKED)
    assert completed(ran) == set(NEEDLES)


def test_a_source_that_was_fetched_whole_is_complete(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "read", targets=["c.txt"]),
        say.step("s2", "analyze", targets=["s1"]),
    ]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(NEEDLES), ASKED)
    assert completed(ran) == {"c.txt"}


def test_a_later_search_did_not_tell_an_earlier_reading_what_to_read(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "rank", query="hay"),
        say.step("s2", "analyze", targets=["s1", "s3"], depends_on=["s1"]),
        say.step("s3", "scan", patterns=['"needle"']),
    ]
    ran = lab.ask(lab.model(kind="existence", steps=steps), lab.corpus(NEEDLES), ASKED)
    assert ran.statuses()["s3"] == "completed"
    assert completed(ran) == {"c.txt"}, "the search excluded it; what it found was not read"


@pytest.mark.parametrize(
    ("operation", "takes_lines"),
    [
        ("count", True),
        ("earliest", True),
        ("latest", True),
        ("timeline", True),
        ("distinct", True),
        ("sort", True),
        ("conflicts", False),
        ("minimum", False),
        ("maximum", False),
    ],
)
def test_a_computation_settles_a_search_only_if_it_takes_its_lines(
    lab: Any, say: Any, operation: str, takes_lines: bool
) -> None:
    """Comparisons of claims leave the matching lines of a search alone: nobody has judged them."""
    steps = [
        say.step("s1", "scan", patterns=['"needle"']),
        say.step("s2", "compute", operation=operation, targets=["s1"]),
    ]
    ran = lab.ask(
        lab.model(kind="list", steps=steps), lab.corpus(NEEDLES), 'List all "needle" lines.'
    )
    assert completed(ran) == (set(NEEDLES) if takes_lines else {"c.txt"})
    assert ran.answer.outcome != "not_found"


def test_a_computation_over_claims_leaves_the_lines_of_a_search_out(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "scan", patterns=['"needle"']),
        say.step("s2", "analyze", targets=["c.txt"]),
        say.step("s3", "compute", operation="distinct", targets=["s1", "s2"]),
    ]
    ran = lab.ask(
        lab.model(kind="list", steps=steps), lab.corpus(NEEDLES), 'List all "needle" lines.'
    )
    assert completed(ran) == {"c.txt"}


def test_a_computation_knows_nothing_of_later_searches(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "scan", patterns=['"needle"'], targets=["a.txt"]),
        say.step("s2", "compute", operation="distinct"),
        say.step("s3", "scan", patterns=['"needle"'], targets=["b.txt", "c.txt"]),
    ]
    ran = lab.ask(
        lab.model(kind="list", steps=steps), lab.corpus(NEEDLES), 'List all "needle" lines.'
    )
    assert completed(ran) == {"a.txt", "c.txt"}
