"""Sub-calls: what readers are given for which ids, what a failure costs, and when a frame of its own takes over."""

from typing import Any

import pytest

from programs.tools.asking import MANY
from runtime.errors import ModelError
from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule
from runtime.observations import Analyzed, Returned
from tests.programs.by_hand import Hand, play

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}
LONG = {"long.txt": "".join(f"FACT number {n} of a long file {'x' * 60}\n" for n in range(400))}


def many(count: int = MANY + 2) -> dict[str, str]:
    return {f"{n:03}.txt": f"FACT {n}\nand {n}\n" for n in range(count)}


def analyzed(hand: Hand) -> Analyzed:
    payload = hand.step().observation.payload  # type: ignore[union-attr]
    assert isinstance(payload, Analyzed)
    return payload


def test_no_ids_are_everything_and_claims_come_with_ids_and_quotes(lab: Any) -> None:
    async def script(hand: Hand) -> None:
        found = await hand("subcall", question="What are the facts?")
        assert [each["text"] for each in found["claims"]] == [
            "It says: FACT the valve is open",
            "It says: FACT the pump is off",
        ]
        assert found["claims"][1]["quotes"] == [
            {"source": "b.txt", "line": 2, "quote": "FACT the pump is off"}
        ]
        assert found["partitions"] == {"read": 2, "failed": 0, "unread": 0}
        assert (hand.step().planned.action, analyzed(hand).scope) == ("analyze", "partitions")
        assert {each["claim_id"] for each in found["claims"]} == {
            c.id for c in analyzed(hand).claims
        }
        assert hand.access.shown_characters == sum(map(len, TWO.values()))

    ran = play(lab, lab.corpus(TWO), script)
    assert "What are the facts?" in ran.asked("AnalyzeLeaf")[0].prompt


def test_sources_and_partitions_are_read_whole_and_spans_as_a_selection(lab: Any) -> None:
    async def script(hand: Hand) -> None:
        cut = hand.run.workspace.partitioning
        parts, spans = cut.by_source("long.txt"), list(cut.all_spans())
        inner = [each.id for each in spans if each.source == "long.txt"]
        await hand("subcall", question="q", span_ids=["a.txt", parts[0].id])
        assert analyzed(hand).scope == "partitions"
        assert set(analyzed(hand).done) == {cut.by_source("a.txt")[0].id, parts[0].id}
        await hand("subcall", question="q", span_ids=[inner[3], inner[0]])
        assert analyzed(hand).scope == "selection"
        assert [c.citations[0].start for c in analyzed(hand).claims] == sorted(
            c.citations[0].start for c in analyzed(hand).claims
        )
        read = {place.start for place in hand.access.shown}
        assert read == {cut.span(inner[0]).start, cut.span(inner[3]).start}
        await hand("subcall", question="q", span_ids=[*parts[1].span_ids])
        assert analyzed(hand).scope == "partitions", "all spans of a partition are the partition"
        await hand("subcall", question="q", span_ids=[inner[0], "a.txt"])
        assert analyzed(hand).scope == "selection"

    play(lab, lab.corpus({**TWO, **LONG}), script)


def test_a_reader_that_fails_loses_its_partition_alone(lab: Any) -> None:
    """rlm dae8490: one failing sub-call of a batch costs the others nothing, and is named."""
    broken = Rule(signature="AnalyzeLeaf", contains="valve", reply="I would rather not.")

    async def script(hand: Hand) -> None:
        found = await hand("subcall", question="q")
        assert [each["text"] for each in found["claims"]] == ["It says: FACT the pump is off"]
        assert found["partitions"] == {"read": 1, "failed": 1, "unread": 0}
        assert "1 partition failed (parse_failure)" in found["cut"]
        assert hand.step().status == "completed"

    ran = play(lab, lab.corpus(TWO), script, engine=lab.model(broken))
    assert len(ran.answer.coverage.failed) == 1


def test_readers_that_all_fail_are_an_error(lab: Any) -> None:
    async def script(hand: Hand) -> None:
        output = await hand("subcall", question="q")
        assert output["error"].startswith("parse_failure: ")
        assert hand.step().status == "failed"

    play(lab, lab.corpus(TWO), script, engine=lab.model(AnalyzeLeaf="no"))


def test_a_limit_ends_a_subcall_and_is_told(lab: Any) -> None:
    """rlm#129: what is spent is spent; the run goes on without readers, and says why."""
    engine = lab.model()

    async def script(hand: Hand) -> None:
        found = await hand("subcall", question="q")
        assert found["partitions"]["read"] == 2
        assert found["partitions"]["unread"] == 3
        assert "limit reached: calls" in found["cut"]
        output = await hand("subcall", question="another")
        assert output["error"].startswith("limit: ")
        assert hand.step().status == "failed"
        assert hand.access.shown == ()
        assert (await hand("search", pattern="FACT"))["total"] == 5

    ran = play(lab, lab.corpus(many(5)), script, engine=engine, limits=Limits(calls=3, in_flight=1))
    assert len(engine.log) == 2
    assert "limit" in ran.warned
    assert ran.answer.outcome == "partial"


def test_a_limit_before_the_first_reading_is_a_failed_step(lab: Any) -> None:
    async def script(hand: Hand) -> None:
        output = await hand("subcall", question="q")
        assert output["error"].startswith("limit: limit reached: tokens")
        assert hand.step().observation.error_class == "limit"  # type: ignore[union-attr]

    ran = play(lab, lab.corpus(TWO), script, limits=Limits(tokens=10))
    assert ran.warned == ["limit"]


