"""Offset identity: what becomes of gold when it is cited with offsets of another unit, or of another copy of the text.

The table is that of research/metrics.md, section 0, row 3, which was made on all 472 questions (790 spans) of
chunking_evaluation. The sample has 319 of them (539 spans): the questions on finance and chat logs are missing, because
their texts are. So where a number depends on how far into a text the gold lies, and on what is before it, it is another
one here; what it shows is the same.

    cited are                recall 472 (319)   precision 472 (319)   quote validity
    the gold                 1.000 (1.000)      1.000 (1.000)         1.000
    bytes of UTF-8           0.528 (0.310)            (0.314)         0.000
    a copy with CRLF         0.311 (0.252)            (0.257)         0.000
    one off                  0.992 (0.992)      1.000 (1.000)         0.000
    200 characters wider     1.000 (1.000)      0.209 (0.190)         1.000
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data.corpus import Corpus
from data.questions import GoldSpan, Question, QuestionSet
from data.sets.importers import IMPORTERS
from data.sets.storage import open_set_corpus
from evals.score import SampleScore, score
from tests.evals.samples import answer, citation, claim

SAMPLE = Path(__file__).parents[2].parent / "shared" / "data" / "chunking_evaluation"
pytestmark = pytest.mark.skipif(not SAMPLE.exists(), reason=f"the sample is not at {SAMPLE}")

Shift = Callable[[str, GoldSpan], tuple[int, int]]
SHIFTS: dict[str, Shift] = {
    "gold": lambda text, at: (at.start, at.end),
    "bytes": lambda text, at: (len(text[: at.start].encode()), len(text[: at.end].encode())),
    "crlf": lambda text, at: (
        at.start + text.count("\n", 0, at.start),
        at.end + text.count("\n", 0, at.end),
    ),
    "one off": lambda text, at: (at.start + 1, at.end + 1),
    "wider": lambda text, at: (max(0, at.start - 200), min(len(text), at.end + 200)),
}

Texts = dict[str, tuple[Corpus, str]]


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> tuple[QuestionSet, Texts]:
    """The set as it is imported, and the corpora with their one text."""
    folder = tmp_path_factory.mktemp("chunking")
    store = folder / "store"
    made = IMPORTERS["chunking"](SAMPLE, folder, store=store)
    corpora = {e.name: open_set_corpus(made, folder, e.name, store=store) for e in made.corpora}
    texts = {name: (each, each.text(each.sources[0].id)) for name, each in corpora.items()}
    return made, texts


def spans(question: Question) -> list[GoldSpan]:
    return [span for fact in question.gold for each in fact for span in each]


def scores(made: QuestionSet, texts: Texts, shift: Shift, *, keep: bool) -> Iterator[SampleScore]:
    """Answers that cite the gold at shifted offsets. With `keep` they quote the gold, else what stands there."""
    for question in made.questions:
        corpus, text = texts[question.corpus]
        cited = []
        for span in spans(question):
            start, end = shift(text, span)
            quote = span.quote if keep else text[start:end] or span.quote
            cited.append(citation(span, start=start, end=end, quote=quote))
        yield score(question, answer(claim("It is so.", *cited)), corpus)


def mean(values: list[float | None]) -> float:
    defined = [each for each in values if each is not None]
    assert len(defined) == len(values)
    return round(sum(defined) / len(defined), 3)


def test_the_sample_is_a_part_of_the_set(gold: tuple[QuestionSet, Texts]) -> None:
    made, texts = gold
    assert len(made.questions) == 319
    assert sum(len(spans(each)) for each in made.questions) == 539
    assert sorted(texts) == ["pubmed", "state_of_the_union", "wikitexts"]


@pytest.mark.parametrize(
    ("name", "recall", "hit", "precision"),
    [
        ("gold", 1.0, 1.0, 1.0),
        ("bytes", 0.310, 0.322, 0.314),
        ("crlf", 0.252, 0.264, 0.257),
        ("one off", 0.992, 1.0, 1.0),
        ("wider", 1.0, 1.0, 0.190),
    ],
)
def test_recall_and_precision_of_what_stands_at_the_offsets(
    gold: tuple[QuestionSet, Texts], name: str, recall: float, hit: float, precision: float
) -> None:
    """Citations that quote what they point to: recall alone would not tell wider from gold, nor would hits one off."""
    made, texts = gold
    found = list(scores(made, texts, SHIFTS[name], keep=False))
    assert mean([each.evidence_recall.value for each in found]) == recall
    assert mean([each.evidence_hit.value for each in found]) == hit
    assert mean([each.citation_precision.value for each in found]) == precision


@pytest.mark.parametrize("name", ["bytes", "crlf", "one off", "wider"])
def test_quote_validity_tells_every_one_of_them(gold: tuple[QuestionSet, Texts], name: str) -> None:
    """langextract#334, label-studio#1347: with the quotes of the gold, no shifted citation is valid, and none counts.

    The table measures recall and precision of citations without a quote. With one that does not stand where it is
    said to, a citation is no evidence: they are 0 as well.
    """
    made, texts = gold
    found = list(scores(made, texts, SHIFTS[name], keep=True))
    shifted = [
        all(SHIFTS[name](texts[q.corpus][1], s) != (s.start, s.end) for s in spans(q))
        for q in made.questions
    ]
    wrong = [each for each, moved in zip(found, shifted, strict=True) if moved]
    assert mean([each.quote_validity.value for each in wrong]) == 0
    assert mean([each.citation_precision.value for each in wrong]) == 0
    assert mean([each.evidence_recall.value for each in wrong]) == 0
    assert len(wrong) > 290


def test_the_gold_itself_is_valid(gold: tuple[QuestionSet, Texts]) -> None:
    made, texts = gold
    for each in scores(made, texts, SHIFTS["gold"], keep=True):
        assert each.quote_validity.value == each.citation_validity.value == 1
