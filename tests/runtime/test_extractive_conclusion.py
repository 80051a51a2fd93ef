from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.extractive.engine import AsyncExtractiveEngine, ExtractiveEngine
from signatures import ClaimDigest, ClaimStatus, ComputedValue, Conclude

KINDS = ("lookup", "count", "existence", "list", "timeline", "conflict", "cause", "summary")


def claim(
    id: str, text: str, source: str = "a.log", time: str = "", status: ClaimStatus = "direct"
) -> ClaimDigest:
    return ClaimDigest(
        claim_id=id, text=text, status=status, time=time, sources=[source], quotes=[text]
    )


def value(name: str, text: str, *claim_ids: str) -> ComputedValue:
    return ComputedValue(name=name, value=text, claim_ids=list(claim_ids))


def ask(
    question: str,
    kind: str,
    claims: list[ClaimDigest],
    computed: list[ComputedValue] | None = None,
    coverage: str = "12 of 12 partitions",
) -> dspy.Prediction:
    lm = dspy.LM(
        "spantree/extractive",
        engine=ExtractiveEngine(),
        async_engine=AsyncExtractiveEngine(),
        cache=False,
    )
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        return dspy.Predict(Conclude)(
            question=question,
            kind=kind,
            claims=claims,
            computed=computed or [],
            coverage=coverage,
            steps_done=["s1 completed: Scan"],
        )


def texts(reply: dspy.Prediction) -> list[str]:
    return [statement.text for statement in reply.statements]


class TestCounts:
    question = 'How many lines mention "Failed password"?'

    @pytest.mark.parametrize(
        ("computed", "text"),
        [
            ("520", '520 lines match "Failed password".'),
            ("1", '1 line matches "Failed password".'),
            ("0", 'No line matches "Failed password" (count: 0).'),
            ('520 lines match "Failed password".', '520 lines match "Failed password".'),
            ("7 statements found", "7 statements found"),
        ],
    )
    def test_the_computed_value_is_stated_as_it_is(self, computed: str, text: str) -> None:
        reply = ask(
            self.question,
            "count",
            [claim("k", "520 lines"), claim("c2", "Failed password for root")],
            [value("count", computed, "k", "gone")],
        )

        assert texts(reply) == [text]
        assert reply.statements[0].claim_ids == ["k"]
        assert reply.statement_count == 1
        assert reply.unknowns == []

    def test_chinese(self) -> None:
        for computed in ("520", '520 lines match "登录失败".'):
            reply = ask("有多少行提到“登录失败”？", "count", [], [value("count", computed)])
            assert texts(reply) == ['共有 520 行匹配 "登录失败"。']

    def test_counts_by_source_and_by_time(self) -> None:
        by_source = value("count_by_source", "a.log: 12\nb.log: 3")
        by_time = value("count_by_time", "08:00: 12\n09:00: 3")

        assert texts(ask('"x" per file?', "count", [], [by_source])) == [
            'Lines that match "x", by source: a.log: 12; b.log: 3.'
        ]
        assert texts(ask('"x" per hour?', "count", [], [by_time])) == [
            'Lines that match "x", by time: 08:00: 12; 09:00: 3.'
        ]

    def test_two_counts_keep_their_own_words(self) -> None:
        one, two = value("count", '5 lines match "a".'), value("count", '7 lines match "b".')

        reply = ask('How many "a" and how many "b"?', "count", [], [one, two])

        assert texts(reply) == ['5 lines match "a".', '7 lines match "b".']

    def test_without_a_computed_value_nothing_is_counted(self) -> None:
        reply = ask(self.question, "count", [claim("c1", "Failed password for root")])

        assert reply.statements == []
        assert self.question in reply.unknowns[0]


