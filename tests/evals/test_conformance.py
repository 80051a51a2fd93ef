"""FEVER and HotpotQA: the same numbers where the definitions are the same, and where ours is stricter, by how much."""

import gzip
import json
import random
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import pytest

from evals import metrics
from evals.abstention import f1
from evals.metrics import UNDEFINED, Checked, Ratio, checked
from evals.texts import PlainTexts
from tests.evals.oracle import DATA
from tests.evals.samples import Cite

FEVER = DATA / "fever_scorer"
HOTPOT = DATA / "hotpotqa_distractor_100" / "hotpotqa_distractor_100.jsonl"
needs_fever = pytest.mark.skipif(not FEVER.exists(), reason="no ../shared/data/fever_scorer")
needs_hotpot = pytest.mark.skipif(not HOTPOT.exists(), reason="no ../shared/data/hotpotqa")

OFFICIAL = {
    "strict": 0.32573257325732574,
    "accuracy": 0.5208520852085209,
    "precision": 0.1043804380438068,
    "recall": 0.44224422442244227,
    "f1": 0.1688970477815144,
}
"""What the scorer itself (sheffieldnlp/fever-scorer @ 4801615) says of this fixture."""
FIRST = 5
"""Predictions that the scorer looks at."""


class Sentences:
    """Texts of which only the sentence numbers are known: a character stands for a sentence."""

    def characters(self, source: str) -> int | None:
        return 1_000_000

    def slice(self, source: str, start: int, end: int) -> str:
        raise AssertionError("no quote is given")


def sentence(title: str, number: int) -> Cite:
    return Cite(title, number, number + 1)


def cited(predicted: Iterable[Sequence[Any]]) -> tuple[Checked, ...]:
    return checked((sentence(title, number) for title, number in predicted), Sentences())


def groups(actual: dict[str, Any]) -> list[list[list[Cite]]]:
    """The evidence of a claim as one fact, of which any one group suffices; none where there is not enough."""
    if actual["label"] == "NOT ENOUGH INFO":
        return []
    return [[[sentence(each[2], each[3]) for each in group] for group in actual["evidence"]]]


def fever() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    packed = [(FEVER / f"{name}.jsonl.gz").read_bytes() for name in ("predictions", "actual")]
    predicted, actual = (gzip.decompress(each).decode().splitlines() for each in packed)
    return [(json.loads(a), json.loads(b)) for a, b in zip(predicted, actual, strict=True)]


@needs_fever
def test_the_fever_scorer_is_reproduced() -> None:
    """A claim is a question of one fact, a group an alternative, and tau is 1.

    The same are label accuracy, the strict score and recall. Precision is stricter here in one point: where nothing is
    predicted, the scorer says 1, and we say undefined. Two claims of the fixture are of that kind.
    """
    strict, right, recalls, precisions = [], [], [], []
    for predicted, actual in fever():
        found, gold = cited(predicted["predicted_evidence"][:FIRST]), groups(actual)
        hit = metrics.evidence_hit(found, gold, tau=1)
        right.append(predicted["predicted_label"] == actual["label"])
        strict.append(right[-1] and hit.value in (None, 1))
        if gold:
            recalls.append(hit)
            precisions.append(metrics.citation_precision(found, gold, tau=1))
    recall = Ratio(sum(each.num for each in recalls), len(recalls))
    defined = [each.value for each in precisions if each.value is not None]
    undefined = len(precisions) - len(defined)
    assert fmean(right) == OFFICIAL["accuracy"]
    assert fmean(strict) == OFFICIAL["strict"]
    assert recall.value == OFFICIAL["recall"]
    theirs = Ratio(sum(defined) + undefined, len(precisions))
    assert undefined == sum(not p["predicted_evidence"] for p, a in fever() if groups(a)) == 2
    assert theirs.value == pytest.approx(OFFICIAL["precision"], abs=1e-12)
    assert fmean(defined) < OFFICIAL["precision"]
    assert f1(theirs, recall) == pytest.approx(OFFICIAL["f1"], abs=1e-12)


def test_where_the_fever_scorer_fails_nothing_fails_here() -> None:
    """Its F1 is a ZeroDivisionError where precision and recall are 0, its precision 1.0 where nothing is predicted, and
    a sentence that is predicted twice counts twice (2 of 3)."""
    gold = [[[sentence("a", 0)]]]
    assert f1(Ratio(0, 4), Ratio(0, 4)) == 0.0
    assert f1(UNDEFINED, Ratio(0, 4)) is None
    assert metrics.citation_precision(cited([]), gold, tau=1) == UNDEFINED
    twice = cited([("a", 0), ("a", 0), ("b", 1)])
    assert metrics.citation_precision(twice, gold, tau=1) == Ratio(1, 2)


@needs_hotpot
def test_the_supporting_facts_of_hotpotqa_are_reproduced() -> None:
    """Each supporting sentence is a fact; over the real text, in characters, with quotes.

    Precision, recall, F1 and exact match of sentences are the same for any prediction that has at least one sentence.
    Without one, theirs are 0 (and with no gold either, exact match 1 beside F1 0); ours are undefined, beside a recall
    of 0 and the flag `answered_without_citation`.
    """
    chance = random.Random(0)
    for line in HOTPOT.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        titles, paragraphs = row["context"]["title"], row["context"]["sentences"]
        texts = {t: "".join(each) for t, each in zip(titles, paragraphs, strict=True)}
        places = {
            (title, number): place
            for title, sentences in zip(titles, paragraphs, strict=True)
            for number, place in enumerate(_places(title, sentences))
        }
        named = zip(
            row["supporting_facts"]["title"], row["supporting_facts"]["sent_id"], strict=True
        )
        gold = {each for each in named if each in places}
        wrong = [each for each in places if each not in gold]
        predicted = set(chance.sample(sorted(gold), chance.randint(0, len(gold))))
        predicted |= set(chance.sample(wrong, chance.randint(0, 3)))
        found = checked((places[each] for each in predicted), PlainTexts(texts))
        facts = [[[places[each]]] for each in gold]
        precision = metrics.citation_precision(found, facts, tau=1)
        recall = metrics.evidence_recall(found, facts)
        hit = metrics.evidence_hit(found, facts, tau=1)
        both = len(gold & predicted)
        assert recall == hit == Ratio(both, len(gold))
        if not predicted:
            assert precision == UNDEFINED
            continue
        assert precision == Ratio(both, len(predicted))
        dice = 2 * both / (len(gold) + len(predicted))
        assert f1(precision, recall) == pytest.approx(dice)
        assert (precision.value == recall.value == 1) == (gold == predicted)


def _places(title: str, sentences: Sequence[str]) -> Iterable[Cite]:
    start = 0
    for text in sentences:
        yield Cite(title, start, start + len(text), text)
        start += len(text)
