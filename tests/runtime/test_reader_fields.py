"""What the leaf reader makes comparable: events of a timeline, and statements that may contradict each other."""

from collections.abc import Sequence

import pytest

from runtime.models.extractive.reader import Reading, read_leaf
from signatures import EvidenceSpan

LOG = """\
2026-05-04 10:00:01,120 INFO  [main] Boiler - started, pressure 3
2026-05-04 10:00:02,004 INFO  [main] Door - opened by u17
2026-05-04 10:03:40,551 WARN  [poll-3] Boiler - pressure 9 above 8, valve v-1
2026-05-04 10:04:11,902 WARN  [poll-7] Boiler - pressure 11 above 8, valve v-2
2026-05-04 10:05:00,013 ERROR [main] Boiler - valve v-2 does not answer
java.net.SocketTimeoutException: Read timed out
	at boiler.Valve.open(Valve.java:71)
2026-05-04 10:06:02,731 WARN  [poll-1] Boiler - pressure 12 above 8, valve v-9
2026-05-04 10:07:44,000 INFO  [main] Boiler - errors=0, all valves answer
"""


def spans_of(texts: Sequence[str]) -> list[EvidenceSpan]:
    return [
        EvidenceSpan(
            span_id=f"s{n}",
            source=f"file{n}",
            first_line=1,
            margin_before="",
            text=text,
            margin_after="",
        )
        for n, text in enumerate(texts)
    ]


def read(kind: str, question: str, *texts: str, patterns: Sequence[str] = ()) -> Reading:
    return read_leaf(question, kind, list(patterns), spans_of(texts), [])


def fields(reading: Reading, claim: int) -> dict[str, str]:
    key = reading.claims[claim].claim_id
    return {field.name: field.value for field in reading.fields if field.claim_id == key}


def values(statement: str) -> set[tuple[str, str]]:
    reading = read("conflict", "Which decisions contradict each other?", f"Decision: {statement}")
    return {(field.name, field.value) for field in reading.fields}


def test_lines_of_one_template_are_one_event() -> None:
    reading = read("timeline", "How did the night go?", LOG)
    times = [claim.time for claim in reading.claims]
    assert times == ["2026-05-04 10:03:40,551", "2026-05-04 10:05:00,013"]
    assert fields(reading, 0) == {
        "template": "WARN [<*>] Boiler - pressure <*> above <*>, valve <*>",
        "occurrences": "3",
        "last_seen": "2026-05-04 10:06:02,731",
        "severity": "WARN",
        "component": "Boiler",
    }
    lines = LOG.splitlines()
    assert [each.quote for each in reading.evidence if each.claim_id == "c1"] == [
        lines[2],
        lines[7],
    ]
    assert reading.claims[0].text == " ".join(lines[2].split())


def test_a_line_without_trouble_counts_when_the_question_asks_for_it() -> None:
    reading = read("timeline", "When was the door opened, and when did the boiler start?", LOG)
    assert {"10:00:01,120", "10:00:02,004"} <= {claim.time.split()[-1] for claim in reading.claims}


def test_a_count_of_zero_errors_is_no_trouble() -> None:
    reading = read("timeline", "How did the night go?", LOG)
    assert "errors=0" not in " ".join(claim.text for claim in reading.claims)


def test_a_pattern_limits_a_timeline() -> None:
    reading = read("timeline", "What happened to v-2?", LOG, patterns=["v-2"])
    assert [fields(reading, i)["severity"] for i in range(2)] == ["WARN", "ERROR"]
    assert len(reading.claims) == 2


@pytest.mark.parametrize(
    ("line", "time", "severity", "component"),
    [
        (
            "[Sun Dec 04 04:47:44 2005] [error] child died",
            "Sun Dec 04 04:47:44 2005",
            "ERROR",
            "child",
        ),
        (
            "081109 203615 148 WARN dfs.DataNode: write failed",
            "081109 203615",
            "WARN",
            "dfs.DataNode",
        ),
        ("Dec 10 06:55:46 host sshd[24200]: login failed", "Dec 10 06:55:46", "", "sshd"),
        ("2026-05-04T10:00:01.5 ERROR 支付 退款失败 id=7", "2026-05-04T10:00:01.5", "ERROR", ""),
        (
            '{"ts": "2026-05-04T10:00:01Z", "level": "error", "msg": "x"}',
            "2026-05-04T10:00:01Z",
            "ERROR",
            "",
        ),
        (
            "- 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL FATAL parity error",
            "2005-06-03-15.42.50.675872",
            "FATAL",
            "parity",
        ),
    ],
)
def test_forms_of_logs(line: str, time: str, severity: str, component: str) -> None:
    reading = read("timeline", "What went wrong?", f"{line}\n{line}\n")
    assert [claim.time for claim in reading.claims] == [time]
    found = fields(reading, 0)
    assert found.get("severity", "") == severity
    assert found.get("occurrences") == "2"
    assert not component or found["component"] == component


