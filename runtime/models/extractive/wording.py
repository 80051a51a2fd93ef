"""Wording: the fixed text around what was found, in the language of the question."""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.lexicon import is_cjk

_HEAD = 1_000


@dataclass(frozen=True)
class Wording:
    """Templates for the descriptions of steps and for the statements of an answer."""

    chinese: bool
    everything: str
    scan: str
    rank: str
    analyze: str
    analyze_found: str
    compute: str
    subtask: str
    subquestion: str
    conclude: str
    count: str
    count_one: str
    count_none: str
    counted: str
    by_source: str
    by_time: str
    distinct: str
    extreme: str
    names: Mapping[str, str]
    spread: str
    value: str
    conflict: str
    versus: str
    also: str
    conjunction: str
    separator: str
    cut: str
    nothing: str
    nothing_in: str
    not_computed: str
    no_conflict: str
    no_ranking: str
    no_distinct: str
    weak_only: str


ENGLISH = Wording(
    chinese=False,
    everything="all sources",
    scan="Scan {scope} for {what}",
    rank="Rank the passages of {scope} by relevance to the question",
    analyze="Analyze {scope} for the question",
    analyze_found="Analyze what {steps} found for the question",
    compute="Compute {operation} over the results of {steps}",
    subtask="Reconstruct what happened in {source}",
    subquestion='Answer by itself: "{question}"',
    conclude="Conclude from what was found",
    count="{value} lines match {what}.",
    count_one="{value} line matches {what}.",
    count_none="No line matches {what} (count: {value}).",
    counted="The count is {value}.",
    by_source="Lines that match {what}, by source: {values}.",
    by_time="Lines that match {what}, by time: {values}.",
    distinct="Distinct values: {values}.",
    extreme="{name}: {value}",
    names={
        "earliest": "Earliest",
        "latest": "Latest",
        "minimum": "Smallest",
        "maximum": "Largest",
    },
    spread="({times} times until {until})",
    value="{name}: {values}.",
    conflict="On {key}, the text contradicts itself: {sides}.",
    versus=" against ",
    also="; ",
    conjunction=" and ",
    separator="; ",
    cut="{more} more in the computed value",
    nothing="Nothing in the text that was read answers: {question}",
    nothing_in="What was read: {coverage}",
    not_computed="No computed value states: {question}",
    no_ranking="This reader cannot rank values by how often they occur: ask for the count of one value.",
    no_distinct="This reader cannot count different values: ask for the count of one value, or for the list.",
    no_conflict="No contradiction was found in the text that was read.",
    weak_only="The claims at hand are related to the question but do not answer it.",
)
CHINESE = Wording(
    chinese=True,
    everything="全部来源",
    scan="扫描{scope}，查找 {what}",
    rank="按与问题的相关程度排列{scope}的段落",
    analyze="针对问题分析{scope}",
    analyze_found="针对问题分析 {steps} 的结果",
    compute="对 {steps} 的结果计算 {operation}",
    subtask="梳理 {source} 中发生的事情",
    subquestion="单独回答：“{question}”",
    conclude="根据已找到的内容作出结论",
    count="共有 {value} 行匹配 {what}。",
    count_one="共有 {value} 行匹配 {what}。",
    count_none="没有行匹配 {what}（计数：{value}）。",
    counted="计数为 {value}。",
    by_source="匹配 {what} 的行，按来源：{values}。",
    by_time="匹配 {what} 的行，按时间：{values}。",
    distinct="不同的值：{values}。",
    extreme="{name}：{value}",
    names={"earliest": "最早", "latest": "最晚", "minimum": "最小", "maximum": "最大"},
    spread="（共 {times} 次，至 {until}）",
    value="{name}：{values}。",
    conflict="关于 {key}，文本前后不一致：{sides}。",
    versus=" 与 ",
    also="；",
    conjunction=" 和 ",
    separator="；",
    cut="其余 {more} 项见计算结果",
    nothing="在已读的文本中没有找到答案：{question}",
    nothing_in="已读范围：{coverage}",
    not_computed="没有计算结果可以说明：{question}",
    no_ranking="内置阅读器不能按出现次数给取值排序：请改问某一个值的数量。",
    no_distinct="内置阅读器不能统计有多少个不同的取值：请改问某一个值的数量，或请它列出。",
    no_conflict="在已读的文本中没有发现矛盾。",
    weak_only="现有的陈述与问题相关，但不足以回答。",
)


def wording_for(question: str) -> Wording:
    """Chinese wording for a question that is more than a few Chinese characters, English otherwise."""
    head = question[:_HEAD]
    cjk = 0 if head.isascii() else sum(map(is_cjk, head))
    latin = sum(ch.isascii() and ch.isalpha() for ch in head)
    return CHINESE if cjk * 3 > latin and cjk > 1 else ENGLISH