class TestStatements:
    def test_the_best_claims_come_first_and_weak_ones_are_dropped(self) -> None:
        reply = ask(
            "What is the response time budget of the checkout?",
            "lookup",
            [
                claim("c1", "The coffee machine is on the fourth floor of the office.", "a.md"),
                claim("c2", "Nothing was said about the checkout.", "b.md"),
                claim("c3", "The response time budget of the checkout is 300 ms.", "c.md"),
            ],
        )

        assert texts(reply)[0] == "The response time budget of the checkout is 300 ms."
        assert "coffee" not in " ".join(texts(reply))
        assert reply.statements[0].claim_ids == ["c3"]

    def test_neighbors_of_one_source_become_one_statement(self) -> None:
        reply = ask(
            "Who pays for the broker cluster?",
            "lookup",
            [
                claim("c1", "The broker cluster is ordered.", "a.md"),
                claim("c2", "The platform team pays for the broker cluster.", "a.md"),
                claim("c3", "Payment pays for the broker tests.", "b.md"),
            ],
        )

        merged = next(s for s in reply.statements if "c1" in s.claim_ids)
        assert merged.claim_ids == ["c1", "c2"]
        assert merged.text == (
            "The broker cluster is ordered. The platform team pays for the broker cluster."
        )
        assert all("c3" not in s.claim_ids or s.claim_ids == ["c3"] for s in reply.statements)

    def test_a_claim_that_is_not_enough_is_no_answer(self) -> None:
        reply = ask(
            "When is the drill?",
            "lookup",
            [claim("c1", "A drill is planned.", status="insufficient")],
        )

        assert reply.statements == []
        assert any("do not answer" in unknown for unknown in reply.unknowns)

    def test_an_inference_stays_one(self) -> None:
        reply = ask("Why?", "cause", [claim("c1", "It ran out.", status="inferred")])

        assert [s.status for s in reply.statements] == ["inferred"]

    def test_no_claims_no_statements(self) -> None:
        for kind in KINDS:
            reply = ask("Is there a dark mode?", kind, [], coverage="3 of 12 partitions")
            assert (reply.statements, reply.statement_count) == ([], 0)
            assert reply.unknowns
            assert any("3 of 12 partitions" in unknown for unknown in reply.unknowns)

    def test_no_claims_in_chinese(self) -> None:
        reply = ask("有没有深色模式？", "existence", [])

        assert reply.unknowns[0] == "在已读的文本中没有找到答案：有没有深色模式？"

    def test_a_list_has_every_claim_once(self) -> None:
        claims = [claim(f"c{n}", f"Deploy {n % 70} finished") for n in range(140)]

        reply = ask("List all deploys", "list", claims)

        named = [each for s in reply.statements for each in s.claim_ids]
        assert sorted(named) == sorted(c.claim_id for c in claims)
        assert len(reply.statements) == 60

    def test_a_name_in_the_question_limits_a_list(self) -> None:
        claims = [
            claim("c1", "| A-1 | Write the job | Priya Raman |"),
            claim("c2", "| A-2 | Order the broker | Mateo Alvarez |"),
        ]

        named = ask("Which action items does Priya Raman own? List all of them.", "list", claims)
        other = ask("Which action items does Zhou Min own?", "list", claims)

        assert [s.claim_ids for s in named.statements] == [["c1"]]
        assert [s.claim_ids for s in other.statements] == [["c1"], ["c2"]]

    def test_distinct_values_are_stated_unless_they_are_the_claims_themselves(self) -> None:
        claims = [claim("c1", "fztu logged in"), claim("c2", "root logged in")]

        typed = ask("Which users?", "list", claims, [value("distinct", "fztu (2)\nroot (1)", "c1")])
        same = ask(
            "Which users?", "list", claims,
            [value("distinct", "fztu logged in (1)\nroot logged in (1)", "c1", "c2")],
        )  # fmt: skip

        assert texts(typed)[0] == "Distinct values: fztu (2); root (1)."
        assert texts(same) == ["fztu logged in", "root logged in"]

    def test_an_extreme_is_the_whole_answer(self) -> None:
        line = "Dec 10 09:32:20 sshd: Accepted password for fztu"

        reply = ask(
            'When did "Accepted" first appear?', "lookup", [claim("c1", line)],
            [value("earliest", line, "c1")],
        )  # fmt: skip

        assert texts(reply) == [f"Earliest: {line}"]
        assert reply.statements[0].claim_ids == ["c1"]


