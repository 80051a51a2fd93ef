"""Plurality: words of a question that ask for several things, or for what only all of them together tell.

"What are the action items?" is not answered by the first one that is found, and "the highest price" not by some price.
The form alone does not say that everything must be read: a text may list the items, or state the total, in one place.
So these words are weaker than the signals of the classifier. They keep a question from a program that only ever sees
what ranks best, and an answer that rests on a ranking from looking complete. "Name two" and "what are some" are content
with a few.
"""

import re

_PEOPLE = (
    r"(?:people|persons|men|women|children|criteria|phenomena|everyone|everybody|data|staff)\b"
)
# Third persons, and plurals that are one thing. A noun that ends in s, i or u before its s is singular.
_NO_PLURAL = (
    r"(?!(?:was|has|does|this|its|his|hers|ours|yours|theirs|always|perhaps|sometimes|besides|yes|as|thus"
    r"|happens|goes|follows|comes|means|makes|causes|leads|needs|remains|lies|stands|belongs|works|runs|plays|holds"
    r"|depends|appears|applies|exists|becomes|prevents|keeps|starts|stops|triggers|fails|says|takes|gives|uses|owns"
    r"|handles|serves|sends|writes|returns|shows|contains|includes|determines|wants|lets|gets|looks|seems|occurs"
    r"|alias|atlas|bias|canvas|gas|lens|details|contents|specifics|minutes|examples|series|species|means|headquarters|whereabouts|odds)\b)"
)
PLURAL = rf"(?:{_PEOPLE}|{_NO_PLURAL}[a-z][a-z_-]*(?<![sui])s\b)"
_FEW = r"(?!(?:a (?:few|couple)|some|any (?:one|two|three|of)|one|two|three|four|five|six|seven|\d+|examples?)\b)"
_NO_NOUN = (
    r"(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must|the|an?|to|at|of|in|on"
    r"|by|for|from|with|about|who|whom|whose|that|which|when|where|why|how|what|if|whether|and|or|one|person)\b)"
)
_OWNED = r"(?:(?:the|any|all|his|her|their|its|our|my|these|those) )?"
NOUN_PHRASE = rf"{_OWNED}(?:{_NO_NOUN}[\w’@-]+(?:['’]s)? ){{0,3}}?{PLURAL}"
START = (
    r"(?:^|[.?!;:,，。？！；：…]|\b(?:and|tell me|show me|find out|know|say)\b)\s*"
    r"(?:(?:please|kindly) |(?:can|could|would|will) you (?:please )?)?"
)
_PREDICATE = (
    r"(?:are|were|have|do|did|had|does|has|is|was|can|could|will|would|should|may|might|must|[a-z]+(?:ed|en)"
    r"|(?:occur|appear|exist|come|apply|remain|support|indicate|show|fail|run|use|need|take|make|go|lead|belong|depend"
    r"|happen|match|mention|contain|discuss|involve|include|own|hold|keep|send|say|document)"
    r"|of|in|for|from|on|with|within|to|against|that|regarding|about|by)\b"
)
_TAKING_PART = (
    r"(?:attend(?:s|ed|ing)?|participat(?:es?|ed|ing)|(?:took|takes?|taken|taking) part|join(?:s|ed|ing)"
    r"|(?:contribut|collaborat)(?:es?|ed)|vot(?:es?|ed)|spoke|speaks?|abstain(?:s|ed)?|logg?(?:s|ed)? ?in"
    r"|object(?:s|ed)|fail(?:s|ed)|refus(?:es?|ed)|reports? to|depends? on"
    r"|complain(?:s|ed)|volunteered|signed up|dialed in|(?:works?|worked) (?:on|for|in|at|with)|belong(?:s|ed)? to"
    r"|(?:is|are|was|were) (?:also )?(?:present|absent|involved|invited|affected|there|in attendance))\b"
)
_SEVERAL = re.compile(
    rf"\b(?:what|who|which) (?:exactly |else |all )?(?:are|were|have been)\b (?!(?:you|we|they|there)\b){_FEW}"
    rf"|\b(?:what|which) (?:(?:kinds|types|sorts) of |of (?:the|these|those) )?{_FEW}"
    rf"(?:{_NO_NOUN}[\w’@-]+ ){{0,3}}?{PLURAL}(?= {_PREDICATE}|\s*[?.]?$)"
    r"|\b(?:what|which) (?:different|distinct|unique|various)\b"
    rf"|{START}(?:name|show|give|tell|find|get|identify|print|display|provide|report|extract|collect|return|state"
    rf"|describe|outline)\b"
    rf"(?: me| us)? {_FEW}{NOUN_PHRASE}"
    rf"|{START}who\b(?: (?:all|else|has|have|had|was|is|are|were|also|actually|regularly|usually))* {_TAKING_PART}"
    rf"|^\s*{NOUN_PHRASE}(?: (?:of|in|at|on|for|from|during) [^?.]{{1,80}})?\s*[?.]?\s*$|\b(?:names|lists?) of\b"
    r"|(?:参会|与会|出席|在场|到场)(?:人员|者|的人)"
    r"|都?有谁|谁(?:都|们)?(?:还|会|将|要|曾|曾经)?(?:参加|参与|出席|到场|在场|到会|与会|加入|缺席|投票|投了|发言|报名|反对|弃权|登录)"
    r"|哪[几些]|都[\u4e00-\u9fff]{1,4}(?:什么|谁)|名单|清单|分别"
    r"|有(?:过)?什么(?!区别|差[异别]|不同(?!的)|用[？?]?$|意[义思]|关系|时候)"
    r"|(?:出现|发生|存在|提出|[做作]出|讨论|采取)(?:过|了)?(?:什么|何种)(?=[\u4e00-\u9fff])(?!时候|时间|地[方点]|事)",
    re.IGNORECASE,
)
_SUM = (
    r"\btotal(?:s|ed|ing)?\b|\bsum (?:of|total)\b|\bcombined\b"
    r"|总(?:金额|额|共|计|价|和|数|量|费用|成本|支出|收入|时长)|合计|一共|共计|加起来"
)
_MEAN = r"\baverages?\b|\bmedian\b|\bmean (?:of|time|value|age)\b|平均|中位"
_MOST = (
    r"\b(?:highest|lowest|largest|smallest|longest|shortest|biggest|slowest|fastest|cheapest|maximum|minimum|peak(?:ed)?)\b"
    r"|最(?:高|低|大|小|长|短|慢|快|贵|便宜)|最多(?:达|为|有|是)|峰值"
)
_TOGETHER = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(f"{asked}|{told}", re.IGNORECASE))
    for asked, told in (
        (_SUM, r"\b(?:in all|altogether|overall)\b|[总共]"),
        (_MEAN, r"\bmean\b"),
        (_MOST, r"(?<!\bat )\b(?:most|least)\b|\b(?:max|min|record|limit|up to)\b|最|上限|下限"),
    )
)
"""The words of a question, and those with which a text tells the same."""


def several(frame: str) -> str:
    """The words that ask for several things, however many there are; empty without any.

    `frame` is the question without what it quotes, here and below.
    """
    return _first(_SEVERAL, frame)


def together(frame: str) -> str:
    """The words for what only all values together tell: a sum, an average, the highest; empty without any."""
    return next(filter(None, (_first(asked, frame) for asked, _ in _TOGETHER)), "")


def tells_together(text: str, frame: str) -> bool:
    """Whether a text says in so many words what a question asks of all values together."""
    return any(told.search(text) for asked, told in _TOGETHER if asked.search(frame))


def _first(words: re.Pattern[str], frame: str) -> str:
    found = words.search(frame)
    return " ".join(found.group().strip(" …,.;:?!，。？！；：").split()) if found else ""
