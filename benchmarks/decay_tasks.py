"""Tasks with one answer at a known place: a key among keys, and a needle in a long text.

The data (Lost in the Middle, chunking_evaluation) is not part of the repository.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

Place = Literal["start", "middle", "end"]
PLACES: tuple[Place, ...] = ("start", "middle", "end")

TASKS = 250
KEYS = (75, 300, 1_200, 4_800)
"""Sizes of the key tasks, in keys; the first is that of the data set."""
DEPTHS = tuple(range(0, 101, 10))
"""Where a needle is planted, in percent of the text before it."""
CORPORA = ("state_of_the_union", "wikitexts", "pubmed")
"""By length."""

_NEEDLES = (
    ("The maintenance password of the Ganymede gate is {}.", "7F-93-KQ"),
    ("The lighthouse keeper of Varnholm hides the spare lantern key under stone {}.", "K-4471"),
    ("The catalog number of the obsidian astrolabe is {}.", "OA-20-588"),
    ("The courier to Tessaly Harbor wears badge {}.", "TH-0931"),
    ("The recipe for quillberry marmalade is filed as card {}.", "QM-617-B"),
)
_QUESTIONS = (
    "What is the maintenance password of the Ganymede gate?",
    "Under which stone does the lighthouse keeper of Varnholm hide the spare lantern key?",
    "What is the catalog number of the obsidian astrolabe?",
    "Which badge does the courier to Tessaly Harbor wear?",
    "As which card is the recipe for quillberry marmalade filed?",
)
NEEDLES = len(_NEEDLES)
_BOUNDARY = re.compile(r"(?<=[.!?]) (?=[A-Z])|\n")


@dataclass(frozen=True)
class Task:
    """One file with one answer in it: its text has `value` at `start`, and nowhere else."""

    setting: str
    place: Place
    file: str
    text: str
    question: str
    value: str
    start: int

    def __post_init__(self) -> None:
        if self.text.find(self.value) != self.start or self.text.count(self.value) != 1:
            raise ValueError(f"{self.value!r} does not stand at {self.start} of {self.file} alone")

    @property
    def end(self) -> int:
        """Where the value ends."""
        return self.start + len(self.value)


@dataclass(frozen=True)
class Sketch:
    """A task that is not made yet: so that a few numbers are handed to a worker, and not its text."""

    setting: str
    index: int
    place: int
    size: int = 0
    corpus: str = ""
    depth: int = 0


def sketches(tasks: int, needles: int, seed: int) -> list[Sketch]:
    """All key tasks of the size of the data set, `tasks` of each other size, and needles at every depth of each corpus.

    Start, middle and end take turns over the key tasks; for a needle they are depths to 30, 60 and 100 %.
    """
    picked = list(range(TASKS))
    random.Random(seed).shuffle(picked)
    wanted = dict.fromkeys(KEYS, tasks) | {KEYS[0]: TASKS}
    keyed = [
        Sketch(f"{size:,} keys", index, place=at % 3, size=size)
        for size in KEYS
        for at, index in enumerate(picked[: wanted[size]])
    ]
    planted = [
        Sketch(corpus, index, place=min(2, depth * 3 // 100), corpus=corpus, depth=depth)
        for corpus in CORPORA
        for depth in DEPTHS
        for index in range(needles)
    ]
    return keyed + planted


def made(sketch: Sketch, folder: Path, seed: int) -> Task:
    """The task of a sketch, from the data in `folder`."""
    return _planted(sketch, folder) if sketch.corpus else _keyed(sketch, folder, seed)


# A key among keys.


@cache
def key_tasks(folder: Path) -> list[dict[str, Any]]:
    """The 250 tasks of Lost in the Middle: records in order, a key, its value."""
    path = folder / "lost_in_the_middle" / "kv-retrieval-75_keys.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _keyed(sketch: Sketch, folder: Path, seed: int) -> Task:
    """The records of a task, and of others up to the size, as a JSON file; the record asked for is moved to its place.

    The start, the middle and the end are a tenth of the records each; where in it is drawn.
    """
    tasks = key_tasks(folder)
    task = tasks[sketch.index]
    dice = random.Random(f"{seed} {sketch}")
    key, value = task["key"], task["value"]
    records = [pair for pair in _records(tasks, sketch.index, sketch.size) if pair[0] != key]
    width = max(1, sketch.size // 10)
    first = (0, (sketch.size - width) // 2, sketch.size - width)[sketch.place]
    records.insert(first + dice.randrange(width), (key, value))
    text = json.dumps(dict(records), indent=2) + "\n"
    return Task(
        setting=sketch.setting,
        place=PLACES[sketch.place],
        file="records.json",
        text=text,
        question=f'What is the value of the key "{key}"?',
        value=value,
        start=text.index(value),
    )


def _records(tasks: Sequence[dict[str, Any]], index: int, size: int) -> list[tuple[str, str]]:
    """The first `size` different records, from the task at `index` on."""
    found: dict[str, str] = {}
    for at in range(len(tasks)):
        for key, value in tasks[(index + at) % len(tasks)]["ordered_kv_records"]:
            found.setdefault(key, value)
            if len(found) == size:
                return list(found.items())
    raise ValueError(f"the data set has only {len(found)} records")


# A needle in a text.


@cache
def _text(folder: Path, corpus: str) -> str:
    path = folder / "chunking_evaluation" / "corpora" / f"{corpus}.md"
    return path.read_bytes().decode("utf-8")


def _planted(sketch: Sketch, folder: Path) -> Task:
    """A made-up fact as a sentence of its own, at the boundary closest to its depth."""
    text = _text(folder, sketch.corpus)
    sentence, value = _NEEDLES[sketch.index]
    planted, start = plant(text, sentence.format(value), sketch.depth)
    return Task(
        setting=sketch.setting,
        place=PLACES[sketch.place],
        file=f"{sketch.corpus}.md",
        text=planted,
        question=_QUESTIONS[sketch.index],
        value=value,
        start=start + sentence.index("{}"),
    )


def plant(text: str, sentence: str, depth: int) -> tuple[str, int]:
    """The text with a sentence put in at the boundary closest to `depth` percent, and the offset of the sentence.

    A boundary is a line break or the space between two sentences, or an end of the text.
    """
    wanted = len(text) * depth / 100
    at = min(_boundaries(text), key=lambda place: abs(place - wanted))
    before, after = text[:at], text[at:]
    lead = "" if not before or before[-1].isspace() else "\n"
    inline = before[-1:] == " " and after[:1] != "\n"
    tail = "" if not after else " " if inline else "\n"
    return f"{before}{lead}{sentence}{tail}{after}", at + len(lead)


def _boundaries(text: str) -> Iterator[int]:
    yield 0
    for found in _BOUNDARY.finditer(text):
        yield found.end()
    yield len(text)
