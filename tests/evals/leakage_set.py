"""A set of three documents (one of a train question, one of a test question, one of neither), and states with demos."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data.corpus import Corpus, open_corpus
from data.questions import CorpusEntry, GoldSpan, Question, QuestionSet, TypedAnswer
from evals.leakage import Leak, leaks
from programs.program_state import State

SPLITS = {"train": ["q-train"], "validation": [], "test": ["q-test"]}
SHARED = "The harbor of Oldenmark was closed for the winter by order of the council. "


def prose(seed: str, words: int) -> str:
    """Text that no other seed gives."""
    draw = random.Random(seed)
    made = []
    for number in range(words):
        made.append("".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))))
        if number % 11 == 10:
            made[-1] += draw.choice([".\n", ". ", ';\t"', "\\", " [[ ## ", "é,\n\n"])
    return " ".join(made)


@dataclass
class LeakageSet:
    """The set, opened."""

    folder: Path
    train: str = prose("train", 260) + SHARED * 2
    test: str = prose("test", 260) + SHARED * 2
    other: str = prose("other", 400)
    answer: str = "Quartermaster Vex"
    opened: list[Corpus] = field(default_factory=list)

    def __post_init__(self) -> None:
        files = {
            "train.txt": self.train,
            "test.txt": self.test + self.answer,
            "other.txt": self.other,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (self.folder / name).write_bytes(text.encode())
        corpus = open_corpus([self.folder], store=self.folder.parent / "store")
        self.opened.append(corpus)
        questions = (
            self._question("train", "train.txt", self.train[40:90], "Lieutenant Moss"),
            self._question("test", "test.txt", self.test[40:90], self.answer),
        )
        entry = CorpusEntry(name="docs", paths=("docs",), version=corpus.version)
        self.made = QuestionSet(name="s", made_by="a test", corpora=(entry,), questions=questions)

    def _question(self, split: Any, source: str, quote: str, answer: str) -> Question:
        text = self.opened[0].text(source)
        start = text.index(quote)
        span = GoldSpan(source=source, start=start, end=start + len(quote), quote=quote)
        return Question(
            id=f"q-{split}",
            question=f"Who signed the {split}?",
            corpus="docs",
            kind="lookup",
            gold=(((span,),),),
            answer=TypedAnswer(type="string", values=(answer,)),
            answerable=True,
            documents=(source,),
            split=split,
        )

    def corpora(self, name: str) -> Corpus:
        assert name == "docs"
        return self.opened[0]

    def leaks(self, state: State, known: State | None = None) -> list[Leak]:
        return leaks(state, self.made, self.corpora, SPLITS, known=known)

    def kinds(self, state: State) -> set[str]:
        return {each.kind for each in self.leaks(state)}


def spans(*texts: str) -> dict[str, Any]:
    """A demo that shows some texts."""
    shown = [{"span_id": f"{n:012}", "source": "x", "text": text} for n, text in enumerate(texts)]
    return {"augmented": True, "question": "Who?", "spans": shown}


def state(*demos: dict[str, Any], instructions: str = "Answer briefly.") -> State:
    return {"analyze_leaf": {"instructions": instructions, "demos": list(demos)}}


def turns(*texts: str) -> dict[str, Any]:
    """A demo whose texts are JSON within JSON, as a model that drives sees what tools returned."""
    output = json.dumps({"page": json.dumps({"lines": list(texts)})})
    return {"turns": [{"turn": 1, "call": "{}", "output": output}]}
