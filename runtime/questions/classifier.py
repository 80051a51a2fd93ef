"""The classifier: the kind of a question and the strings that it names, from structural signals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from runtime.lexicon import STOPWORDS, is_cjk
from runtime.questions.clock import clock_range
from runtime.questions.mentions import identifiers, quoted_patterns, without_quotes
from runtime.questions.negation import negates
from runtime.questions.notation import Overview, absent, question_of, read_overview, unique
from runtime.questions.plurality import NOUN_PHRASE
from runtime.questions.ranking import ranks_values
from signatures import QuestionKind

REQUIRES_ALL: frozenset[str] = frozenset(("count", "existence", "list", "timeline", "conflict"))
"""Kinds whose answer is only right if the whole corpus has been examined."""

_READ_CHARS = 4_000
_MOST_ORDERED = 4


@dataclass(frozen=True)
class Classification:
    """What `ClassifyQuestion` asks for."""

    kind: QuestionKind
    requires_all: bool
    patterns: list[str]
    reason: str


def _signal(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in alternatives), re.IGNORECASE)


_START = (
    r"(?:^|[.?!;:,，。？！；：…]|\band\b|\btell me\b|\bshow me\b|\bsay\b)\s*"
    r"(?:please\s+|can you\s+|could you\s+)?"
)
_PLURAL = r"(?!(?:was|has|does|this|its|his|always|perhaps|sometimes)\b)[a-z][a-z_-]*(?<![sui])s\b"
_QUALIFIER = (
    r"(?:of the |(?:other|different|distinct|unique|remote|new|[a-z]+(?:ed|al|ic|ive|ing|ous)) )"
)
_STATING = r"(?:decision|statement|minute|meeting|document|record|version|report|claim|source|figure|number|date)"
_NAMED_SOMEWHERE = (
    r"\b(?:mentioned|discussed|documented|recorded|logged|listed|included)"
    r"(?: (?:anywhere|at all|here|there|(?:in|by) [^?.]{1,80}))?\s*[?.]*\s*$"
)

# In the order in which they win: a question that counts errors of all services counts.
_SIGNALS: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = (
    (
        "count",
        _signal(
            r"\bhow (?:many|often|frequently)\b",
            r"(?<!\ba )(?<!\bany )\bnumber of (?!years\b)",
            _START + r"count\b",
            r"\bthe (?:total )?count of\b",
            r"\b(?:which|what|when)\b.{0,80}\bmost (?:often|frequent(?:ly)?|lines|times|entries)\b",
            r"\b(?:which|what) (?:minute|hour|day|date|file|source|service|host|log)\b.{0,80}\bmost\b",
            r"(?<=[有共计])多少(?!钱|[百千万亿]*[元块美])|(?<!最)(?<![是为到至率])多少(?=[次个条行起种位名台人份处笔封篇项])",
            r"(?<!最)(?<![是为到至率])多少(?=[A-Za-z\u4e00-\u9fff])(?![百千万亿元块美金钱年月天周日小分秒岁米公吨度倍])",
            r"(?<!哪)几(?:次|个|条|行|起|种|位|名|台|人|份|处|笔)",
            r"有几|出现次数|的次数|的数量|总数|计数",
        ),
    ),
    (
        "conflict",
        _signal(
            r"\bcontradict\w*",
            r"\binconsisten\w+",
            r"\bconflicting\b",
            r"\bconflicts? (?:with|among)\b",
            r"\b(?:in|any|are there) conflicts?\b(?! in )",
            rf"\bconflicts? between (?:the |these |any |two )*{_STATING}",
            r"\bdisagree\w*",
            r"\bdiffer (?:between|across|from one)",
            rf"\b{_STATING}s? (?:conflict|differ)\b",
            r"矛盾|冲突|不一致|相悖|前后不符|互相抵触",
        ),
    ),
    (
        "timeline",
        _signal(
            r"\btime ?lines?\b",
            r"\bchronolog\w+",
            r"\bevolution (?:chain|of)\b",
            r"\bevolution$",
            r"\b(?:full|entire|whole|complete) evolution\b",
            r"\b(?:event|causal|evolution|incident|failure|full) chain\b",
            r"\bchain of (?:events?|failures?|incidents?)\b",
            r"\bsequence of (?:events?|failures?|incidents?|steps)\b",
            r"\bin what (?:order|sequence)\b",
            r"\b(?:order|course) of events\b",
            r"\bhow did\b.{0,160}\b(?:unfold|evolve|develop|progress|escalate|spread|play out)",
            r"\bwhat happened\b.{0,160}\b(?:from|between|step by step|in order)\b",
            r"\bfrom (?:the )?(?:start|beginning|first|early|onset)\b.{0,160}\bto\b",
            r"演化|演变|经过|时间线|时间轴|全过程|先后顺序|来龙去脉|如何发展|怎么发展|始末",
            r"(?<!区块)链(?![接路表家])",
        ),
    ),
    (
        "summary",
        _signal(
            r"\bsummari[sz]e\b",
            r"\bsummary of\b",
            r"\b(?:an? |the )?overview of\b",
            r"\bgive (?:me )?(?:an? )?(?:summary|overview)\b",
            r"总结|概述|概括|综述|摘要",
        ),
    ),
    (
        "existence",
        _signal(
            _START + r"(?:is|are|was|were) there\b",
            r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will) any\b",
            r"\b(?:do|does|did|has|have|had) (?:any|some)(?:one|body|thing)\b",
            r"\bwhether (?:or not )?(?:there|any)\b",
            _START + r"(?:do|does|did)\b.{1,160}\b(?:exist|occur|appear|mention|contain|include)\b",
            _START + r"(?:is|are|was|were|do|does|did|has|have|had) no (?!longer\b|more\b|doubt\b)",
            _START + r"(?:is|are|was|were|do|does|did|has|have|had)\b.{1,160}\bever\b",
            _START + r"(?:is|are|was|were|has|have)\b.{1,160}" + _NAMED_SOMEWHERE,
            r"是否|有没有|有无|是不是有|存在.{0,60}吗",
        ),
    ),
    (
        "cause",
        _signal(
            r"\bwhy\b",
            r"\bcauses?\b",
            r"\bcaused\b",
            r"\bwhat (?:led|made)\b",
            r"\bhow come\b",
            r"原因|为什么|为何|为啥|导致",
        ),
    ),
    (
        "list",
        _signal(
            _START + r"(?:list|enumerate)\b",
            _START + rf"(?:name|identify) (?:me |us )?(?=the |all |every){NOUN_PHRASE}",
            rf"\b(?:what|which) (?:different|distinct|unique) (?:[a-z_-]+ ){{0,2}}?{_PLURAL}",
            _START + rf"which (?:the )?{_QUALIFIER}{{0,2}}{_PLURAL}",
            r"(?<!\bat )(?<!\bafter )(?<!\babove )(?<!\bof )(?<!\bin )(?<!\bfor )\ball "
            r"(?!in all|over|right|along|too|but|time\b)[a-z]",
            r"(?<!\bof )\beach (?!other)[a-z]",
            r"\bevery (?!day|time|year|other|now|so often)[a-z]",
            r"所有|哪些|哪几[个条种位名台人份处项次笔]|都有(?:谁|什么)|每(?:一|个|条|次|位|名|台|份|笔|项|种)|全部|列出|列举|罗列|各个|逐一",
        ),
    ),
)
# Things that are the same are counted once. Only a reader can tell, not the number of lines.
_DIFFERENT = _signal(
    r"\bhow many (?:\w+ )?(?:different|distinct|unique)\b",
    r"\bnumber of (?:different|distinct|unique)\b",
    r"(?:多少|几)[个种位名台]?不同",
)
_HAPPENED = _signal(
    r"\b(?:what|anything|everything that) (?:happened|went on|occurred)\b", "发生了?什么"
)
_LOOKUP = "no word of the question asks for a number, a list, an order, a cause or a contradiction"

# What is counted in lines: a stated figure ("how many jobs") is looked up in prose, not counted.
_COUNTABLE = _signal(
    r"\b(?:lines?|times|occurrences?|entries|records?|rows?|mentions?|messages?|log|logs|events?)\b",
    r"\b(?:files?|sources?|documents?|sentences?|paragraphs?|words?|hits|matches)\b",
    r"\bhow (?:often|frequently)\b|\bcount\b",
    r"次|行|条|处|提到|出现|包含",
)
_MENTION = re.compile(
    r"\b(?:mention|contain|include|match|say|report|show|read|with|having|containing)"
    r"(?:s|es|ed|ing)?\b(?: (?:the )?(?:words?|phrase|string|text|term))?\s+(?P<what>[^?？。]+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z0-9_][\w'’.:/-]*[A-Za-z0-9_]|[A-Za-z0-9]|[\u3400-\u9fff\uf900-\ufaff]+")
_STRUCTURAL: frozenset[str] = frozenset(
    word
    for word in """
    line lines time times entry entries record records row rows log logs file files source sources
    mention mentions mentioned contain contains containing include includes match matches matching
    say says said report reports show shows appear appears occur occurs occurred occurrence
    occurrences happen happens happened exist exists many much often frequently count number total
    all each every any both also text word words phrase string message messages there per hour day
    minute get got give find found please tell corpus altogether overall together one ones seen
    logged recorded listed respectively most frequent busiest
    """.split()  # noqa: SIM905 (a list of a hundred literals is no easier to read)
)
# By what lines are counted is not what they must mention: "per service", "which host".
_GROUPED = _signal(
    r"\b(?:per|by|(?:for |in |of )?each|every|which|what) (?:services?|hosts?|documents?)\b"
)
_CHINESE_FRAME = re.compile(
    r"(?:一共|总共|共)?有?(?:多少|几)(?:次|个|条|行|起|处|种|位|名|台|人|份|笔)?|一共|总共|共有|请问|统计|计算"
    r"|(?:日志|文件|记录|来源|文档)(?:文件)?[中里]?|里面|其中|当中|[中里](?=有|共|总|出现|提到|包含|$)|提到|出现|包含|含有"
    r"|发生|次数|数量|总数|计数|关于|哪些|什么|全部|所有|每个|[的了吗呢]|^在|^[次个条行起处]|有$"
)


def classify(question: str, overview: str) -> Classification:
    """Classify a question over the corpus that `overview` describes."""
    asked = question_of(question.strip())[:_READ_CHARS]
    corpus = read_overview(overview)
    frame = without_quotes(asked)
    kind, signal = _kind(frame)
    if kind == "count" and not corpus.is_prose and counts_different(frame):
        kind, signal = "list", "different things are listed, not counted in lines"
    if kind == "count" and ranks_values(frame):
        kind, signal = "lookup", "which value occurs most is no number of lines"
    if kind == "lookup" and clock_range(frame) and _HAPPENED.search(frame):
        kind, signal = "timeline", "what happened within some hours is a course of events"
    patterns = named_strings(asked, corpus, apart=kind != "count")
    if kind == "count" and not patterns:
        if corpus.is_prose and not _COUNTABLE.search(frame):
            kind, signal = "lookup", "the text is prose: a number is stated in it, not counted"
        else:
            patterns = counted_words(frame, corpus)
    reason = f'"{signal}": {kind}' if kind != "lookup" else signal or _LOOKUP
    return Classification(kind, kind in REQUIRES_ALL, patterns, f"{reason}.")


def counts_different(frame: str) -> bool:
    """Whether a question, without what it quotes, asks how many different things there are."""
    return _DIFFERENT.search(frame) is not None


def named_strings(question: str, corpus: Overview, *, apart: bool = False) -> list[str]:
    """Patterns for the quoted phrases and the identifiers of a question (`apart`: see `quoted_patterns`)."""
    sources = tuple(source.id for source in corpus.sources)
    exact = quoted_patterns(question, apart=apart)
    spelled = {pattern[1:-1].casefold() for pattern in exact}
    names = {
        name
        for source in sources
        for name in (source.casefold(), source.rpartition("/")[2].casefold())
    }
    kept = [pattern for pattern in exact if pattern[1:-1].casefold() not in names]
    bare = identifiers(question, sources, corpus.is_prose)
    return unique([*kept, *(each for each in bare if each.casefold() not in spelled)])


def signaled_kinds(question: str) -> dict[QuestionKind, str]:
    """Every kind that some words of a question point at, with these words. The first one wins in `classify`."""
    frame = without_quotes(question_of(question.strip())[:_READ_CHARS])
    return dict(_kinds(frame))


def _kind(frame: str) -> tuple[QuestionKind, str]:
    return next(_kinds(frame), ("lookup", ""))


def _kinds(frame: str) -> Iterator[tuple[QuestionKind, str]]:
    for kind, signal in _SIGNALS:
        found = signal.search(frame)
        if found:
            yield kind, " ".join(found.group().strip(" …,.;:?!，。").split())


def counted_words(frame: str, corpus: Overview) -> list[str]:
    """Bare patterns for what is counted: the words after "mention", or the things that are "how many"."""
    for name in sorted(corpus.named_in(frame), key=len, reverse=True):
        for spelled in (name, name.rpartition("/")[2]):
            frame = re.sub(
                rf"(?i)(?<![\w-])(?:in|of|from)?\s*{re.escape(spelled)}(?![\w-])", " ", frame
            )
    frame = _GROUPED.sub(" ", frame)
    mention = _MENTION.search(frame)
    if mention is None:
        return unique(_singular(word) for word in _content(frame))
    words = unique(_content(mention["what"]))
    return _lacking(words) if words and negates(frame[: mention.start("what")]) else words


def _lacking(words: list[str]) -> list[str]:
    """The pattern of the lines that do not have all of the words, in whatever order."""
    orders = permutations(words[:_MOST_ORDERED])
    return [absent("/" + "|".join(".*".join(map(re.escape, order)) for order in orders) + "/i")]


def _content(text: str) -> list[str]:
    kept: list[str] = []
    for word in _WORD.findall(text):
        if is_cjk(word[0]):
            kept += (part for part in _CHINESE_FRAME.split(word) if len(part) > 1)
        elif word.lower() not in STOPWORDS and word.lower() not in _STRUCTURAL:
            kept.append(word)
    return kept


def _singular(word: str) -> str:
    """The form that is contained in singular and plural alike."""
    lower = word.lower()
    if not lower.isalpha() or not lower.endswith("s") or lower.endswith(("ss", "us", "is")):
        return word
    if lower.endswith("ies") and len(lower) > 4:
        return word[:-3]
    if lower.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1]
