"""Haystack: texts into which pieces are planted at chosen depths, without changing what was there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data.corpus import open_corpus
from data.sets.drafts import Document, Order
from data.sets.generators.chance import Chance
from data.sets.generators.prose import documents
from runtime.errors import QuestionSetError


@dataclass(frozen=True, slots=True)
class Piece:
    """What is planted: a paragraph, at a depth from 0 (the start of a text) to 1 (its end)."""

    depth: float
    text: str


def planted(text: str, pieces: Sequence[Piece]) -> tuple[str, list[int]]:
    """The text with the pieces in it as paragraphs (lines, where it has no paragraphs), and where each begins."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline * 2 if newline * 2 in text or not text else newline
    borders = _borders(text, gap)
    order = sorted(range(len(pieces)), key=lambda at: (pieces[at].depth, at))
    built: list[str] = []
    starts = [0] * len(pieces)
    length = done = 0
    for at in order:
        border = _nearest(borders, pieces[at].depth * len(text))
        before = text[done:border]
        if before and not before.endswith(("\n", "\r")):
            before += gap
        built += (before, pieces[at].text, gap)
        starts[at] = length + len(before)
        length = starts[at] + len(pieces[at].text) + len(gap)
        done = border
    return "".join([*built, text[done:]]), starts


def haystack(order: Order, chance: Chance, characters: int, language: str) -> list[Document]:
    """Generated documents of a size, or those of one's own, cut to it if it was asked for."""
    if not order.over:
        return documents(chance, order.characters or characters, language)
    found = own_documents(order)
    if order.characters is None:
        return found
    return _cut(found, order.characters)


def own_documents(order: Order) -> list[Document]:
    """The texts of the files of an order. Raises CorpusError if there is nothing to read."""
    corpus = open_corpus(list(order.over), store=order.store)
    readable = [each for each in corpus.sources if each.readable]
    found = [Document(each.id.replace("\\", "_"), corpus.text(each.id)) for each in readable]
    names = {each.name for each in found}
    if len(names) < len(found):
        raise QuestionSetError("two files have the same name", "rename one of them")
    return found


def _cut(found: Sequence[Document], characters: int) -> list[Document]:
    """The first documents, the last of them cut at a line, of so many characters at most."""
    kept: list[Document] = []
    for each in found:
        content = str(each.content)
        if len(content) > characters:
            stop = content.rfind("\n", 0, characters) + 1
            content = content[: stop or characters]
        if content:
            kept.append(Document(each.name, content))
        characters -= len(content)
        if characters <= 0:
            break
    return kept


def _borders(text: str, gap: str) -> list[int]:
    """Where a paragraph begins, the start and the end of the text included."""
    borders = [0]
    at = text.find(gap)
    while at >= 0:
        borders.append(at + len(gap))
        at = text.find(gap, at + len(gap))
    return borders if borders[-1] == len(text) else [*borders, len(text)]


def _nearest(borders: Sequence[int], offset: float) -> int:
    at = int(np.searchsorted(borders, offset))
    near = borders[max(0, at - 1) : at + 1]
    return min(near, key=lambda each: abs(each - offset))
