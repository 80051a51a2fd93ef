"""Clusters: which samples are resampled together, because they are about the same documents."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol


class Rooted(Protocol):
    """A sample with the documents that it rests on; without any, it rests on its whole corpus."""

    @property
    def question_id(self) -> str: ...
    @property
    def corpus(self) -> str: ...
    @property
    def documents(self) -> tuple[str, ...]: ...


def clusters(samples: Iterable[Rooted]) -> dict[str, str]:
    """The cluster of each question by its id: questions that share a document, directly or through others, are in one.

    A question about the whole of a corpus joins all questions of that corpus. A cluster is named by its first
    document, so that the order of samples has no influence.
    """
    rows = {each.question_id: (each.corpus, each.documents) for each in samples}
    whole = {corpus for corpus, documents in rows.values() if not documents}
    roots: dict[str, str] = {}
    names: dict[str, str] = {}
    for question, (corpus, documents) in rows.items():
        keys = [corpus] if corpus in whole else [f"{corpus}/{each}" for each in documents]
        names[question] = keys[0]
        for key in keys:
            _join(roots, keys[0], key)
    return {question: _root(roots, key) for question, key in names.items()}


def grouped(
    samples: Iterable[tuple[str, float]], cluster_of: Mapping[str, str]
) -> dict[str, list[float]]:
    """Values of questions by cluster."""
    found: dict[str, list[float]] = defaultdict(list)
    for question, value in samples:
        found[cluster_of[question]].append(value)
    return dict(found)


def _root(roots: dict[str, str], key: str) -> str:
    root = key
    while roots.setdefault(root, root) != root:
        root = roots[root]
    while key != root:
        roots[key], key = root, roots[key]
    return root


def _join(roots: dict[str, str], first: str, second: str) -> None:
    """Make two clusters one, named by the smaller of their names."""
    a, b = sorted((_root(roots, first), _root(roots, second)))
    roots[b] = a
