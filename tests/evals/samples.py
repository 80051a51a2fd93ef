"""Questions, answers and a corpus to score, with what a test does not care about filled in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.corpus import Corpus, open_corpus
from data.questions import GoldSpan, Question, TypedAnswer
from evals.score import SampleScore, score
from programs.answer import Answer, Characters, Coverage, Receipt
from runtime.claims import Citation, Claim

NOTES = "Pump A ran for 7 hours.\nPump B ran for 12 hours.\nNobody checked pump C.\n"
DIARY = "第一天：水泵坏了😀。\r\n2026-03-10 the pump was replaced.\r\n"


@dataclass(frozen=True)
class Cite:
    """A citation as a program might emit it."""

    source: str
    start: int
    end: int
    quote: str | None = None


def pumps(folder: Path) -> Corpus:
    """A corpus of two short texts, with Chinese, an emoji and CRLF."""
    root = folder / "pumps"
    root.mkdir(parents=True)
    (root / "notes.txt").write_bytes(NOTES.encode())
    (root / "diary.txt").write_bytes(DIARY.encode())
    return open_corpus([root], store=folder / "store")


def span(corpus: Corpus, source: str, quote: str) -> GoldSpan:
    """Where a text first stands in a source."""
    start = corpus.text(source).index(quote)
    return GoldSpan(source=source, start=start, end=start + len(quote), quote=quote)


def citation(at: GoldSpan, **changed: Any) -> Citation:
    """A citation of a stretch; a test may change it to what verification would never make."""
    values = {"source": at.source, "start": at.start, "end": at.end, "quote": at.quote}
    values |= {"line_start": 1, "line_end": 1, "span_id": "0" * 12, "verdict": "verbatim"}
    return Citation(**{**values, **changed})


def claim(text: str, *cited: GoldSpan | Citation, **fields: Any) -> Claim:
    """A claim with citations."""
    made = tuple(each if isinstance(each, Citation) else citation(each) for each in cited)
    return Claim(**{"id": text, "text": text, "status": "direct", "citations": made, **fields})


def question(
    type: str = "string",
    *values: str,
    gold: Iterable[Iterable[Sequence[GoldSpan]]] = (),
    **fields: Any,
) -> Question:
    """A question with gold: facts of alternatives of spans."""
    facts = tuple(tuple(tuple(alternative) for alternative in fact) for fact in gold)
    accepted = tuple(fields.pop("accepted", ()))
    made = {
        "id": "q1",
        "question": "How long?",
        "corpus": "pumps",
        "kind": "lookup" if type != "none" else "unanswerable",
        "gold": facts,
        "answer": TypedAnswer.model_validate(
            {"type": type, "values": values, "accepted": accepted}
        ),
        "answerable": type != "none",
    }
    return Question.model_validate({**made, **fields})


def answer(*claims: Claim, **fields: Any) -> Answer:
    """An answer of these claims: complete, free, and typed by nothing."""
    reach = fields.pop("coverage", {})
    cost = fields.pop("receipt", {})
    made = {
        "text": "\n".join(each.text for each in claims),
        "value": None,
        "outcome": "answered" if claims else "not_found",
        "claims": claims,
        "conflicts": (),
        "unknowns": (),
        "warnings": (),
        "coverage": coverage(**reach),
        "receipt": receipt(**cost),
        "steps": (),
        "degraded": False,
        "run_id": "run",
        "corpus_version": "v",
        "question": "How long?",
        "kind": "lookup",
        "program": "test",
    }
    return Answer(**{**made, **fields})


def coverage(**fields: Any) -> Coverage:
    """Everything examined: two partitions of two."""
    made = {"required": ("p1", "p2"), "completed": ("p1", "p2"), "failed": (), "unread": ()}
    made |= {"unparsed": (), "searches": (), "truncations": (), "partitions": 2}
    made["characters"] = Characters(total=100, read=100, shown=50, cited=10)
    return Coverage(**{**made, **fields})


def receipt(**fields: Any) -> Receipt:
    """Three calls that cost nothing."""
    made = {"model": "m", "leaf_model": "m", "calls": 3, "cached_calls": 0, "failed_calls": 0}
    made |= {"input_tokens": 100, "output_tokens": 10, "cost_usd": 0.0, "wall_seconds": 1.5}
    made |= {"max_depth": 0, "retries": 0, "sandbox_seconds": 0.0}
    return Receipt(**{**made, **fields})


def judged(type: str, values: Sequence[str], *said: str, **fields: Any) -> SampleScore:
    """The score of what was said (or of a typed `value`), where the gold answer is `values`; no corpus is needed."""
    asked = question(type, *values, accepted=fields.pop("accepted", ()))
    return score(asked, answer(*map(claim, said), outcome="answered", **fields), _NO_CORPUS)


class _NoCorpus:
    """A corpus without sources."""

    sources = ()


_NO_CORPUS: Any = _NoCorpus()
