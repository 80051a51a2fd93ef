"""The gold questions about the incident's logs. Their spans come from the generator's own marks."""

from collections.abc import Sequence

from data.samples import chain
from data.samples.gold import Record, Texts, any_of, lines_with, marked, question
from data.samples.logbook import ORDER, Placed

# The links of the chain in the order in which they begin: what happened, the marks of its lines.
LINKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("inventory-service holds database connections too long", ("first-warning", "early-warning")),
    ("the connection pool of inventory-service is exhausted", ("pool-exhausted",)),
    ("order-service runs into timeouts of inventory-service", ("order-retry", "order-timeout")),
    ("payment-gateway aborts captures after charging", ("capture-aborted",)),
    ("the circuit breaker of payment-gateway opens", ("breaker-open",)),
    ("the alert CheckoutErrorRateHigh fires, incident INC-2291", ("alert",)),
    ("inventory-service is rolled back to 4.17.3", ("rollback", "rolled-back")),
    ("the breaker closes, the alert is resolved", ("recovered",)),
    ("the compensation backlog grows", ("backlog-growing",)),
    ("the compensation backlog passes its limit of 45 minutes", ("backlog-limit",)),
    ("the compensation queue is drained", ("drained",)),
)


def incident_questions(texts: Texts, placed: Sequence[Placed], charged: int) -> list[Record]:
    """All questions about the four logs. `charged` orders had to be compensated."""
    return [
        _evolution(placed),
        *_counts(texts),
        *_lookups(texts, placed),
        *_chinese(texts, placed, charged),
        *_absent(),
    ]


def moment(placed: Sequence[Placed], *marks: str) -> str:
    """Date and time, to the second, of the first planted line with one of the marks."""
    first = min((each for each in placed if each.mark in marks), key=lambda each: each.at)
    return first.quote[:19].replace("T", " ")


def _evolution(placed: Sequence[Placed]) -> Record:
    return question(
        "incident-evolution",
        "How did the checkout incident of 10 March evolve, step by step, from the first sign to the"
        " last after-effect?",
        "timeline",
        [f"{moment(placed, *marks)} {what}" for what, marks in LINKS],
        [any_of(marked(placed, *marks)) for _, marks in LINKS],
    )


def _counts(texts: Texts) -> list[Record]:
    order = {ORDER: texts[ORDER]}
    exhausted = lines_with(texts, "connection pool exhausted")
    timeouts = lines_with(order, "SocketTimeoutException")
    both = lines_with(texts, "capture aborted", "timed out")
    return [
        question(
            "incident-count-exhausted",
            'How many lines mention "connection pool exhausted"?',
            "count",
            len(exhausted),
            [any_of(exhausted)],
        ),
        question(
            "incident-count-timeouts",
            'How many lines of order-service.log mention "SocketTimeoutException"?',
            "count",
            len(timeouts),
            [any_of(timeouts)],
        ),
        question(
            "incident-count-both",
            'How many lines mention both "capture aborted" and "timed out"?',
            "count",
            len(both),
            [any_of(both)],
        ),
    ]


def _lookups(texts: Texts, placed: Sequence[Placed]) -> list[Record]:
    releases = lines_with(texts, "DeployFeed - deploy of")
    last_failure = lines_with(texts, "reserve failed")[-1]
    return [
        question(
            "incident-first-warning",
            "When did inventory-service first warn about a possible connection leak?",
            "lookup",
            moment(placed, "first-warning"),
            [any_of(marked(placed, "first-warning"))],
        ),
        question(
            "incident-last-timeout",
            'When was the last line of order-service.log that mentions "reserve failed" written?',
            "lookup",
            str(last_failure["quote"])[:19],
            [any_of([last_failure])],
        ),
        question(
            "incident-rollback-version",
            "To which version was inventory-service rolled back?",
            "lookup",
            "4.17.3",
            [any_of(lines_with(texts, "4.17.3", "rollback"))],
        ),
        question(
            "incident-root-cause",
            "Why did the connection pool of inventory-service run out?"
            " What was the root cause of INC-2291?",
            "cause",
            "4.18.0 returns early from ReservationRepository.lockStock when stock is 0 and never"
            " closes the connection",
            [any_of(marked(placed, "root-cause"))],
        ),
        question(
            "incident-red-herring",
            "Did the deploy of recommendation-service 2.31.0 cause the incident INC-2291?",
            "cause",
            "no, it was ruled out: no call path to inventory-service",
            [any_of(marked(placed, "ruled-out"))],
        ),
        question(
            "incident-releases",
            "Which releases does the DeployFeed report as finished on 10 March?",
            "list",
            [release for _, release, _ in chain.RELEASES],
            [any_of([each]) for each in releases],
        ),
    ]


def _chinese(texts: Texts, placed: Sequence[Placed], charged: int) -> list[Record]:
    slow = lines_with(texts, "短信通道响应慢")
    deepest = f"depth={chain.peak(charged)}"
    return [
        question(
            "incident-zh-drained",
            "补偿队列是什么时候清空的？",
            "lookup",
            moment(placed, "drained"),
            [any_of(marked(placed, "drained"))],
        ),
        question(
            "incident-zh-peak",
            "补偿队列积压最多达到多少条？",
            "lookup",
            chain.peak(charged),
            [any_of(lines_with(texts, "补偿队列积压", deepest))],
        ),
        question(
            "incident-zh-count-sms",
            '日志里有多少行包含 "短信通道响应慢"？',
            "count",
            len(slow),
            [any_of(slow)],
        ),
    ]


def _absent() -> list[Record]:
    return [
        question(
            "incident-absent-memory",
            'Is there any line that mentions "OutOfMemoryError"?',
            "existence",
            None,
            [],
        ),
        question(
            "incident-absent-revenue",
            "How much revenue was lost because of the incident?",
            "lookup",
            None,
            [],
        ),
    ]
