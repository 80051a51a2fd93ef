"""Facts: what is planted as a needle. A topic says one thing in two ways, and asks for it in two ways.

`plain` and `asks` share their words, `oblique` and `asks_oblique` share none that carries meaning (the subject is
not named either, so that an oblique fact may stand only once in a corpus).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from data.questions import TypedAnswer
from data.sets.drafts import integer, many, string
from data.sets.generators.chance import Chance
from data.sets.generators.names import Names

Values = Callable[[Chance, Names], tuple[str, TypedAnswer]]
"""A value as the text says it, and as the answer to the question."""

Said = Literal["plain", "named", "oblique"]
"""In the words of the question; with no word of it but the name of the subject; or with none at all."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One kind of fact. `{s}` is its subject and `{v}` its value."""

    name: str
    language: str
    values: Values
    plain: tuple[str, ...]
    asks: tuple[str, ...]
    oblique: str
    asks_oblique: str


@dataclass(frozen=True, slots=True)
class Telling:
    """A fact that was made: the sentence that states it, the question for it, and the answer."""

    topic: str
    language: str
    subject: str
    statement: str
    question: str
    answer: TypedAnswer
    value: str


def tell(topic: Topic, chance: Chance, names: Names, *, said: Said = "plain") -> Telling:
    """A fact of a topic, about a subject that has not been named yet."""
    value, answer = topic.values(chance, names)
    subject = names.place(topic.language)
    frame = chance.pick(topic.plain) if said == "plain" else topic.oblique
    if said == "named":
        frame = ("{s}那边：" if topic.language == "zh" else "Concerning {s}: ") + frame
    asked = topic.asks_oblique if said == "oblique" else chance.pick(topic.asks)
    return Telling(
        topic.name,
        topic.language,
        subject,
        frame.format(s=subject, v=value),
        asked.format(s=subject),
        answer,
        value,
    )


