import dspy
import pytest

from runtime.models.extractive.engine import AsyncExtractiveEngine, ExtractiveEngine
from signatures import ClassifyQuestion

LOGS = """\
corpus: 2 sources, 4000 lines, 420000 characters, 40 partitions (by time)
source auth/OpenSSH_2k.log | log | 2000 lines | 220000 chars | 20 partitions | 12-10T06:55:46 .. 12-10T11:04:45
  1: Dec 10 06:55:46 LabSZ sshd[24200]: Invalid user webmaster from 173.234.31.186
source order-service.log | log | 2000 lines | 200000 chars | 20 partitions | 2026-03-10T00:00:01 .. 2026-03-10T23:59:58
"""
PROSE = """\
corpus: 1 sources, 40 lines, 52000 characters, 5 partitions (by size)
source speech.md | markdown | 40 lines | 52000 chars | 5 partitions
"""


def ask(question: str, overview: str = LOGS) -> dspy.Prediction:
    lm = dspy.LM(
        "spantree/extractive",
        engine=ExtractiveEngine(),
        async_engine=AsyncExtractiveEngine(),
        cache=False,
    )
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        return dspy.Predict(ClassifyQuestion)(question=question, overview=overview)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many lines mention timeouts?", "count"),
        ("What is the number of failed logins?", "count"),
        ("Count the lines with ERROR", "count"),
        ("How often did the pool run out?", "count"),
        ("Which hour had the most failed logins?", "count"),
        ("有多少行提到连接超时？", "count"),
        ("一共发生了多少次超时？", "count"),
        ("多少用户登录失败？", "count"),
        ("错误有多少？", "count"),
        ("预算上调到多少？", "lookup"),
        ("预算是多少？", "lookup"),
        ("延迟达到多少毫秒？", "lookup"),
        ("费用增加了多少？", "lookup"),
        ("How many different users logged in?", "list"),
        ("有多少个不同的用户？", "list"),
        ("What happened between 09:30 and 09:40?", "timeline"),
        ("What happened after 11:04:40?", "timeline"),
        ("09:30到09:40之间发生了什么？", "timeline"),
        ("重启了几次？", "count"),
        ("统计日志中错误的数量", "count"),
        ("Is there any line with a kernel panic?", "existence"),
        ("Does any service report data loss?", "existence"),
        ("Was there an alert before nine?", "existence"),
        ("Does the log mention a reboot?", "existence"),
        ("日志里是否有用户登录成功？", "existence"),
        ("有没有出现过死锁？", "existence"),
        ("Is the release freeze mentioned?", "existence"),
        ("Was the migration discussed in the minutes?", "existence"),
        ("Were no decisions made?", "existence"),
        ("Has the valve ever been opened?", "existence"),
        ("Is the pump no longer supported?", "lookup"),
        ("What was mentioned about the pump?", "lookup"),
        ("Is it true that the release was frozen?", "lookup"),
        ("Name the people who attended the meetings.", "list"),
        ("Identify the hosts that rebooted", "list"),
        ("What different error codes occur?", "list"),
        ("Name the person who opened the valve", "lookup"),
        ("Name two people who attended", "lookup"),
        ("What are the stages of the process?", "lookup"),
        ("Who attended the kickoff?", "lookup"),
        ("What is the total amount charged?", "lookup"),
        ("会议都有谁参加？", "list"),
        ("哪几台服务器宕机？", "list"),
        ("几台服务器宕机？", "count"),
        ("谁参加了会议？", "lookup"),
        ("List the hosts that were refused", "list"),
        ("Which users logged in?", "list"),
        ("What did each speaker propose?", "list"),
        ("Find all failed payments", "list"),
        ("哪些服务报告了错误？", "list"),
        ("列出全部行动项", "list"),
        ("How did the checkout incident of 10 March evolve, step by step?", "timeline"),
        ("What is the full evolution chain of the incident?", "timeline"),
        ("Give me the timeline of the outage", "timeline"),
        ("事故的完整演化链是什么？", "timeline"),
        ("请给出事故的时间线", "timeline"),
        ("Which decisions contradict each other?", "conflict"),
        ("Are the figures of the two reports inconsistent?", "conflict"),
        ("Do the minutes disagree about the window?", "conflict"),
        ("会议纪要中有哪些互相矛盾的决定？", "conflict"),
        ("两份文件有什么不一致？", "conflict"),
        ("Why did the pool run out?", "cause"),
        ("What caused the outage?", "cause"),
        ("数据库连接池为什么耗尽？", "cause"),
        ("Summarize the review of 16 March", "summary"),
        ("Give an overview of the handbook", "summary"),
        ("总结一下会议内容", "summary"),
        ('Which user logged in successfully ("Accepted password") and when?', "lookup"),
        ("When did the order service start?", "lookup"),
        ("Which process was killed?", "lookup"),
        ("What is the supply chain plan?", "lookup"),
        ("What was said about the conflict in the east?", "lookup"),
        ("A number of hosts failed first; who noticed?", "lookup"),
        ("延迟是多少？", "lookup"),
        ("补偿队列积压最多达到多少条？", "lookup"),
        ("补偿队列是什么时候清空的？", "lookup"),
        ("文档的链接在哪里？", "lookup"),
    ],
)
def test_the_kind_follows_the_structure_of_the_question(question: str, kind: str) -> None:
    reply = ask(question)

    assert reply.kind == kind
    assert reply.requires_all == (kind in ("count", "existence", "list", "timeline", "conflict"))
    assert reply.reason


