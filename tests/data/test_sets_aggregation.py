"""Questions about generated logs: the truth of every aggregate, and all the lines and partitions that it needs.

What is asked of a log is computed here a second time, from its text and with means of this module.
"""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.corpus import Corpus
from data.questions import Question
from data.sets.drafts import Order
from data.sets.generators.chance import Chance
from data.sets.generators.logs import log
from tests.data.generators_desk import Built, built, each_question, tagged


def lines_of(corpus: Corpus) -> list[dict[str, str]]:
    """The lines of generated logs, read again."""
    form = re.compile(
        r"(?P<time>(?P<day>\S+) (?P<hour>\d\d):\S+?)\.\d+ (?P<level>\w+) +\[(?P<service>\w+)\] (?P<message>.*)"
    )
    found = []
    for source in corpus.sources:
        for line in corpus.text(source.id).splitlines():
            match = form.fullmatch(line)
            assert match is not None
            user = re.search(r"u\d{4}", match["message"])
            found.append({**match.groupdict(), "line": line, "user": user[0] if user else ""})
    return found


def event_of(question: Question) -> str:
    """The event whose lines are the gold."""
    quote = question.gold[0][0][0].quote
    message = quote.split("] ", 1)[1]
    return next(e for e in _EVENTS if message.startswith(e))


_EVENTS = (
    "login failed", "payment declined", "upstream timeout", "slow query", "stock below minimum", "coupon rejected",
    "certificate renewed", "disk nearly full", "failover started", "feature flag changed",
)  # fmt: skip


def truth(question: Question, corpus: Corpus) -> tuple[str, ...]:
    """The answer to a question about a log, found in its text."""
    sort = tagged(question, "aggregate")
    lines = lines_of(corpus)
    if sort == "level":
        span = question.gold[0][0][0]
        level = re.search("WARN|ERROR", question.question)
        assert level is not None
        own = corpus.text(span.source).splitlines()
        return (str(sum(f" {level[0]}" in each for each in own)),)
    event = event_of(question)
    rows = [each for each in lines if each["message"].startswith(event)]
    hours = re.search(r"(\d\d):00 ", question.question)
    inside = [each for each in rows if hours and each["hour"] == hours[1]]
    users = Counter(each["user"] for each in rows)
    if sort == "difference":
        named = [e for e in _EVENTS if e in question.question] or _spoken(question.question)
        (other,) = set(named) - {event}
        out = {
            x["user"]
            for x in lines
            if hours and x["hour"] == hours[1] and x["message"].startswith(other)
        }
        return tuple(sorted({each["user"] for each in inside} - out))
    return {
        "count": lambda: (str(len(rows)),),
        "hour": lambda: (str(len(inside)),),
        "first": lambda: (min(each["time"] for each in rows).replace(" ", "T"),),
        "last": lambda: (max(each["time"] for each in rows).replace(" ", "T"),),
        "distinct": lambda: tuple(sorted({each["user"] for each in inside})),
        "distinct_count": lambda: (str(len({each["user"] for each in inside})),),
        "top": lambda: tuple(sorted(u for u, _ in users.most_common(len(question.answer.values)))),
        "service": lambda: (Counter(each["service"] for each in rows).most_common(1)[0][0],),
        "busiest": lambda: (Counter(each["hour"] for each in rows).most_common(1)[0][0],),
    }[sort]()


def _spoken(question: str) -> list[str]:
    said = {
        "failed logins": "login failed",
        "declined payments": "payment declined",
        "rejected coupons": "coupon rejected",
    }
    return [event for words, event in said.items() if words in question]


def test_the_truth_of_every_aggregate_is_found_again_in_the_text(sets: dict[str, Built]) -> None:
    sorts: set[str] = set()
    for question, corpus in each_question(sets["aggregation"]):
        answer = question.answer.values
        assert tuple(sorted(answer)) == truth(question, corpus), question.question
        sorts.add(tagged(question, "aggregate"))
    assert len(sorts) == 11


def test_gold_of_an_aggregate_is_every_line_that_counts(sets: dict[str, Built]) -> None:
    for question, _ in each_question(sets["aggregation"]):
        if tagged(question, "aggregate") in ("count", "hour", "level"):
            assert question.answer.values == (str(len(question.gold[0])),)
        if tagged(question, "aggregate") in ("distinct", "top", "difference"):
            assert len(question.gold) == len(question.answer.values)


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000), characters=st.sampled_from([8_000, 40_000, 150_000]))
def test_every_partition_is_needed_for_a_count(
    seed: int, characters: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    order = Order(seed=seed, questions=1, characters=characters)
    made, corpora = built("aggregation", order, tmp_path_factory.mktemp("count"))
    (question,) = made.questions
    cut = corpora[question.corpus].partitions()
    assert set(question.required_partitions) == {each.id for each in cut.partitions}
    holding = {
        cut.partition_of(cut.span_at(span.source, span.start).id).id for (span,) in question.gold[0]
    }
    assert holding == set(question.required_partitions)


def test_a_question_about_an_hour_needs_the_partitions_of_that_hour(sets: dict[str, Built]) -> None:
    for question, corpus in each_question(sets["aggregation"]):
        if tagged(question, "aggregate") == "level":
            sources = {
                corpus.partitions().partition(p).source for p in question.required_partitions
            }
            assert sources == set(question.documents)
            assert len(sources) == 1


def test_a_log_of_any_size_has_the_lines_that_its_records_say() -> None:
    made = log(Chance(3), 300_000)
    starts = made.records.start.tolist()
    quotes = made.records.text.to_pylist()
    for code, document in enumerate(made.documents):
        text = str(document.content)
        rows = [row for row, source in enumerate(made.records.source.tolist()) if source == code]
        assert text == "".join(quotes[row] + "\n" for row in rows)
        assert all(text.startswith(quotes[row], starts[row]) for row in rows)
