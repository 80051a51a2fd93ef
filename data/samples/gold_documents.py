"""The gold questions about the minutes and the handbook. Each quote occurs once in its file."""

from data.samples.gold import GoldSpan, Record, Texts, all_of, any_of, lines_with, locate, question

KICKOFF = "2026-01-12-platform-weekly.md"
ARCHITECTURE = "2026-01-26-architecture-review.md"
FEBRUARY = "2026-02-09-payment-release-zh.md"
SECURITY = "2026-03-02-security-review.md"
MARCH = "2026-03-09-payment-release-zh.md"
REVIEW = "2026-03-16-incident-review.md"
HANDBOOK = "operations.md"

RETENTION = (
    (KICKOFF, "Audit logs are kept for 90 days, then deleted."),
    (SECURITY, "Audit logs are kept for 30 days, then deleted."),
)
WINDOW = (
    (FEBRUARY, "支付网关的发布窗口定为每周二 10:00 至 12:00。"),
    (MARCH, "支付网关的发布窗口定为每周四 14:00 至 16:00。"),
)
BUDGET = (
    (KICKOFF, "The checkout answers within 300 ms at the 95th percentile."),
    (ARCHITECTURE, "The budget of 300 ms stands, and nobody asked to"),
    (SECURITY, "The checkout budget of 300 ms at the 95th percentile"),
    (MARCH, "结算接口的目标仍然是第 95 百分位 300 毫秒"),
    (REVIEW, "The budget of the checkout, 300 ms at the 95th percentile"),
)
CHANGES = (
    "Pool usage above 80 percent for five minutes raises an alert in every service.",
    "A release is watched for 60 minutes before another service is released.",
    "Leak detection fails the integration tests of every service that uses a database.",
    "Customers are told about a failed order within 15 minutes, before any refund.",
)
DRILL = (
    (FEBRUARY, "机房切换演练改在 3 月 26 日凌晨 2:00 进行。"),
    (MARCH, "机房同意 3 月 26 日凌晨 2:00 的时间"),
)


def minutes_questions(texts: Texts) -> list[Record]:
    """All questions about the six minutes."""
    return [
        *_conflicts(texts),
        *_decisions(texts),
        *_minutes_lists(texts),
        *_minutes_chinese(texts),
    ]


def handbook_questions(texts: Texts) -> list[Record]:
    """All questions about the operations handbook."""
    return [*_handbook_english(texts), *_handbook_chinese(texts)]


def _quotes(texts: Texts, quotes: tuple[tuple[str, str], ...]) -> list[GoldSpan]:
    return [locate(texts, source, quote) for source, quote in quotes]


def _conflicts(texts: Texts) -> list[Record]:
    return [
        question(
            "minutes-conflict-retention",
            "Which decisions about audit logs contradict each other?",
            "conflict",
            [
                "D-0112-1: Audit logs are kept for 90 days",
                "D-0302-1: Audit logs are kept for 30 days",
            ],
            [all_of(_quotes(texts, RETENTION))],
        ),
        question(
            "minutes-conflict-all",
            "Which decisions in these minutes contradict an earlier decision without saying so?",
            "conflict",
            ["D-0302-1 contradicts D-0112-1", "D-0309-1 contradicts D-0209-2"],
            [all_of(_quotes(texts, RETENTION)), all_of(_quotes(texts, WINDOW))],
        ),
        question(
            "minutes-zh-conflict-window",
            "关于支付网关的发布窗口，有哪些互相矛盾的决议？",
            "conflict",
            ["D-0209-2：每周二 10:00 至 12:00", "D-0309-1：每周四 14:00 至 16:00"],
            [all_of(_quotes(texts, WINDOW))],
        ),
    ]


