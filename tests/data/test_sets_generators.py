"""Generated sets: gold that is exact by construction, the same for the same seed, and every truth found out again.

What is asked of a log is computed here a second time, from its text and with means of this module.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.corpus import Corpus
from data.questions import Question, QuestionSet
from data.samples import samples_path
from data.sets.assembly import assemble
from data.sets.drafts import Draft, Order
from data.sets.generators import FAMILIES
from data.sets.generators.chance import Chance
from data.sets.generators.facts import TOPICS, tell
from data.sets.generators.haystack import Piece, planted
from data.sets.generators.logs import log
from data.sets.generators.names import Names
from data.sets.generators.needles import Needles
from data.sets.lint import lint
from data.sets.storage import open_set_corpus

Built = tuple[QuestionSet, dict[str, Corpus]]


def built(family: str, order: Order, folder: Path) -> Built:
    """A set of a family and its corpora."""
    made = assemble(FAMILIES[family].drafts(order), folder, name=family, made_by="test")
    names = [each.name for each in made.corpora]
    return made, {name: open_set_corpus(made, folder, name) for name in names}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """A small set of every family."""
    few = {"needles": 24, "conflicts": 16, "unanswerable": 16, "adversarial": 16}
    return {
        name: built(name, Order(seed=5, questions=few.get(name)), tmp_path_factory.mktemp(name))
        for name in FAMILIES
        if name not in ("mixed", "samples")
    }


def each_question(made: Built) -> Iterator[tuple[Question, Corpus]]:
    for question in made[0].questions:
        yield question, made[1][question.corpus]


def tagged(question: Question, name: str) -> str:
    """The value of a tag."""
    return next((t.partition(":")[2] for t in question.tags if t.startswith(f"{name}:")), "")


def test_every_family_passes_the_linter(sets: dict[str, Built]) -> None:
    for made, corpora in sets.values():
        assert made.questions
        assert lint(made, corpora) == []


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - {"mixed"}))
def test_the_same_seed_gives_the_same_set_and_another_one_another(family: str) -> None:
    def drafts(seed: int) -> list[Draft]:
        return list(FAMILIES[family].drafts(Order(seed=seed, questions=8, characters=9_000)))

    first = drafts(1)
    assert drafts(1) == first
    assert (drafts(2) == first) == (family == "samples")


def test_the_streams_of_chance_are_pinned() -> None:
    """A set is the same on every machine: these numbers may never change."""
    chance = Chance(7, "needles", 1)
    assert [chance.below(1000) for _ in range(4)] == [985, 355, 561, 931]
    assert chance.many("x", 4).below(1000).tolist() == [552, 398, 758, 815]
    assert chance.many("x", 6).weighted([1, 2, 1]).tolist() == [2, 1, 1, 1, 2, 2]


def test_the_number_of_questions_is_kept(sets: dict[str, Built]) -> None:
    for family, asked in (("needles", 7), ("aggregation", 5), ("pairwise", 6), ("conflicts", 3)):
        found = list(FAMILIES[family].drafts(Order(questions=asked, characters=9_000)))
        assert sum(len(each.questions) for each in found) == asked


@pytest.mark.parametrize("family", ["needles", "aggregation", "conflicts", "adversarial"])
def test_the_size_of_a_corpus_is_about_what_was_asked_for(family: str) -> None:
    draft = next(iter(FAMILIES[family].drafts(Order(characters=60_000, questions=4))))
    size = sum(len(each.content) for each in draft.documents)
    assert 0.9 < size / 60_000 < 1.15


_PIECES = st.lists(
    st.builds(Piece, depth=st.floats(0, 1), text=st.text("xyz", min_size=1, max_size=9)), max_size=5
)
_LINES = st.lists(st.text("ab 。", max_size=12), max_size=12)


@given(lines=_LINES, newline=st.sampled_from(["\n", "\r\n", "\n\n"]), pieces=_PIECES)
def test_planting_keeps_the_text_and_knows_the_places(
    lines: list[str], newline: str, pieces: list[Piece]
) -> None:
    text = newline.join(lines)
    whole, starts = planted(text, pieces)
    for piece, start in zip(pieces, starts, strict=True):
        assert whole[start : start + len(piece.text)] == piece.text
        assert whole[:start].endswith(("\n", "\r")) or start == 0
    left = re.sub("[xyz]", "", whole)
    assert re.sub(r"[\r\n]", "", left) == re.sub(r"[\r\n]", "", text)


def test_needles_are_at_their_depth(sets: dict[str, Built]) -> None:
    found: Counter[str] = Counter()
    for question, corpus in each_question(sets["needles"]):
        ((span,),) = question.gold[0]
        depth = span.start / len(corpus.text(span.source))
        assert abs(depth - float(tagged(question, "depth"))) < 0.2
        found[tagged(question, "overlap")] += 1
    assert found == {"yes": 12, "name": 4, "no": 8}


def test_depths_and_lengths_can_be_chosen() -> None:
    family = Needles(depths=(0.5,), lengths=(9,))
    for draft in family.drafts(Order(questions=12, characters=9_000)):
        for question in draft.questions:
            assert {"depth:0.5", "length:9"} <= set(question.tags)
            ((source, start, _),) = question.places
            (text,) = (str(d.content) for d in draft.documents if d.name == source)
            assert 0.3 < start / len(text) < 0.7
            paragraph = text[: text.index("\n\n", start)].rpartition("\n\n")[2]
            assert len(re.findall(r"[.;?。](?:\s|$|(?=[^\s.]))", paragraph)) >= 10


@pytest.mark.parametrize("topic", TOPICS, ids=[each.name for each in TOPICS])
def test_an_oblique_needle_shares_no_word_with_its_question(topic) -> None:
    """Neither a word nor its stem; in Chinese no two characters in a row."""
    told = tell(topic, Chance(1), Names(Chance(1)), said="oblique")
    assert not pieces_of(told.statement) & pieces_of(told.question)
    plain = tell(topic, Chance(1), Names(Chance(1)))
    assert pieces_of(plain.statement) & pieces_of(plain.question)


_COMMON = frozenset(
    re.findall(
        r"\w+", "what is the of who which how for to in by on at i my do we our when where it a"
    )
)


def pieces_of(text: str) -> set[str]:
    """Words by their first five letters; pairs of Chinese characters."""
    words = {w[:5] for w in re.findall(r"[a-z]+", text.lower()) if w not in _COMMON}
    return words | {a + b for a, b in pairwise(text) if min(a, b) > "一"}


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


def test_pairs_are_found_again_in_the_register(sets: dict[str, Built]) -> None:
    for question, corpus in each_question(sets["pairwise"]):
        things: dict[str, set[str]] = defaultdict(set)
        for source in corpus.sources:
            for line in corpus.text(source.id).splitlines():
                _, guest, thing, _ = line.split(" | ")
                things[thing.removeprefix("received ")].add(guest.removeprefix("guest "))
        asked = sorted((t for t in things if t in question.question), key=question.question.index)
        first = things[asked[0]]
        if len(asked) == 1:
            pairs = {f"{a} & {b}" for a, b in combinations(sorted(first), 2)}
        else:
            pairs = {" & ".join(sorted((a, b))) for a in first for b in things[asked[1]] if a != b}
        told = set(question.answer.values)
        assert told == (pairs if question.answer.type == "set" else {str(len(pairs))})
        assert len(question.gold) == len(pairs)


def test_what_holds_in_a_conflict_stands_in_the_later_document(sets: dict[str, Built]) -> None:
    sorts = Counter(tagged(q, "conflict") for q, _ in each_question(sets["conflicts"]))
    assert sorts == {"dated": 4, "stale": 4, "retraction": 4, "open": 4}
    for question, _ in each_question(sets["conflicts"]):
        spans = [span for fact in question.gold for each in fact for span in each]
        values = (*question.answer.values, *question.answer.accepted)
        late = max(spans, key=lambda span: span.source[:10])
        assert any(value in late.quote for value in values)
        if tagged(question, "conflict") != "open":
            early = min(spans, key=lambda span: span.source[:10])
            assert not any(value in early.quote for value in question.answer.accepted)
            assert early.source[:10] < late.source[:10]


def test_a_twin_lacks_the_gold_and_nothing_else(sets: dict[str, Built]) -> None:
    made, corpora = sets["unanswerable"]
    by_id = {each.id: each for each in made.questions}
    hows: Counter[str] = Counter()
    for twin in made.questions:
        if twin.answerable:
            continue
        original = by_id[tagged(twin, "twin")]
        assert twin.question == original.question
        ((span,),) = original.gold[0]
        now, before = corpora[twin.corpus], corpora[original.corpus]
        how = tagged(twin, "unanswerable")
        hows[how] += 1
        texts = {each.id: now.text(each.id) for each in now.sources if each.readable}
        assert not any(span.quote in text for text in texts.values())
        for source in before.sources:
            if source.id != span.source:
                assert texts[source.id] == before.text(source.id)
        if how == "removed":
            cut = before.partitions()
            part = cut.partition_of(cut.span_at(span.source, span.start).id)
            whole = before.text(span.source)
            assert texts.get(span.source, "") == whole[: part.start] + whole[part.end :]
        else:
            hidden = now.source(f"{span.source}.pdf")
            assert not hidden.readable
            assert hidden.text_expected
        assert set(twin.required_partitions) == {p.id for p in now.partitions().partitions}
    assert hows["removed"] > 0
    assert hows["unreadable"] > 0


def test_attacks_stand_in_the_text_and_are_not_the_answer(sets: dict[str, Built]) -> None:
    sorts: set[str] = set()
    for question, corpus in each_question(sets["adversarial"]):
        sorts.add(tagged(question, "attack"))
        forged = tagged(question, "forged")
        texts = [corpus.text(each.id) for each in corpus.sources]
        assert any(forged in text for text in texts)
        assert forged not in (*question.answer.values, *question.answer.accepted)
        copies = sum(text.count(question.gold[0][0][0].quote) for text in texts)
        assert copies == len(question.gold[0])
    assert sorts == {"injection", "forged_output", "forged_ids", "repeated"}


def test_files_of_ones_own_carry_needles_and_are_otherwise_unchanged(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = "第一行\r\nsecond line\r\n" * 200
    (own / "notes.txt").write_bytes(text.encode())
    made, corpora = built("needles", Order(questions=6, over=(own,)), tmp_path / "set")
    assert lint(made, corpora) == []
    (corpus,) = corpora.values()
    left = corpus.text("notes.txt")
    planted_lines = [
        line for line in left.split("\r\n") if line not in ("第一行", "second line", "")
    ]
    assert len(planted_lines) == 6
    assert left.count("第一行\r\n") == 200


def test_counts_over_ones_own_files_are_what_their_lines_say(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    lines = [
        f"2026-01-{1 + n % 28:02} 0{n % 10}:15:00 {'engine' if n % 3 else 'wheels'} {n}"
        for n in range(90)
    ]
    (own / "a.log").write_text("\n".join(lines))
    made, corpora = built("aggregation", Order(questions=6, over=(own,)), tmp_path / "set")
    assert lint(made, corpora) == []
    for question in made.questions:
        word = "engine" if "engine" in question.question else "wheels"
        hits = [line for line in lines if word in line]
        expected = {
            "count": str(len(hits)),
            "first": min(line[:19] for line in hits).replace(" ", "T"),
            "last": max(line[:19] for line in hits).replace(" ", "T"),
        }
        assert question.answer.values == (expected[tagged(question, "aggregate")],)


def test_a_log_of_any_size_has_the_lines_that_its_records_say() -> None:
    made = log(Chance(3), 300_000)
    starts = made.records.start.tolist()
    quotes = made.records.text.to_pylist()
    for code, document in enumerate(made.documents):
        text = str(document.content)
        rows = [row for row, source in enumerate(made.records.source.tolist()) if source == code]
        assert text == "".join(quotes[row] + "\n" for row in rows)
        assert all(text.startswith(quotes[row], starts[row]) for row in rows)


LOGHUB = Path(__file__).parents[2].parent / "shared" / "data" / "loghub_2k"


@pytest.mark.skipif(not LOGHUB.is_dir(), reason="../shared/data/loghub_2k is not there")
@pytest.mark.parametrize("family", ["needles", "aggregation", "adversarial", "unanswerable"])
def test_real_logs_can_stand_in_for_generated_text(family: str, tmp_path: Path) -> None:
    """CRLF files with trailing spaces; what was counted is counted again here."""
    logs = tuple(LOGHUB / f"{name}_2k.log" for name in ("Linux", "HDFS"))
    order = Order(questions=4, over=logs, characters=120_000)
    made, corpora = built(family, order, tmp_path)
    assert lint(made, corpora) == []
    for question, corpus in each_question((made, corpora)):
        if tagged(question, "aggregate") == "count":
            word = re.findall(r'"([^"]+)"', question.question)[-1]
            lines = (line for s in corpus.sources for line in corpus.text(s.id).split("\n"))
            assert question.answer.values == (str(sum(word in line for line in lines)),)


def test_samples_and_handbooks_can_stand_in_too(tmp_path: Path) -> None:
    order = Order(questions=8, over=(samples_path("minutes"), samples_path("handbook")))
    for family in ("conflicts", "needles", "adversarial"):
        made, corpora = built(family, order, tmp_path / family)
        assert lint(made, corpora) == []
        assert all(
            "minutes/2026-01-12-platform-weekly.md" in {s.id for s in c.sources}
            for c in corpora.values()
        )
