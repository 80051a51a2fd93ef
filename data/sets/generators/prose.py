"""Prose: filling of any length in English and Chinese, and documents of it with headings.

It tells of everyday work and holds no fact that a question asks for: no code, no deadline, no price, no full name.
"""

from collections.abc import Iterator

from data.sets.drafts import Document
from data.sets.generators.chance import Chance

_EN = (
    "The {team} team met on {day} and went through the open points of the {thing}.",
    "Nobody had seen the {thing} since {month}, which surprised the {team} team more than it should have.",
    "A draft of the {thing} went round before {day}; comments were few and mostly about its wording.",
    "It was agreed to look at the {thing} again once the {team} team is back to full strength.",
    "The weather in {month} was {mood}, and the {thing} took longer than planned.",
    "Two visitors asked about the {thing} and were shown around by the {team} team.",
    "On {day} the heating was {mood} again, so the {team} team moved to the room next door.",
    "The {thing} is older than most of the people who use it, and it shows.",
    "Someone proposed to replace the {thing}; the {team} team would rather mend it.",
    "The minutes of {month} describe the {thing} at some length and add nothing new.",
    "A photograph of the {thing} hangs in the corridor, a little crooked.",
    "The {team} team thanked everyone who had helped with the {thing} before {day}.",
    "Tea was served late, the mood was {mood}, and the {thing} was put off until {month}.",
    "There is a list of wishes for the {thing}, written in pencil and kept by the {team} team.",
    "In {month} the {thing} will be cleaned, weather permitting.",
    "The stairs near the {thing} creak, but they are sound, as the {team} team found out.",
    "A newsletter in {month} mentioned the {thing} in passing.",
    "By {day} the {thing} was back in its place and nobody asked where it had been.",
    "The {team} team keeps a notebook about the {thing}; it is {mood} reading.",
    "Most of the morning went into sorting papers about the {thing}.",
)  # fmt: skip
_EN_WORDS = {
    "team": ("garden", "kitchen", "press", "library", "workshop", "stage", "post", "cleaning", "sports", "travel"),
    "thing": (
        "notice board", "old piano", "bicycle shed", "coffee machine", "summer party", "seating plan",
        "picture calendar", "lost property box", "bird house", "carpet", "projector", "herb bed", "model railway",
        "suggestion box", "winter curtain", "reading corner",
    ),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
    "month": ("January", "February", "March", "April", "June", "October", "November"),
    "mood": ("dull", "cheerful", "restless", "quiet", "odd", "pleasant"),
}  # fmt: skip
_ZH = (
    "{team}在{day}碰了一次头，把{thing}的事情从头理了一遍。",
    "{month}的天气{mood}，{thing}的进度比原先想的慢了一些。",
    "有人提议换掉{thing}，{team}更愿意修一修再用。",
    "{thing}的照片挂在走廊里，稍微有点歪。",
    "{day}下午大家一起整理了{thing}，{team}带了点心。",
    "关于{thing}的草稿传阅了一圈，意见不多，大多是措辞。",
    "{team}感谢所有帮忙照看{thing}的同事。",
    "茶水上得晚，气氛{mood}，{thing}的讨论推到了{month}。",
    "{month}的简报顺带提到了{thing}。",
    "{thing}旁边的楼梯有些响，不过很结实。",
)
_ZH_WORDS = {
    "team": ("园艺组", "厨房", "宣传组", "图书角", "木工组", "舞台组", "收发室", "保洁组"),
    "thing": ("公告栏", "旧钢琴", "自行车棚", "咖啡机", "夏日聚会", "座位表", "失物箱", "鸟屋", "地毯", "投影仪"),
    "day": ("周一", "周二", "周三", "周四", "周五"),
    "month": ("一月", "二月", "三月", "四月", "六月", "十月"),
    "mood": ("平淡", "轻松", "有些闷", "安静", "不错"),
}  # fmt: skip
_HEADINGS = {
    "en": ("House and garden", "What was said", "Odds and ends", "From the teams", "Looking ahead", "Small repairs"),
    "zh": ("日常", "各组近况", "零碎事项", "下一步", "小修小补", "大家说了什么"),
}  # fmt: skip
_NAMES = ("bulletin", "circular", "gazette", "notebook", "chronicle", "almanac")
_SECTION = 1_800
DOCUMENT = 9_000
"""Characters of one document of filling, about."""


def sentence(chance: Chance, language: str) -> str:
    """One sentence of filling."""
    frames, words = (_ZH, _ZH_WORDS) if language == "zh" else (_EN, _EN_WORDS)
    chosen = {name: chance.pick(options) for name, options in words.items()}
    return chance.pick(frames).format(**chosen)


def paragraphs(chance: Chance, characters: int, language: str) -> Iterator[str]:
    """Paragraphs of about so many characters in all."""
    gap = "" if language == "zh" else " "
    while characters > 0:
        made = gap.join(sentence(chance, language) for _ in range(chance.between(3, 6)))
        characters -= len(made) + 2
        yield made


def document(chance: Chance, name: str, characters: int, language: str) -> Document:
    """A document in Markdown with numbered headings."""
    parts = [f"# {name.removesuffix('.md')}"]
    length, number = len(parts[0]), 0
    while length < characters:
        number += 1
        parts.append(f"## {number}. {chance.pick(_HEADINGS[language])}")
        parts += paragraphs(chance, min(_SECTION, characters - length), language)
        length = sum(map(len, parts)) + 2 * len(parts)
    return Document(name, "\n\n".join(parts) + "\n")


def documents(chance: Chance, characters: int, language: str) -> list[Document]:
    """Some documents of about so many characters in all."""
    number = max(1, round(characters / DOCUMENT))
    names = [f"{each}-{volume:03}" for volume in range(1, number + 1) for each in _NAMES][:number]
    return [document(chance, f"{name}.md", characters // number, language) for name in names]
