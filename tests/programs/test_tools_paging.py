"""Paging of tool outputs: bounded, and the pages join to the whole without gap or repetition."""

import itertools
from collections.abc import Callable
from typing import Any

import dspy
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from programs.tools.output import LEAST
from programs.tools.toolbox import Toolbox
from runtime.limits import Limits
from signatures import AnalyzeLeaf
from tests.programs.by_hand import Hand, play, size

LIMITS = st.integers(1, 6_000)
LINES = st.lists(
    st.text(st.sampled_from(list('ab"\\\t[# \u2028é中\U0001f600')), max_size=40).map(
        lambda text: f"x{text}"
    ),
    min_size=1,
    max_size=60,
)
WIDE = "x" + 'wide \U0001f600 "\\ ' * 900
ONE_CORPUS = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


async def pages(hand: Hand, limit: int, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """All pages of a call; each is bounded, and says that there is more if there is."""
    found: list[dict[str, Any]] = []
    cursor: int | None = 0
    while cursor is not None:
        page = await hand(tool, **arguments, cursor=cursor)
        assert size(page) <= max(limit, LEAST), page
        assert (f"cursor={page['next_cursor']}" in page["cut"]) == (page["next_cursor"] is not None)
        assert page["next_cursor"] is None or page["next_cursor"] > cursor, "it moves on"
        cursor = page["next_cursor"]
        found.append(page)
        assert len(found) < 2_000
    return found


def paged(lab: Any, limit: int, files: dict[str, Any], script: Callable[[Hand], Any]) -> Any:
    return play(lab, lab.corpus(files), script, limits=Limits(tool_output_chars=limit))


@ONE_CORPUS
@given(lines=LINES, limit=LIMITS, wide=st.booleans())
@example(lines=["x"], limit=1, wide=True)
def test_pages_of_a_text_join_to_the_text(
    lab: Any, lines: list[str], limit: int, wide: bool
) -> None:
    """Also where one line is longer than a page, and where JSON needs two characters for one."""
    text = "\n".join([*lines, WIDE, *lines] if wide else lines)

    async def script(hand: Hand) -> None:
        found = await pages(hand, limit, "read_span", source="t.txt")
        spans = [span for page in found for span in page["spans"]]
        assert "".join(span["text"] for span in spans).replace("\u2060", "") == text
        cut = hand.run.workspace.partitioning
        for span in spans:
            held = cut.span(span["span_id"])
            held_text = hand.run.workspace.corpus.slice(held.source, held.start, held.end)
            assert span["text"].replace("\u2060", "") in held_text

    ran = paged(lab, limit, {"t.txt": text}, script)
    places = [place for event in ran.state.accessed for place in event.shown]
    assert places[0].start == 0
    assert places[-1].end == len(text)
    assert all(a.end == b.start for a, b in itertools.pairwise(places))


@ONE_CORPUS
@given(lines=LINES, limit=LIMITS, wide=st.booleans())
def test_pages_of_a_search_are_all_its_hits(
    lab: Any, lines: list[str], limit: int, wide: bool
) -> None:
    text = "\n".join([*lines, WIDE, *lines] if wide else lines)
    files = {"t.txt": text, "u.txt": "nothing\n", "v.txt": "\n".join(lines)}

    async def script(hand: Hand) -> None:
        found = await pages(hand, limit, "search", pattern="x")
        hits = [(hit["source"], hit["line"]) for page in found for hit in page["hits"]]
        whole = hand.run.workspace.corpus.scan(['"x"'], page=10_000)
        assert hits == [(hit.source, hit.line) for hit in whole.hits]
        assert {page["total"] for page in found} == {whole.total}
        assert (await hand("search", pattern="x", cursor=whole.total + 5))["hits"] == []

    paged(lab, limit, files, script)


def test_hits_beyond_those_that_are_kept_are_searched_for_again(lab: Any) -> None:
    """A search keeps 1,000 hits; its pages go on to the last one."""
    files = {"t.txt": "".join(f"x {n}\n" for n in range(1_500))}

    async def script(hand: Hand) -> None:
        found = await pages(hand, 20_000, "search", pattern="x")
        texts = [hit["text"] for page in found for hit in page["hits"]]
        assert texts == [f"x {n}" for n in range(1_500)]

    paged(lab, 20_000, files, script)


def test_a_match_deep_in_a_long_line_is_shown_with_the_span_to_cite(lab: Any) -> None:
    """Minified files and dumps have lines of megabytes: the first thousand characters would not show the match."""
    line = "é" * 9_000 + " needle " + "y" * 9_000

    async def script(hand: Hand) -> None:
        hit = (await hand("search", pattern="needle"))["hits"][0]
        assert "needle" in hit["text"]
        assert len(hit["text"]) < 2_000
        made, _ = hand.submit("", ("There is a needle", [(hit["span_id"], "needle")]))
        cited = made.statements[0].citations[0]
        assert (cited.quote, cited.start) == ("needle", 9_001)
        assert (await hand("search", pattern="/^é.*needle/"))["total"] == 1
        absent = await hand("search", pattern='not "absent"')
        assert absent["hits"][0]["text"].startswith("é")
        assert "in part" in absent["cut"]

    paged(lab, 20_000, {"t.txt": line}, script)


@pytest.mark.parametrize("limit", [1, 1_500, 20_000])
def test_pages_of_sources_and_partitions_are_all_of_them(lab: Any, limit: int) -> None:
    files: dict[str, Any] = {f"dir {n:03}/notes.txt": f"x {n}\n" for n in range(60)}
    files |= {f"z{n}.bin": b"\0\1\xff\xfe" * 99 for n in range(9)}
    files["long.txt"] = "".join(f"paragraph {n} of the text\n\n" for n in range(4_000))

    async def script(hand: Hand) -> None:
        found = await pages(hand, limit, "list_sources")
        read = [each["source"] for page in found for each in page["sources"]]
        assert read == sorted(name for name in files if name.endswith(".txt"))
        assert len([each for page in found for each in page["not_readable"]]) == 9
        parts = await pages(hand, limit, "list_sources", source="long.txt")
        ids = [each["id"] for page in parts for each in page["partitions"]]
        cut = hand.run.workspace.partitioning
        assert ids == [each.id for each in cut.by_source("long.txt")]

    paged(lab, limit, files, script)


@pytest.mark.parametrize("limit", [1, 2_500, 20_000])
def test_pages_of_a_subcall_are_all_its_claims_and_ask_nobody_again(lab: Any, limit: int) -> None:
    """Nothing that readers found is lost because it does not fit."""
    files = {f"{n:02}.txt": "".join(f"FACT {n} {m}\n" for m in range(9)) for n in range(12)}
    engine = lab.model()

    async def script(hand: Hand) -> None:
        found = await pages(hand, limit, "subcall", question="facts?", span_ids=[])
        texts = [claim["text"] for page in found for claim in page["claims"]]
        assert texts == [f"It says: FACT {n} {m}" for n in range(12) for m in range(9)]
        assert {tuple(page["partitions"].values()) for page in found} == {(12, 0, 0)}
        if len(found) > 1:
            await hand("subcall", question="facts?", span_ids=[])
            hand.toolbox = Toolbox(hand.run, dspy.Predict(AnalyzeLeaf))
            assert hand.toolbox.output(hand.frame, hand.step("t2")) == found[1], "of the first call"

    play(lab, lab.corpus(files), script, engine=engine, limits=Limits(tool_output_chars=limit))
    assert len(engine.log) in (12, 24)


def test_what_has_no_pages_says_what_was_cut(lab: Any) -> None:
    """dspy#9643 and kin: an output that was cut must not pass for a whole one."""
    files = {f"source-number-{n:03}.txt": f"needle {'hay ' * 200}\n" for n in range(90)}

    async def script(hand: Hand) -> None:
        ranked = await hand("rank", query="needle", k=50)
        assert 0 < len(ranked["passages"]) < 50
        assert "do not fit" in ranked["cut"]
        counted = await hand("count", pattern="needle", by="source")
        assert (counted["total"], 0 < len(counted["by"]) < 90) == (90, True)
        assert "of 90" in counted["cut"]
        found = await hand("search", pattern="needle")
        assert "of 90" in found["cut"]
        long = await hand("search", pattern="n" * 3_000)
        assert size(long["pattern"]) < 310
        for output in hand.outputs:
            assert size(output) <= 2_000

    paged(lab, 2_000, files, script)