class TestConflicts:
    claims = [  # noqa: RUF012
        claim("c1", "Audit logs are kept for 90 days.", "jan.md"),
        claim("c2", "Audit logs are kept for 30 days.", "mar.md"),
        claim("c3", "The window is on Tuesday.", "feb.md"),
        claim("c4", "The window is on Thursday.", "apr.md"),
    ]

    @pytest.mark.parametrize(
        "computed",
        [
            [
                value("conflict: audit log retention", "c1 = 90 days\nc2 = 30 days", "c1", "c2"),
                value("conflict: window", "c3 = tuesday\nc4 = thursday", "c3", "c4"),
            ],
            [
                value(
                    "conflicts",
                    "audit log retention: c1=90 days | c2=30 days\nwindow: c3=tuesday | c4=thursday",
                    *("c1", "c2", "c3", "c4"),
                )
            ],
        ],
    )
    def test_both_sides_are_named_side_by_side(self, computed: list[ComputedValue]) -> None:
        reply = ask("Which decisions contradict each other?", "conflict", self.claims, computed)

        assert [s.claim_ids for s in reply.statements] == [["c1", "c2"], ["c3", "c4"]]
        assert {s.status for s in reply.statements} == {"conflicting"}
        for part in ("90 days", "30 days", "jan.md", "mar.md", "audit log retention"):
            assert part in reply.statements[0].text

    def test_only_what_the_question_is_about(self) -> None:
        computed = [
            value("conflict: audit log retention", "c1 = 90 days\nc2 = 30 days", "c1", "c2"),
            value("conflict: window", "c3 = tuesday\nc4 = thursday", "c3", "c4"),
        ]

        reply = ask("What contradicts what about audit logs?", "conflict", self.claims, computed)

        assert [s.claim_ids for s in reply.statements] == [["c1", "c2"]]

    def test_chinese(self) -> None:
        computed = [value("conflict: 保留期", "c1 = 90 天\nc2 = 30 天", "c1", "c2")]

        reply = ask("哪些决定互相矛盾？", "conflict", self.claims, computed)

        assert reply.statements[0].text.startswith("关于 保留期，文本前后不一致：")

    def test_a_question_about_any_contradiction_gets_those_of_every_language(self) -> None:
        claims = [
            *self.claims[:2],
            claim("c5", "窗口定为每周二。", "二月.md"),
            claim("c6", "窗口改为每周四。", "三月.md"),
        ]
        computed = [
            value("conflict: audit log retention", "c1 = 90 days\nc2 = 30 days", "c1", "c2"),
            value("conflict: 窗口", "c5 = 周二\nc6 = 周四", "c5", "c6"),
        ]

        reply = ask("Which decisions contradict an earlier decision?", "conflict", claims, computed)

        assert [s.claim_ids for s in reply.statements] == [["c1", "c2"], ["c5", "c6"]]

    def test_a_conflict_of_unknown_claims_is_none(self) -> None:
        reply = ask("Contradictions?", "conflict", [], [value("conflict: x", "c8 = 1\nc9 = 2")])

        assert reply.statements == []
        assert reply.unknowns[0] == "No contradiction was found in the text that was read."


@settings(max_examples=40)
@given(
    question=st.text(max_size=100),
    kind=st.sampled_from([*KINDS, "?"]),
    told=st.lists(
        st.tuples(st.text(max_size=40), st.sampled_from(["direct", "insufficient"])), max_size=12
    ),
    computed=st.lists(
        st.tuples(
            st.sampled_from(
                ["count", "timeline", "conflicts", "conflict: x", "distinct", "latest"]
            ),
            st.text(max_size=60),
        ),
        max_size=4,
    ),
)
def test_every_statement_rests_on_given_claims(
    question: str, kind: str, told: list[tuple[str, Any]], computed: list[tuple[str, str]]
) -> None:
    claims = [claim(f"c{n}", text, status=status) for n, (text, status) in enumerate(told)]
    values = [value(name, text, "c0", "c1", "none") for name, text in computed]

    reply = ask(question, kind, claims, values)

    known = {each.claim_id for each in claims}
    assert reply.statement_count == len(reply.statements)
    assert bool(reply.statements) != bool(reply.unknowns)
    for statement in reply.statements:
        assert set(statement.claim_ids) <= known
        assert statement.text.strip()