def _decisions(texts: Texts) -> list[Record]:
    kafka = (
        "The shared message broker is Kafka. This replaces the decision of 12 January (D-0112-2)."
    )
    flags = "No decision. The topic comes back when the tool can show the age of a flag."
    return [
        question(
            "minutes-broker",
            "Which message broker is in force, and which decision does that replace?",
            "lookup",
            "Kafka; it replaces the decision of 12 January (D-0112-2)",
            [any_of([locate(texts, ARCHITECTURE, kafka)])],
        ),
        question(
            "minutes-budget",
            "What is the response time budget of the checkout?",
            "lookup",
            "300 ms at the 95th percentile",
            [any_of(_quotes(texts, BUDGET))],
        ),
        question(
            "minutes-flags",
            "Is there a decision about an expiry date of feature flags?",
            "existence",
            "no, the topic was postponed",
            [any_of([locate(texts, KICKOFF, flags)])],
        ),
        question(
            "minutes-absent-dark-mode",
            "What was decided about the dark mode of the mobile app?",
            "lookup",
            None,
            [],
        ),
    ]


def _minutes_lists(texts: Texts) -> list[Record]:
    items = lines_with(texts, "| A-0", "| Priya Raman |")
    return [
        question(
            "minutes-actions-priya",
            "Which action items does Priya Raman own? List all of them.",
            "list",
            [str(item["quote"]).split("|")[1].strip() for item in items],
            [any_of([item]) for item in items],
        ),
        question(
            "minutes-review-changes",
            "Summarize what the incident review of 16 March decided to change.",
            "summary",
            list(CHANGES),
            [any_of([locate(texts, REVIEW, change)]) for change in CHANGES],
        ),
    ]


def _minutes_chinese(texts: Texts) -> list[Record]:
    refund = "200 元以下的退款自动通过，同一用户每天最多三次。"
    return [
        question(
            "minutes-zh-drill",
            "机房切换演练定在什么时候？",
            "lookup",
            "3 月 26 日凌晨 2:00",
            [any_of(_quotes(texts, DRILL))],
        ),
        question(
            "minutes-zh-refund",
            "多少金额以下的退款可以自动通过？",
            "lookup",
            "200 元",
            [any_of([locate(texts, MARCH, refund)])],
        ),
    ]


def _handbook_english(texts: Texts) -> list[Record]:
    hold = "Stock is held for 3 hours and 15 minutes from the moment at which"
    backup = "Databases are copied every night at 01:30, and the copy is kept for 35 days."
    severities = lines_with(texts, "- **SEV-")
    return [
        question(
            "handbook-hold",
            "How long is stock held for a customer on the payment page?",
            "lookup",
            "3 hours and 15 minutes",
            [any_of([locate(texts, HANDBOOK, hold)])],
        ),
        question(
            "handbook-backup",
            "For how many days is the nightly copy of the databases kept?",
            "lookup",
            35,
            [any_of(_quotes(texts, ((HANDBOOK, backup), (HANDBOOK, "保留 35 天"))))],
        ),
        question(
            "handbook-severities",
            "List all severity levels and how quickly each must be answered.",
            "list",
            [
                "SEV-1: within 5 minutes",
                "SEV-2: within 15 minutes",
                "SEV-3: within one working day",
                "SEV-4: no promise",
            ],
            [any_of([each]) for each in severities],
        ),
    ]


def _handbook_chinese(texts: Texts) -> list[Record]:
    phone = "must\nbe announced to the banks by telephone, at 021-5550-0147"
    return [
        question(
            "handbook-zh-allowance",
            "值班补贴每天多少元？",
            "lookup",
            "150 元",
            [any_of([locate(texts, HANDBOOK, "值班补贴为每天 150 元")])],
        ),
        question(
            "handbook-zh-phone",
            "回滚支付网关之前，要打哪个电话通知银行？",
            "lookup",
            "021-5550-0147",
            [any_of(_quotes(texts, ((HANDBOOK, "电话 021-5550-0147"), (HANDBOOK, phone))))],
        ),
        question(
            "handbook-zh-absent-meal",
            "值班人员的餐费标准是多少？",
            "lookup",
            None,
            [],
        ),
    ]
