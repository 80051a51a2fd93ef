"""Support: a real quote that has nothing to do with a claim does not make it direct."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.conclusion import cited
from programs.verify import settled_status
from runtime.claims import Citation, Claim
from runtime.support import related, touching
from signatures import LeafClaim, Statement

STRENGTH = {"insufficient": 0, "inferred": 1, "conflicting": 2, "direct": 3}
POOL = "2026-03-02 10:14:55 ERROR order-service: connection pool exhausted (50 of 50 in use)"
AUDIT = "- **Decision D-0112-1:** Audit logs are kept for 90 days, then deleted."
LUNCH = "The team agreed to move the lunch break to half past twelve on Fridays."
POOL_ZH = "订单服务的连接池在10点14分耗尽，五十个连接全部占用。"
LUNCH_ZH = "大家同意把周五的午餐时间改到十二点半。"


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        pytest.param("The connection pool of the order service was exhausted.", [POOL], id="words"),
        pytest.param("All connections in the pools were in use: exhaustion.", [POOL], id="stems"),
        pytest.param("The order service ran out of something.", [POOL], id="part of a name"),
        pytest.param("Audit trails have a lifetime of 90 days.", [AUDIT], id="a number and words"),
        pytest.param("It is retained during 90.0 d", ["kept = 90"], id="a number by its value"),
        pytest.param("The total was 1,200 euros in spring.", ["sum 1200"], id="digits in groups"),
        pytest.param("The pool was exhausted.", [LUNCH, POOL], id="one of two quotes"),
        pytest.param("订单服务的连接池满了。", [POOL_ZH], id="Chinese"),
        pytest.param("10点14分连接全被占满", [POOL_ZH], id="Chinese, in other words"),
        pytest.param("接続プールが枯渇した", ["注文サービスの接続プールが枯渇"], id="Japanese"),
    ],
)
def test_a_claim_in_words_of_its_quotes_is_direct(text: str, quotes: list[str]) -> None:
    assert related(text, quotes)
    assert status(text, quotes) == "direct"


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        pytest.param(
            "The connection pool of the order service was exhausted.", [LUNCH], id="English"
        ),
        pytest.param("Audit logs are deleted after 30 days.", [POOL], id="a log line"),
        pytest.param(
            "The budget was cut to 1,200 euros in spring.", [AUDIT, LUNCH], id="two quotes"
        ),
        pytest.param(
            "The retention of audit logs contradicts what the security review decided about backups.",
            ["kept for 90 days"],
            id="less than a fifth",
        ),
        pytest.param("订单服务的连接池已经耗尽", [LUNCH_ZH], id="Chinese"),
        pytest.param("审计日志保存九十天后删除", [POOL_ZH], id="Chinese, another subject"),
    ],
)
def test_a_claim_about_something_else_than_its_quotes_is_an_inference(
    text: str, quotes: list[str]
) -> None:
    """The quotes are real, and say something else."""
    assert not related(text, quotes)
    assert status(text, quotes) == "inferred"


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        pytest.param("Yes.", [LUNCH], id="no content word"),
        pytest.param("It was exhausted.", [LUNCH], id="one content word"),
        pytest.param("", [LUNCH], id="nothing"),
        pytest.param("订单服务的连接池已经耗尽", [POOL], id="Chinese over English"),
        pytest.param(
            "The connection pool was exhausted at night.", [POOL_ZH], id="English over Chinese"
        ),
        pytest.param("Пул соединений сервиса заказов исчерпан", [POOL], id="Russian over English"),
        pytest.param("Der Verbindungspool des Bestelldienstes war erschöpft", [POOL], id="German"),
        pytest.param("耗尽了", [LUNCH_ZH], id="few Chinese characters"),
        pytest.param("42 17 99 is it", ["---"], id="no letters on one side"),
    ],
)
def test_what_cannot_be_judged_is_left_as_it_is(text: str, quotes: list[str]) -> None:
    """Another script or language may say the same, and few words may all be other ones."""
    assert related(text, quotes)
    assert touching(text, quotes) == len(quotes)
    assert status(text, quotes) == "direct"


def test_a_conflict_needs_two_sides_that_it_is_about() -> None:
    """A small model showed two real but unrelated quotes as a conflict."""
    text = "Audit logs are kept for 90 days in one place and for 30 days in another."
    other = "- **Decision D-0302-1:** Audit logs are kept for 30 days."
    assert status(text, [AUDIT, other], "conflicting") == "conflicting"
    assert status(text, [AUDIT, LUNCH], "conflicting") == "inferred"
    assert status(text, [POOL_ZH, LUNCH], "conflicting") == "inferred"
    assert status("They differ.", [AUDIT, LUNCH], "conflicting") == "conflicting", (
        "too short to tell"
    )


def test_a_name_of_a_source_or_a_time_may_be_said() -> None:
    found = citation("exhausted", 0).model_copy(update={"source": "order-service/pool.log"})
    said = LeafClaim(
        claim_id="c1",
        text="The order service pool was empty at 10:14.",
        status="direct",
        time="10:14",
    )
    assert settled_status(said, [found]) == "direct"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The connection pool was exhausted at 10:14:55.", "direct"),
        ("Everybody moves lunch to Fridays after half past twelve.", "inferred"),
        ("耗尽的是订单服务的连接池", "direct"),
    ],
)
def test_a_statement_is_judged_by_its_premises_too(text: str, expected: str) -> None:
    premise = made("The pool of the order service had no connection left.", [POOL])
    statement = Statement(text=text, status="direct", claim_ids=["c1"])
    assert cited(statement, {"c1": premise}, [], "s1").status == expected


def test_a_count_is_worded_as_the_writer_likes() -> None:
    """What code computed is exact: its lines need not share a word with the sentence about it."""
    premise = made("3 lines match x.", [POOL]).model_copy(update={"computed": True})
    statement = Statement(text="It happened 3 times during the whole night shift.", status="direct",
                          claim_ids=["c1"])  # fmt: skip
    assert cited(statement, {"c1": premise}, [], "s1").status == "direct"


def test_a_one_sided_conflict_is_no_stronger_than_its_premise() -> None:
    premise = made("The pool was full.", [POOL]).model_copy(update={"status": "inferred"})
    statement = Statement(text="The pool was full.", status="conflicting", claim_ids=["c1"])
    assert cited(statement, {"c1": premise}, [], "s1").status == "inferred"


def test_a_reader_with_real_but_unrelated_quotes(lab: Any, say: Any) -> None:
    """The answer is shown, and marked: it is nothing that the text says."""

    def reader(request: Any) -> Any:
        (span,) = request.value("spans", [])
        return say.leaf(("The database password expired over the weekend.", span["span_id"], LUNCH))

    ran = lab.ask(lab.model(AnalyzeLeaf=reader), lab.corpus({"a.md": LUNCH + "\n"}))
    (claim,) = ran.answer.claims
    assert claim.status == "inferred"
    assert claim.citations[0].quote == LUNCH
    assert ran.answer.outcome == "answered"


sentences = st.sampled_from([POOL, AUDIT, LUNCH, POOL_ZH, LUNCH_ZH, "", "Yes.", "90 days", "a b c"])
texts = st.one_of(sentences, st.text(max_size=60))


@given(text=texts, quotes=st.lists(texts, min_size=1, max_size=4), data=st.data())
def test_the_order_of_quotes_does_not_matter(text: str, quotes: list[str], data: Any) -> None:
    """Hypothesis: and a quote that contains the statement is always enough."""
    shuffled = data.draw(st.permutations(quotes))
    assert related(text, shuffled) == related(text, quotes)
    assert touching(text, shuffled) == touching(text, quotes)
    assert related(text, [*quotes, f"so {text} it is"])
    assert 0 <= touching(text, quotes) <= len(quotes)


@given(
    text=texts,
    quotes=st.lists(texts.filter(str.strip), max_size=4),
    said=st.sampled_from(["direct", "inferred", "conflicting", "insufficient"]),
)
def test_a_status_never_gets_stronger(text: str, quotes: list[str], said: str) -> None:
    """Hypothesis: a conflict with a single side, which is a plain statement, is the one exception by name."""
    settled = status(text, quotes, said)
    one_sided = said == "conflicting" and len(quotes) == 1
    assert STRENGTH[settled] <= STRENGTH["direct" if one_sided else said]
    if not quotes:
        assert settled == "insufficient"


@given(
    text=texts.filter(str.strip),
    quotes=st.lists(texts.filter(str.strip), min_size=1, max_size=3),
    said=st.sampled_from(["direct", "inferred", "insufficient"]),
    held=st.sampled_from(["direct", "inferred", "insufficient"]),
)
def test_a_statement_is_never_stronger_than_what_it_rests_on(
    text: str, quotes: list[str], said: str, held: str
) -> None:
    """Hypothesis: by what the writer says, and by the premise."""
    premise = made("Something.", quotes).model_copy(update={"status": held})
    statement = Statement(text=text, status=said, claim_ids=["c1"])  # type: ignore[arg-type]
    settled = cited(statement, {"c1": premise}, [], "s1").status
    assert STRENGTH[settled] <= min(STRENGTH[said], STRENGTH[held])


def citation(quote: str, at: int) -> Citation:
    return Citation(
        source="a.txt",
        start=at,
        end=at + len(quote),
        line_start=1,
        line_end=1,
        quote=quote,
        span_id="0" * 12,
        verdict="verbatim",
    )


def made(text: str, quotes: list[str]) -> Claim:
    citations = tuple(citation(each, 1000 * at) for at, each in enumerate(quotes))
    return Claim(id="c1", text=text, status="direct", citations=citations)


def status(text: str, quotes: list[str], said: str = "direct") -> str:
    claim = LeafClaim(claim_id="c1", text=text, status=said, time="")  # type: ignore[arg-type]
    return settled_status(claim, made(text, quotes).citations)