def retell(told: Telling, topic: Topic, chance: Chance, names: Names) -> Telling:
    """The same fact with another value: what contradicts it."""
    value, answer = topic.values(chance, names)
    while value == told.value:
        value, answer = topic.values(chance, names)
    statement = chance.pick(topic.plain).format(s=told.subject, v=value)
    return replace(told, statement=statement, answer=answer, value=value)


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def _code(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    code = f"{chance.between(1000, 9999)}-{chance.between(10, 99)}"
    return code, string(code)


def _room(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    room = f"{chance.pick('ABCDEFGH')}{chance.between(100, 499)}"
    return room, string(room, f"room {room}")


def _days(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    days = chance.between(8, 97)
    return f"{days} days", integer(days, f"{days} days")


def _days_zh(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    days = chance.between(8, 97)
    return f"{days} 天", integer(days, f"{days} 天", f"{days}天")


def _degrees(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    degrees = chance.between(11, 38)
    return f"{degrees} degrees", integer(degrees, f"{degrees} degrees", f"{degrees} °C")


def _euros(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    euros = chance.between(11, 99) * 1000 + chance.between(1, 9) * 100
    return f"{euros:,} euros", integer(euros, f"{euros:,} euros", f"{euros:,}")


def _yuan(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    yuan = chance.between(11, 99) * 1000
    return f"{yuan} 元", integer(yuan, f"{yuan} 元", f"{yuan}元")


def _date(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    month, day = chance.between(1, 12), chance.between(1, 28)
    said = f"{day} {_MONTHS[month - 1]} 2026"
    return said, TypedAnswer(type="date", values=(f"2026-{month:02}-{day:02}",), accepted=(said,))


def _date_zh(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    month, day = chance.between(1, 12), chance.between(1, 28)
    said = f"2026 年 {month} 月 {day} 日"
    return said, TypedAnswer(type="date", values=(f"2026-{month:02}-{day:02}",), accepted=(said,))


def _person(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    person = names.person()
    return person, string(person)


def _person_zh(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    person = names.person("zh")
    return person, string(person)


def _people(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    people = [names.person() for _ in range(3)]
    return f"{people[0]}, {people[1]} and {people[2]}", many(people)


def _firm(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    firm = names.firm()
    return firm, string(firm)


def _whether(chance: Chance, names: Names) -> tuple[str, TypedAnswer]:
    allowed = chance.percent(50)
    said = "allowed" if allowed else "not allowed"
    short = "yes" if allowed else "no"
    return said, TypedAnswer(type="boolean", values=(str(allowed).lower(),), accepted=(said, short))


TOPICS = (
    Topic(
        "code", "en", _code,
        ("The access code of the {s} depot is {v}.", "To enter the {s} depot one needs the access code {v}."),
        ("What is the access code of the {s} depot?", "Which access code opens the {s} depot?"),
        "Whoever wants into the storage building types {v} beside its door.",
        "What is the access code of the depot?",
    ),
    Topic(
        "retention", "en", _days,
        ("Camera footage of the {s} site is kept for {v}.", "At the {s} site, camera footage is kept for {v}."),
        ("For how many days is the camera footage of the {s} site kept?", "How long is {s} camera footage kept?"),
        "What the lenses over the gate saw is wiped after {v}.",
        "How long do we store surveillance video?",
    ),
    Topic(
        "deadline", "en", _date,
        ("Offers for the {s} bridge must be handed in by {v}.", "The deadline for offers for the {s} bridge is {v}."),
        ("What is the deadline for offers for the {s} bridge?", "By when must offers for the {s} bridge be handed in?"),
        "Bidders whose envelope has not arrived on {v} are out.",
        "When is the deadline of the tender?",
    ),
    Topic(
        "elevator", "en", _person,
        ("The elevator of the {s} house is maintained by {v}.", "{v} maintains the elevator of the {s} house."),
        ("Who maintains the elevator of the {s} house?", "By whom is the elevator of the {s} house maintained?"),
        "Should the lift get stuck, ring {v} at any hour.",
        "Who is responsible for the elevator?",
    ),
    Topic(
        "budget", "en", _euros,
        ("The budget of the {s} project is {v} for this year.", "For this year the {s} project has a budget of {v}."),
        ("How high is the budget of the {s} project?", "What budget does the {s} project have for this year?"),
        "More than {v} must not be spent on the fountain.",
        "How high is the budget for the water feature?",
    ),
    Topic(
        "archive", "en", _room,
        ("The archive of the {s} choir is in room {v}.", "The {s} choir keeps its archive in room {v}."),
        ("In which room is the archive of the {s} choir?", "Which room holds the archive of the {s} choir?"),
        "Old scores lie behind the door marked {v}.",
        "Where is the sheet music archive kept?",
    ),
    Topic(
        "greenhouse", "en", _degrees,
        ("The {s} greenhouse is heated to {v}.", "In winter the {s} greenhouse is heated to {v}."),
        ("To how many degrees is the {s} greenhouse heated?", "How many degrees is the {s} greenhouse heated to?"),
        "Thermostats among the orchids stand at {v}.",
        "How warm is it in the greenhouse?",
    ),
    Topic(
        "flour", "en", _firm,
        ("The {s} bakery buys its flour from {v}.", "Flour for the {s} bakery comes from {v}."),
        ("From whom does the {s} bakery buy its flour?", "Where does the flour for the {s} bakery come from?"),
        "Sacks for the bread oven arrive weekly from {v}.",
        "Who is our supplier of flour?",
    ),
    Topic(
        "keys", "en", _people,
        ("Keys of the {s} hall are held by {v}.", "The keys of the {s} hall are with {v}."),
        ("Who holds keys of the {s} hall?", "With whom are the keys of the {s} hall? Name all of them."),
        "Only {v} can unlock the gymnasium.",
        "Who has a key to the sports hall? List everyone.",
    ),
    Topic(
        "dogs", "en", _whether,
        ("Dogs are {v} in the {s} reading room.", "In the {s} reading room dogs are {v}."),
        ("Are dogs allowed in the {s} reading room?",),
        "Bringing four-legged companions along is {v} among the shelves.",
        "May I take my dog into the library?",
    ),
    Topic(
        "密码", "zh", _code,
        ("{s}仓库的门禁密码是 {v}。", "进入{s}仓库需要门禁密码 {v}。"),
        ("{s}仓库的门禁密码是多少？", "{s}仓库的门禁密码是什么？"),
        "想取货的人要在铁门边按下 {v}。",
        "仓库用哪个密码？",
    ),
    Topic(
        "录像", "zh", _days_zh,
        ("{s}站点的监控录像保存 {v}。", "按规定，{s}站点的监控录像保存 {v}。"),
        ("{s}站点的监控录像保存多少天？", "{s}站点的监控录像要保存多久？"),
        "大门口镜头拍到的画面，过了 {v}就抹掉。",
        "监控录像保存多久？",
    ),
    Topic(
        "截止", "zh", _date_zh,
        ("{s}大桥的投标文件须在 {v}前递交。", "递交{s}大桥投标文件的期限是 {v}。"),
        ("{s}大桥的投标文件最晚什么时候递交？", "递交{s}大桥投标文件的期限是哪一天？"),
        "信封在 {v}还没送到的公司，就不再考虑了。",
        "投标哪天截止？",
    ),
    Topic(
        "电梯", "zh", _person_zh,
        ("{s}大楼的电梯由{v}负责维护。", "负责维护{s}大楼电梯的是{v}。"),
        ("{s}大楼的电梯由谁负责维护？", "谁负责维护{s}大楼的电梯？"),
        "上下楼的轿厢要是卡住了，就打给{v}。",
        "电梯归谁维护？",
    ),
    Topic(
        "预算", "zh", _yuan,
        ("{s}项目本年度的预算为 {v}。", "本年度{s}项目的预算是 {v}。"),
        ("{s}项目本年度的预算是多少？", "本年度{s}项目的预算有多少元？"),
        "喷泉那边花钱不能超过 {v}。",
        "水景的预算是多少？",
    ),
)  # fmt: skip
"""The topics, in both languages."""

LANDMARKS = {
    "en": (
        ("Semper Opera House", "Dresden"), ("Charles Bridge", "Prague"), ("Rialto Bridge", "Venice"),
        ("Brandenburg Gate", "Berlin"), ("Hagia Sophia", "Istanbul"), ("Rijksmuseum", "Amsterdam"),
        ("Alhambra", "Granada"), ("Atomium", "Brussels"), ("Wawel Castle", "Krakow"), ("Sagrada Familia", "Barcelona"),
    ),
    "zh": (
        ("东方明珠", "上海"), ("大雁塔", "西安"), ("布达拉宫", "拉萨"), ("断桥", "杭州"), ("宽窄巷子", "成都"),
        ("黄鹤楼", "武汉"), ("中山陵", "南京"), ("鼓浪屿", "厦门"),
    ),
}  # fmt: skip
"""Places that everyone knows, and the cities that they stand in: to link the two takes knowledge of the world."""


def resident(chance: Chance, names: Names, language: str) -> Telling:
    """Someone beside a landmark, asked for by the city."""
    landmark, city = chance.pick(LANDMARKS[language])
    person = names.person(language)
    if language == "zh":
        said, asked = f"{person}租的小屋就在{landmark}边上。", f"文中谁住{city}市？"
    else:
        said = f"{person} rents a flat beside the {landmark}."
        asked = f"Which of the people mentioned has a home in {city}?"
    return Telling("resident", language, city, said, asked, string(person), person)


_ASKS = {
    "en": ("{q}", "{q}", "{q}", "Please look this up: {q}", "Quick question: {q}", "For the report: {q}"),
    "zh": ("{q}", "{q}", "请问{q}", "麻烦查一下：{q}"),
}  # fmt: skip


def as_people_ask(chance: Chance, question: str, language: str) -> str:
    """The question, at times with a few words before it."""
    return chance.pick(_ASKS[language]).format(q=question)
