"""Relevance of short texts to a question, by the words that they share and how few of the texts hold them."""

import math
from collections import Counter
from collections.abc import Sequence

from runtime.lexicon import raw_tokens, stems, stems_of


def shared_words(question: str, texts: Sequence[str]) -> list[frozenset[str]]:
    """Which of the question's stems each text holds. Each token is looked at once, however often it recurs."""
    wanted = frozenset(stems(question))
    known: dict[str, frozenset[str]] = {}
    found: list[frozenset[str]] = []
    for text in texts:
        held: set[str] = set()
        for token in raw_tokens(text):
            if token not in known:
                known[token] = wanted.intersection(stems_of(token))
            held |= known[token]
        found.append(frozenset(held))
    return found


def shares(question: str, texts: Sequence[str]) -> list[float]:
    """How much of the question each text holds, its words weighted by how few of the texts hold them."""
    found = shared_words(question, texts)
    holding = Counter(word for words in found for word in words)
    weight = {word: math.log(1 + (len(texts) + 1) / n) for word, n in holding.items()}
    return [sum(weight[word] for word in words) for words in found]