def test_a_long_timeline_says_that_it_is_cut() -> None:
    letters = "abcdefghijklmnop"
    lines = [f"10:00:01 ERROR valve {a}{b} stuck" for a in letters for b in letters]
    reading = read("timeline", "What went wrong?", "\n".join(lines))
    assert len(reading.claims) < len(lines)
    assert str(len(lines) - len(reading.claims)) in reading.unknowns[0]


def test_a_timeline_of_prose_takes_the_dates_of_the_text() -> None:
    text = "The Lindvik ferry was ordered on 3 May 1911. It was painted. On 9 June 1912 the ferry sank."
    reading = read("timeline", "What happened to the Lindvik ferry?", text)
    assert [claim.time for claim in reading.claims] == ["3 May 1911", "9 June 1912"]


def test_contradictory_decisions_share_a_name_and_differ_in_value() -> None:
    reading = read(
        "conflict",
        "Which decisions about camera footage contradict each other?",
        "# Minutes\n\n- **Decision D-1:** Camera footage is kept for two weeks. Owner: Ida Moe.\n",
        "# Minutes\n\n- **Decision D-9:** Camera footage is kept for 30 days. Owner: Ida Moe.\n",
        "# Minutes\n\n- **Decision D-4:** Parking is free for 30 days. Owner: Ida Moe.\n",
    )
    assert [fields(reading, i) for i in range(2)] == [
        {"camera footage kept [days]": "14 days"},
        {"camera footage kept [days]": "30 days"},
    ]
    assert len(reading.claims) == 2
    assert [each.span_id for each in reading.evidence] == ["s0", "s1"]


def test_contradictory_decisions_in_chinese() -> None:
    reading = read(
        "conflict",
        "关于门禁系统的检修时间，有哪些互相矛盾的决议？",
        "- **决议 D-1：** 门禁系统的检修时间定为每周三 9:00 至 11:00。负责人：何晓。\n",
        "- **决议 D-8：** 门禁系统的检修时间定为每周五 9:00 至 11:00。负责人：何晓。\n",
    )
    first, second = fields(reading, 0), fields(reading, 1)
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] != second[name]} == {"门禁系统检修时间 [weekday]"}
    assert first["门禁系统检修时间 [time of day]"] == "09:00-11:00"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The move to Bergen was approved.", "The move to Bergen was rejected."),
        ("The group agreed to sell the old crane.", "The group will not sell the old crane."),
        ("批准出售旧吊车的提议。", "否决出售旧吊车的提议。"),
    ],
)
def test_yes_and_no_are_at_odds(first: str, second: str) -> None:
    one, other = dict(values(first)), dict(values(second))
    shared = one.keys() & other.keys()
    assert any(one[name] != other[name] for name in shared if name.endswith("[decision]"))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("The cellar is aired for 90 minutes.", ("cellar aired [seconds]", "5400 seconds")),
        (
            "The cellar is aired for 1 hour and 30 minutes.",
            ("cellar aired [seconds]", "5400 seconds"),
        ),
        ("The cellar costs $1,200.", ("cellar costs [USD]", "1200 USD")),
        ("The cellar must open on 1 April 2026.", ("cellar open [date]", "2026-04-01")),
        ("The cellar must open on April 1, 2026.", ("cellar open [date]", "2026-04-01")),
        ("The cellar has 40 shelves.", ("cellar shelves [shelv]", "40 shelv")),
        ("The cellar lock is Abloy.", ("cellar lock [name]", "Abloy")),
        ("The cellar share is 12.5%.", ("cellar share [percent]", "12.5 percent")),
        ("地窖钥匙保管三十天。", ("地窖钥匙保管 [days]", "30 days")),
        ("地窖改造预算 120 万元。", ("地窖改造预算 [CNY]", "1200000 CNY")),
        ("地窖钥匙于 2026 年 4 月 1 日更换。", ("地窖钥匙更换 [date]", "2026-04-01")),
        ("The cellar opens every Tuesday.", ("cellar opens [weekday]", "tuesday")),
    ],
)
def test_values_are_normalized(statement: str, expected: tuple[str, str]) -> None:
    assert expected in values(statement)


def test_a_decision_that_replaces_another_is_not_at_odds_with_it() -> None:
    text = "- **Decision D-3:** The paint is Jotun. This replaces the decision of 4 May (D-1). Owner: Ida Moe."
    assert read("conflict", "Which decisions contradict each other?", text).fields == []


def test_owners_and_dates_of_effect_are_not_compared() -> None:
    assert values("In force from 1 February 2026.") == set()
    assert values("自 2026 年 2 月 24 日起生效。") == set()