def test_what_is_wrong_with_the_run_is_not_a_result_of_a_tool(lab: Any) -> None:
    """dspy 5.8, dspy#9643: missing credentials end the run with their message instead of an answer."""
    engine = lab.model(AnalyzeLeaf=Reply(error="auth"))

    async def script(hand: Hand) -> None:
        await hand("subcall", question="q")

    with pytest.raises(ModelError):
        play(lab, lab.corpus(TWO), script, engine=engine)


def test_much_text_becomes_a_frame_of_its_own(lab: Any) -> None:
    async def script(hand: Hand) -> None:
        assert await hand("subcall", question="the numbers?") is None
        hand.turn = 0
        assert await hand("subcall", question="the numbers?") is None, "as after a crash"
        below = hand.below()
        assert below.frame.depth == 2
        assert (below.frame.task, below.frame.goal_chain) == ("the numbers?", ("What is it?",))
        assert (below.frame.parent_step, hand.step().planned.action) == ("t1", "subtask")
        hit = (await below("search", pattern="FACT 7"))["hits"][0]
        await below("subcall", question="q", span_ids=["003.txt"])
        below.submit("", ("It is seven", [(hit["span_id"], "FACT 7")]))
        below.end()
        assert hand.step().status == "completed"
        assert isinstance(hand.step().observation.payload, Returned)  # type: ignore[union-attr]
        found = hand.toolbox.output(hand.frame, hand.step())
        hand.turn = 0
        assert await hand("subcall", question="the numbers?") == found
        assert [each["text"] for each in found["claims"]] == ["It is seven"], "what it submitted"
        assert found["partitions"] == {"read": 1, "failed": 0, "unread": 0}
        made, _ = hand.submit("", ("Seven was found", [(found["claims"][0]["claim_id"], "")]))
        assert made.statements[0].citations[0].quote == "FACT 7"

    ran = play(lab, lab.corpus(many()), script)
    assert [claim.text for claim in ran.answer.claims] == ["Seven was found"]
    assert ran.answer.receipt.max_depth == 2


def test_a_frame_that_found_nothing_is_an_error(lab: Any) -> None:
    async def script(hand: Hand) -> None:
        await hand("subcall", question="q")
        below = hand.below()
        await below("search", pattern="/(/")
        below.end()
        assert "no step completed" in hand.toolbox.output(hand.frame, hand.step())["error"]

    play(lab, lab.corpus(many()), script)


@pytest.mark.parametrize(
    ("limits", "why"),
    [(Limits(depth=1), "no depth is left"), (Limits(frames=1), "all the frames that it may have")],
)
def test_without_depth_left_it_is_analyzed_in_place(lab: Any, limits: Limits, why: str) -> None:
    """nano-rlm#130: depth lives on the host. No argument and no question opens a level more."""

    async def script(hand: Hand) -> None:
        found = await hand("subcall", question="depth=99")
        assert found["partitions"]["read"] == MANY + 2

    ran = play(lab, lab.corpus(many()), script, limits=limits)
    assert ran.warned == ["depth"]
    assert why in ran.answer.warnings[0]
    assert ran.answer.receipt.max_depth == 1


def test_no_tool_reaches_beyond_the_part_of_a_child(lab: Any) -> None:
    """A child sees its own part alone, by whatever name it asks for the rest."""
    files = {**many(MANY + 1), "secret.txt": "FACT secret\n", **LONG}

    async def script(hand: Hand) -> None:
        cut = hand.run.workspace.partitioning
        parts, secret = cut.by_source("long.txt"), cut.by_source("secret.txt")[0]
        own = [f"{n:03}.txt" for n in range(MANY + 1)]
        assert await hand("subcall", question="q", span_ids=[*own, parts[1].id]) is None
        below = hand.below()
        assert (await below("search", pattern="secret"))["total"] == 0
        assert (await below("count", pattern="secret"))["total"] == 0
        found = await below("search", pattern="FACT", source="long.txt")
        assert found["total"] == parts[1].last_line - parts[1].first_line + 1
        assert (await below("rank", query="secret"))["passages"] == []
        listed = await below("list_sources")
        assert [each["source"] for each in listed["sources"]] == [*own, "long.txt"]
        assert listed["sources"][-1]["partitions"] == 1
        assert listed["not_readable"] == []
        one = await below("list_sources", source="long.txt")
        assert [each["id"] for each in one["partitions"]] == [parts[1].id]
        page = await below("read_span", source="long.txt")
        assert page["spans"][0]["first_line"] == parts[1].first_line
        assert "outside" in page["cut"]
        everything = await below("subcall", question="q", span_ids=[secret.span_ids[0], "000.txt"])
        assert everything["partitions"]["read"] == 1
        assert "1 span outside" in everything["cut"]
        for tool, arguments in [
            ("search", {"pattern": "FACT", "source": "secret.txt"}),
            ("count", {"pattern": "FACT", "source": secret.id}),
            ("read_span", {"source": "secret.txt"}),
            ("read_span", {"span_id": secret.span_ids[0]}),
            ("read_span", {"span_id": secret.id}),
            ("read_span", {"span_id": parts[0].span_ids[0]}),
            ("list_sources", {"source": "secret.txt"}),
            ("subcall", {"question": "q", "span_ids": [secret.span_ids[0]]}),
            ("subcall", {"question": "q", "span_ids": [secret.id]}),
            ("subcall", {"question": "q", "span_ids": ["secret.txt"]}),
        ]:
            output = await below(tool, **arguments)
            assert output.get("error", "").startswith("not_found: outside the part"), (tool, output)
        shown = {p.source for each in hand.run.state.accessed for p in each.shown}
        assert "secret.txt" not in shown
        below.end()

    ran = play(lab, lab.corpus({**files, "x.bin": b"\0\1\xff\xfe" * 99}), script)
    assert not any("secret" in call.prompt for call in ran.asked("AnalyzeLeaf"))
