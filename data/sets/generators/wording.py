"""Wording of questions about logs: how people call what the lines say, in English and Chinese."""

from data.sets.generators.chance import Chance

NOUNS = {
    "login failed": ("failed logins", "登录失败"),
    "payment declined": ("declined payments", "付款被拒"),
    "upstream timeout": ("upstream timeouts", "上游超时"),
    "slow query": ("slow queries", "慢查询"),
    "stock below minimum": ("warnings of stock below minimum", "库存低于下限"),
    "coupon rejected": ("rejected coupons", "优惠券被拒"),
    "certificate renewed": ("certificate renewals", "证书更新"),
    "disk nearly full": ("alarms of a disk nearly full", "磁盘将满"),
    "failover started": ("failovers", "故障切换"),
    "feature flag changed": ("feature flag changes", "功能开关变更"),
}
"""An event in the plural, and in Chinese."""

_ASKS = {
    "count": (
        'How many lines mention "{event}"?',
        "How many {noun} were there in all services together?",
        'Count the {noun} ("{event}") of the whole day.',
        "所有日志里一共发生了多少次{zh}（\"{event}\"）？",
    ),
    "level": (
        "How many {level} lines did the service {service} write?",
        "How many {level} lines are in {source}?",
        "{source} 里有多少行 {level} 日志？",
    ),
    "hour": (
        'How many lines mention "{event}" between {hour}:00 and {next}:00?',
        "How many {noun} were there from {hour}:00 to {next}:00, over all services?",
        "{hour}:00 到 {next}:00 之间有多少次{zh}（\"{event}\"）？",
    ),
    "first": (
        'When did "{event}" appear for the first time?',
        "At what time was the first of the {noun}?",
        "第一次{zh}（\"{event}\"）是什么时候？",
    ),
    "last": (
        'When was the last line with "{event}" written?',
        "At what time was the last of the {noun}?",
        "最后一次{zh}（\"{event}\"）是什么时候？",
    ),
    "distinct": (
        'Which users appear in lines with "{event}" between {hour}:00 and {next}:00? List all of them.',
        "List every user who had {noun} from {hour}:00 to {next}:00.",
        "{hour}:00 到 {next}:00 之间，哪些用户出现过{zh}（\"{event}\"）？请全部列出。",
    ),
    "distinct_count": (
        'How many different users appear in lines with "{event}" between {hour}:00 and {next}:00?',
        "From {hour}:00 to {next}:00, how many different users had {noun}?",
        "{hour}:00 到 {next}:00 之间，有多少个不同的用户出现过{zh}（\"{event}\"）？",
    ),
    "top": (
        'Which {n} users appear most often in lines with "{event}"?',
        "Name the {n} users with the most {noun}.",
        "{zh}（\"{event}\"）次数最多的 {n} 个用户是谁？",
    ),
    "service": (
        'Which log has the most lines that mention "{event}"?',
        "Which service had the most {noun}?",
        "哪个服务的{zh}（\"{event}\"）最多？",
    ),
    "busiest": (
        'In which hour of the day were there the most lines with "{event}"?',
        "Which hour saw the most {noun}?",
        "哪个小时的{zh}（\"{event}\"）最多？",
    ),
    "difference": (
        'Which users appear in lines with "{event}", but never in lines with "{other}", from {hour}:00 to {next}:00?',
        "From {hour}:00 to {next}:00, which users had {noun} but no {other_noun}?",
        "{hour}:00 到 {next}:00 之间，哪些用户有{zh}（\"{event}\"），却没有{other_zh}（\"{other}\"）？",
    ),
    "mention": (
        'How many lines mention "{event}"?',
        'In how many lines does "{event}" occur?',
        "有多少行包含 \"{event}\"？",
    ),
}  # fmt: skip
"""The last of each is Chinese."""

_IN_CHINESE = 20
"""Of 100 questions, about."""


def worded(
    chance: Chance, sort: str, event: str = "", other: str = "", **words: str
) -> tuple[str, str]:
    """A question of a sort about an event, and its language."""
    chinese = chance.percent(_IN_CHINESE)
    frame = _ASKS[sort][-1] if chinese else chance.pick(_ASKS[sort][:-1])
    noun, zh = NOUNS.get(event, (event, event))
    other_noun, other_zh = NOUNS.get(other, (other, other))
    question = frame.format(
        event=event,
        noun=noun,
        zh=zh,
        other=other,
        other_noun=other_noun,
        other_zh=other_zh,
        **words,
    )
    return question, "zh" if chinese else "en"