def test_quoted_words_say_nothing_about_the_kind() -> None:
    assert ask('When was "how many retries" written?').kind == "lookup"
    assert ask("“为什么所有”出现在哪一行？").kind == "lookup"


@pytest.mark.parametrize(
    ("question", "patterns"),
    [
        ('How many lines mention "Failed password"?', ['"Failed password"']),
        ("How many lines mention “Failed password”?", ['"Failed password"']),
        ("有多少行提到「登录失败」？", ['"登录失败"']),
        ('日志里有多少行包含 "短信通道响应慢"？', ['"短信通道响应慢"']),
        ("Where is `kubectl apply` used?", ['"kubectl apply"']),
        ("Where is 《操作手册》 mentioned?", ['"操作手册"']),
        (
            'How many lines mention both "Failed password" and 183.62.140.253?',
            ['"Failed password"', "183.62.140.253"],
        ),
        ('How many lines mention "refused" or "reset"?', ["/refused|reset/"]),
        ('How many lines mention "a.b" or "c/d"?', [r"/a\.b|c\/d/"]),
        ("How many lines mention failed password?", ["failed", "password"]),
        ('Does "a" appear, and does "b"?', ["/a|b/"]),
        ('Which lines mention "a" and which mention "b"?', ["/a|b/"]),
        (
            'Which lines mention "a" and "b", and which mention "c"?',
            ["/(?:a).*(?:b)|(?:b).*(?:a)|c/"],
        ),
        ('Who wrote "a"? When was "b.c" or "d" seen?', [r"/a|b\.c|d/"]),
        ('Is there "a", and are there lines with "b"?', ["/a|b/"]),
        ("是否出现“甲乙”，有没有“丙丁”？", ["/甲乙|丙丁/"]),
        ('Which lines mention both "a" and "b"?', ['"a"', '"b"']),
        ('Which lines mention "a" and are followed by "b"?', ['"a"', '"b"']),
        ('Which lines mention "a" and which do not mention "b"?', ['"a"', 'not "b"']),
        ("是否同时出现“甲乙”和“丙丁”？", ['"甲乙"', '"丙丁"']),
        ('How many lines mention "a" and how many mention "b"?', ['"a"', '"b"']),
        ("How many lines match /pool (low|empty)/?", ["/pool (low|empty)/"]),
        ('How many match /user="\\w+"/i or "root"?', [r'/(?i:user="\w+")|root/']),
        ('Where is "GET /a(b)/c" asked for?', ['"GET /a(b)/c"']),
        ("Is it in /usr (or) /bin?", ["/usr", "/bin"]),
        ("and/or (this)/that, 24/7 (or so)", ["/that"]),
        ('How many lines do not mention "Failed"?', ['not "Failed"']),
        ('How many lines mention "Failed" but not "root"?', ['"Failed"', 'not "root"']),
        ('How many lines do not contain "a" or "b"?', ["not /a|b/"]),
        ('How many lines mention neither "a" nor "b"?', ['not "a"', 'not "b"']),
        ("How many lines without /a+/?", ["not /a+/"]),
        ("How many lines don't mention 1.2.3.4?", [r"not /(?:^|[^0-9])1\.2\.3\.4(?:[^0-9]|$)/i"]),
        ("How many lines do not mention a timeout?", ["not /timeout/i"]),
        ("How many lines do not mention a full pool?", ["not /full.*pool|pool.*full/i"]),
        ("不包含“登录”的有几行？", ['not "登录"']),
        ("有没有提到“登录”？", ['"登录"']),
        ('Why could users not log in ("Failed password")?', ['"Failed password"']),
        ("how many errors are there", ["error"]),
        ("How many failed logins per hour were there?", ["failed", "login"]),
        ("How many errors per service?", ["error"]),
        ("Which host had the most failed logins?", ["failed", "login"]),
        ("How many lines mention a service?", ["service"]),
        ("日志中有多少次连接超时？", ["连接超时"]),
        ("有多少行提到 failed password？", ["failed", "password"]),
        ("How many lines of order-service.log mention ORA_00600?", ["ORA_00600"]),
        ("How many lines in OpenSSH_2k.log mention port 22?", ["port", "22"]),
        ("What happened to blk_-1608999687919862906?", ["blk_-1608999687919862906"]),
        (
            "Who wrote 3f2504e0-4f89-11d3-9a0c-0305e82c3301?",
            ["3f2504e0-4f89-11d3-9a0c-0305e82c3301"],
        ),
        ("What did 10.251.73.220:50010 answer?", ["10.251.73.220:50010"]),
        ("Who reads /var/log/messages?", ["/var/log/messages"]),
        ("What does java.net.SocketTimeoutException mean?", ["java.net.SocketTimeoutException"]),
        ("What changed in v1.4.2 and 2.31.0?", ["v1.4.2", "2.31.0"]),
        ("Who opened INC-2291?", ["INC-2291"]),
        ("What is at 0x7ffe12?", ["0x7ffe12"]),
        ("Where is max_pool_size set?", ["max_pool_size"]),
        ("What did commit 9fceb02d change?", ["9fceb02d"]),
        ("What happened in 2024 to the 3 oldest hosts?", []),
        ("Why did NATO and the U.S. agree, e.g. in May?", []),
        ("How did it take 500ms, or 2nd place?", []),
        ("Don't users' and hosts' names differ?", []),
    ],
)
def test_patterns_are_the_strings_that_the_question_names(
    question: str, patterns: list[str]
) -> None:
    assert ask(question).patterns == patterns


@pytest.mark.parametrize(
    "question",
    [
        "What reasons did President Biden give for the failure of the bill in 2022?",
        "What is known about vitamin B12, H1N1 and the COVID-19 pandemic?",
        "How did JavaScript and YouTube change and/or improve he/she/they?",
        "What did Smith 2002a report?",
    ],
)
def test_words_of_prose_are_not_patterns(question: str) -> None:
    assert ask(question, PROSE).patterns == []


def test_a_stated_number_is_looked_up_in_prose_and_counted_in_a_log() -> None:
    question = "How many jobs were created?"

    assert ask(question, PROSE).kind == "lookup"
    assert ask(question, LOGS).kind == "count"
    assert ask("How many times is inflation mentioned?", PROSE).kind == "count"


def test_the_name_of_a_source_is_no_pattern() -> None:
    assert ask("When did order-service.log start?").patterns == []
    assert ask('What does "order-service.log" say first?').patterns == []
