from datetime import datetime, timedelta

import dspy
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.extractive.engine import AsyncExtractiveEngine, ExtractiveEngine
from signatures import ClaimDigest, ClaimStatus, ComputedValue, Conclude


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


def entry(number: int, at: datetime, source: str, text: str) -> tuple[ClaimDigest, str]:
    time = at.isoformat()
    made = claim(f"root/s1#1.{number}", f"{time} {text}", source, time)
    return made, f"{time} | {made.claim_id} | {made.text}"


class TestTimelines:
    question = "How did the checkout incident evolve?"

    def timeline(self, events: list[tuple[datetime, str, str]]) -> dspy.Prediction:
        made = [entry(n, *event) for n, event in enumerate(sorted(events))]
        computed = value(
            "timeline", "\n".join(line for _, line in made), *(c.claim_id for c, _ in made)
        )
        return ask(self.question, "timeline", [c for c, _ in reversed(made)], [computed])

    def test_the_chain_stands_out_from_the_noise(self) -> None:
        start = datetime(2026, 3, 10)
        noise = [
            (start + timedelta(minutes=20 * n, seconds=n), "order.log", f"WARN slow query {n} ms")
            for n in range(70)
        ]
        noise += [
            (start + timedelta(minutes=20 * n), "stock.log", f"ERROR card {n} has expired")
            for n in range(70)
        ]
        chain = [
            (start + timedelta(hours=9, minutes=4), "stock.log", "WARN connection held for 60 s"),
            (start + timedelta(hours=9, minutes=26), "stock.log", "ERROR pool exhausted"),
            (start + timedelta(hours=9, minutes=44), "order.log", "ALERT checkout errors"),
            (start + timedelta(hours=12, minutes=49), "worker.log", "WARN backlog growing"),
            (start + timedelta(hours=16, minutes=52), "worker.log", "INFO queue recovered"),
        ]
        burst = [
            (start + timedelta(hours=9, minutes=27, seconds=n), "order.log", f"ERROR timeout {n}")
            for n in range(30)
        ]

        reply = self.timeline(noise + chain + burst)

        assert texts(reply) == [
            "09:04:00 stock: WARN connection held for 60 s",
            "09:26:00 stock: ERROR pool exhausted",
            "09:27:00 order: ERROR timeout 0",
            "09:44:00 order: ALERT checkout errors",
            "12:49:00 worker: WARN backlog growing",
            "16:52:00 worker: INFO queue recovered",
        ]
        assert all(len(s.claim_ids) == 1 for s in reply.statements)

    def test_a_spread_is_told(self) -> None:
        line = "2026-03-10 09:26:30,118 ERROR pool exhausted"
        made = claim("c1", line, "stock.log", "2026-03-10 09:26:30,118")
        computed = value(
            "timeline",
            f"2026-03-10 09:26:30,118 | c1 | [87 times until 2026-03-10 10:06:18,178] {line}",
            "c1",
        )

        english = ask(self.question, "timeline", [made], [computed])
        chinese = ask("事故如何演化？", "timeline", [made], [computed])

        assert texts(english) == [
            "09:26:30,118 stock: ERROR pool exhausted (87 times until 10:06:18,178)"
        ]
        assert "（共 87 次，至 10:06:18,178）" in texts(chinese)[0]

    def test_days_are_shown_when_there_are_several(self) -> None:
        reply = self.timeline(
            [
                (datetime(2026, 3, 10, 9), "a.log", "ERROR one"),
                (datetime(2026, 3, 11, 9), "a.log", "ERROR two"),
            ]
        )

        assert texts(reply) == [
            "2026-03-10T09:00:00 a: ERROR one",
            "2026-03-11T09:00:00 a: ERROR two",
        ]

    def test_without_a_computed_order_the_times_give_it(self) -> None:
        claims = [
            claim("c1", "The alert fires", "a.md", "2026-03-10 09:44"),
            claim("c2", "The pool runs out", "a.md", "2026-03-10 09:26"),
            claim("c3", "Nobody knows when", "a.md"),
        ]

        reply = ask(self.question, "timeline", claims)

        assert [s.claim_ids for s in reply.statements] == [["c3"], ["c2"], ["c1"]] or [
            s.claim_ids for s in reply.statements
        ] == [["c2"], ["c3"], ["c1"]]

    @settings(max_examples=40)
    @given(
        st.lists(
            st.tuples(
                st.datetimes(datetime(2026, 1, 1), datetime(2026, 2, 1)),
                st.sampled_from(["a.log", "b.log"]),
                st.text(max_size=30),
            ),
            max_size=60,
        )
    )
    def test_order_and_bounds(self, events: list[tuple[datetime, str, str]]) -> None:
        reply = self.timeline(events)

        ids = [s.claim_ids[0] for s in reply.statements]
        order = [int(each.rpartition(".")[2]) for each in ids]
        assert order == sorted(set(order))
        assert len(ids) <= 25
        assert len(ids) >= min(5, len({(source, text) for _, source, text in events}), 1)


def test_days_of_a_system_log_are_ordered_by_month_and_day_not_by_the_hour() -> None:
    days = ("Jul  1 00:21:28", "Jun 14 15:16:01", "Jun 15 02:04:59")
    claims = [
        claim(f"c{n}", f"{day} combo sshd: authentication failure", time=day)
        for n, day in enumerate(days)
    ]

    told = texts(ask("What was the course of events?", "timeline", claims))

    assert [text[:6] for text in told] == ["Jun 14", "Jun 15", "Jul  1"]
