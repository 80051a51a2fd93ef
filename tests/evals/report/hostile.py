"""A set whose texts, questions and ids try to break out of a report, evaluated by real programs."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.corpus import Corpus, open_corpus
from data.questions import CorpusEntry, GoldSpan, Question, QuestionSet, TypedAnswer
from data.sets.storage import save_set
from evals.executor import Factory
from evals.log import EvalLog
from evals.manifest import Notes
from evals.report import rendered, report_of
from evals.run import Conduct, Plan, evaluate
from evals.tolerance import Tolerance
from programs.answer import Answer
from programs.baselines import Direct
from programs.recursive import Recursive
from programs.route import Auto
from runtime.claims import Citation
from runtime.models.make import make_lm
from tests.evals.samples import answer, claim
from tests.evals.small_set import Told

ATTACKS = (
    "<script>window.owned = 1; document.title = 'owned'</script>",
    '<img src=x onerror="window.owned = 2">',
    "</blockquote></article><iframe src='http://evil.example/'></iframe>",
    '"\'><a href="http://evil.example/" onclick="window.owned = 3">click</a>',
    "<style>body { display: none }</style><link rel=stylesheet href=http://evil.example/x.css>",
    "{{ 7 * 191 }}{% raw %}<svg/onload=window.owned=4>&lt;b&gt;",
    "<!-- ]]> --><meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "\x1b[31m \u202e reversed \U000e0041 水泵 😀 &amp; \u0085",
)
"""Each stands in the corpus right beside gold."""

_DAYS = ("monday", "tuesday", "wednesday")


@dataclass(frozen=True)
class Evaluated:
    """A set with its log."""

    made: QuestionSet
    folder: Path
    store: Path
    corpus: Corpus
    log: EvalLog

    def html(self, **given: Any) -> str:
        """The report."""
        return rendered(*report_of([self.log], self.made, lambda _: self.corpus, **given))


def hostile(folder: Path) -> Evaluated:
    """The set, evaluated by three programs, one that says what it is told and one that fails on everything."""
    files = folder / "set" / "corpora" / "notes"
    files.mkdir(parents=True)
    for at, day in enumerate(_DAYS):
        (files / f"{day} & <i>.log").write_text(_text(day, at), encoding="utf-8", newline="")
    corpus = open_corpus([files], store=folder / "store")
    entry = CorpusEntry(name="notes", paths=("corpora/notes",), version=corpus.version)
    questions = tuple(_questions(corpus))
    made = QuestionSet(
        name="<u>hostile</u>", made_by="a test", corpora=(entry,), questions=questions
    )
    save_set(made, folder / "set")
    log = asyncio.run(
        evaluate(
            _programs(),
            made,
            lambda _: corpus,
            folder / "log",
            plan=Plan(),
            conduct=Conduct(tolerance=Tolerance(share=1.0)),
            notes=Notes(set_folder=str(folder / "set"), created="2026-03-01T00:00:00Z"),
        )
    )
    return Evaluated(made, folder / "set", folder / "store", corpus, log)


def _programs() -> Mapping[str, Factory]:
    model = make_lm("extractive")

    def crash(question: str, corpus: Corpus) -> Exception:
        return ValueError(f"no: {ATTACKS[0]} in {question}")

    return {
        "direct": lambda: Direct(lm=model),
        "recursive": lambda: Recursive(lm=model),
        "auto": lambda: Auto(lm=model),
        "telling": lambda: Told(_told),
        "crashing": lambda: Told(crash),
    }


def _told(question: str, corpus: Corpus) -> Answer:
    """The line that was asked for with a right, a wrong and a broken citation; otherwise nothing."""
    found = re.search(r"Pump (\w+)-\d+", question)
    if found is None:
        return answer(question=question, corpus_version=corpus.version)
    source = f"{found[1]} & <i>.log"
    text = corpus.text(source)
    right = text.index(found[0])
    wrong = text.index(ATTACKS[0])
    places = [(right, right + 34), (wrong, wrong + len(ATTACKS[0]))]
    cited = [
        Citation(
            source=source,
            start=start,
            end=end,
            line_start=1 + text.count("\n", 0, start),
            line_end=1 + text.count("\n", 0, start),
            quote=text[start:end],
            span_id="0" * 12,
            verdict="verbatim",
        )
        for start, end in places
    ]
    broken = cited[1].model_copy(update={"quote": f"never said {ATTACKS[0]}"})
    return answer(
        claim(f"{text[right : right + 34]} {ATTACKS[0]}", *cited),
        claim(f"It says {ATTACKS[1]}", broken, status="inferred"),
        question=question,
        corpus_version=corpus.version,
        warnings=(ATTACKS[2],),
        unknowns=(ATTACKS[3],),
        route=ATTACKS[5],
    )


def _text(day: str, at: int) -> str:
    """Lines about pumps, an attack between each two."""
    lines = []
    for number, attack in enumerate(ATTACKS):
        lines.append(attack)
        lines.append(f"Pump {day}-{number} delivered {100 + 10 * at + number} liters. {attack}")
    return "\n".join(lines) + "\n"


def _questions(corpus: Corpus) -> list[Question]:
    asked = [
        ("monday", 0),
        ("monday", 3),
        ("tuesday", 3),
        ("tuesday", 7),
        ("wednesday", 0),
        ("wednesday", 7),
    ]
    made = [_lookup(corpus, day, number) for day, number in asked]
    made.append(_count(corpus))
    made.append(_absence())
    return made


def _lookup(corpus: Corpus, day: str, number: int) -> Question:
    source = f"{day} & <i>.log"
    line = next(each for each in corpus.text(source).split("\n") if f"{day}-{number} deliv" in each)
    start, line = corpus.text(source).index(line), line[: line.index("liters.") + len("liters.")]
    span = GoldSpan(source=source, start=start, end=start + len(line), quote=line)
    liters = 100 + 10 * _DAYS.index(day) + number
    return Question(
        id=f'"><b>{day}-{number}</b>',
        question=f'What was delivered by "Pump {day}-{number}"?</p><i>',
        corpus="notes",
        kind="lookup" if number else "adversarial",
        gold=(((span,),),),
        answer=TypedAnswer(type="string", values=(f"{liters} liters",), accepted=("<b>many</b>",)),
        answerable=True,
        documents=(source,),
    )


def _count(corpus: Corpus) -> Question:
    source = "monday & <i>.log"
    text = corpus.text(source)
    spans = []
    at = text.find("Pump monday")
    while at >= 0:
        spans.append(GoldSpan(source=source, start=at, end=at + 11, quote="Pump monday"))
        at = text.find("Pump monday", at + 1)
    return Question(
        id="count",
        question='How many lines mention "Pump monday"?',
        corpus="notes",
        kind="aggregate",
        gold=(tuple((span,) for span in spans),),
        answer=TypedAnswer(type="integer", values=(str(len(spans)),)),
        answerable=True,
        required_partitions=tuple(each.id for each in corpus.partitions().by_source(source)),
        documents=(source,),
    )


def _absence() -> Question:
    return Question(
        id="absence",
        question='Is there any line that mentions "connection refused"?',
        corpus="notes",
        kind="unanswerable",
        gold=(),
        answer=TypedAnswer(type="none"),
        answerable=False,
        documents=("tuesday & <i>.log",),
    )
