"""Generated sets: gold that is exact by construction, the same for the same seed, and every truth found out again."""

from collections import Counter, defaultdict
from itertools import combinations

import pytest

from data.sets.drafts import Draft, Order
from data.sets.generators import FAMILIES
from data.sets.generators.chance import Chance
from data.sets.lint import lint
from tests.data.generators_desk import Built, each_question, tagged


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