class TestRankings:
    """A reader cannot tell which value occurs most: one line of many is no answer."""

    @pytest.mark.parametrize(
        ("question", "unknown"),
        [
            ('Which IP has the most "Failed password" lines?', "cannot rank values"),
            ("What is the most common error?", "cannot rank values"),
            ("Which user had the most failed logins?", "cannot rank values"),
            ("Which address has the highest number of refusals?", "cannot rank values"),
            ("哪个地址登录失败最多？", "不能按出现次数"),
            ("最常见的错误是什么？", "不能按出现次数"),
        ],
    )
    def test_nothing_is_stated_and_the_reason_is(self, question: str, unknown: str) -> None:
        claims = [claim("c1", "ERROR Failed password for root from 10.0.0.1 登录失败 错误")]
        for kind in ("lookup", "list"):
            reply = ask(question, kind, claims)
            assert (texts(reply), len(reply.unknowns)) == ([], 1)
            assert unknown in reply.unknowns[0]

    def test_counts_by_source_answer_it(self) -> None:
        counts = [value("count_by_source", "a.log: 3\nb.log: 1")]
        reply = ask("Which component has the most failed logins?", "lookup", [], counts)
        assert "a.log: 3" in texts(reply)[0]

    def test_a_text_that_states_the_rank_answers_it(self) -> None:
        said = "The most common error was a full disk."
        reply = ask("What is the most common error?", "lookup", [claim("c1", said)])
        assert texts(reply) == [said]

    @pytest.mark.parametrize(
        "question",
        [
            "What are the most important decisions?",
            "What is the most recent error?",
            "Who made most of the decisions?",
            "哪次退款最多可达多少元？",
        ],
    )
    def test_other_superlatives_are_no_ranking(self, question: str) -> None:
        said = "Refund decisions: an error occurred. 退款 200 元"
        assert texts(ask(question, "lookup", [claim("c1", said)])) == [said]


class TestDifferentValues:
    """How many different things there are is no list of the lines that mention them."""

    @pytest.mark.parametrize(
        ("question", "unknown"),
        [
            ("How many different addresses tried to log in?", "cannot count different values"),
            ("有多少个不同的地址登录失败？", "不能统计"),
        ],
    )
    def test_nothing_is_stated_and_the_reason_is(self, question: str, unknown: str) -> None:
        claims = [claim("c1", "Failed password for root from 10.0.0.1 登录失败 地址")]
        reply = ask(question, "list", claims)
        assert texts(reply) == []
        assert unknown in reply.unknowns[0]

    def test_values_that_code_told_apart_answer_it(self) -> None:
        values = [value("distinct", "10.0.0.1 (3)\n10.0.0.2 (1)")]
        reply = ask("How many different addresses logged in?", "list", [], values)
        assert texts(reply) == ["Distinct values: 10.0.0.1 (3); 10.0.0.2 (1)."]


def test_a_count_of_statements_is_told_in_its_own_words() -> None:
    """It is not dressed up as one of lines."""
    counts = [value("count_of_statements", "7 statements reported by readers", "c1")]
    reply = ask('How many lines mention "Failed"?', "count", [claim("c1", "Failed")], counts)
    assert texts(reply) == ["7 statements reported by readers"]


def test_what_another_clause_asks_for_is_stated_beside_the_count() -> None:
    counts = [value("count", '2 lines match "Failed".', "c1")]
    claims = [claim("c1", "Failed for root"), claim("c2", "Accepted for fztu")]
    both = ask('How many lines mention "Failed" and who was "Accepted"?', "count", claims, counts)
    assert texts(both) == ['2 lines match "Failed".', "Accepted for fztu"]
    one = ask('How many lines mention "Failed"?', "count", claims, counts)
    assert texts(one) == ['2 lines match "Failed".']
