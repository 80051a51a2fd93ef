"""The workspace of a run: the corpus as one run sees it, cut into partitions, with its ranker made on demand."""

from collections.abc import Collection
from functools import cached_property

from data.corpus import Corpus
from data.overview import overview
from data.partition import Partitioning
from data.rank import Ranker
from data.span import Partition, Span
from programs.evidence import neutralize
from runtime.errors import NotFound

LEAF_CHARACTERS = 16_000
"""Code points of evidence shown to one leaf call, unless a program is made with another number."""


class Workspace:
    """A corpus under one partitioning. It holds handles and ids, never the text.

    `leaf_characters` is how much of it one leaf call is shown at most (see `programs/readings.py`).
    """

    def __init__(
        self, corpus: Corpus, partitioner: str = "auto", leaf_characters: int = LEAF_CHARACTERS
    ) -> None:
        self.corpus = corpus
        self.leaf_characters = leaf_characters
        self.partitioning: Partitioning = corpus.partitions(partitioner)
        self.source_rank = {source.id: at for at, source in enumerate(corpus.sources)}

    @cached_property
    def ranker(self) -> Ranker:
        """The relevance ranker over all spans, built at its first use."""
        return Ranker(self.corpus, self.partitioning)

    @cached_property
    def partition_ids(self) -> tuple[str, ...]:
        """Ids of all partitions, in the order of the text."""
        return tuple(partition.id for partition in self.partitioning.partitions)

    @cached_property
    def partition_rank(self) -> dict[str, int]:
        """Position of each partition."""
        return {each: at for at, each in enumerate(self.partition_ids)}

    def overview(self, targets: Collection[str] = ()) -> str:
        """What a planner sees of the corpus, limited to the sources of `targets`."""
        sources = self.sources_of(targets) if targets else None
        return neutralize(overview(self.corpus, self.partitioning, sources=sources))

    def known(self, target: str) -> bool:
        """Whether a target names a source or a partition."""
        return target in self.source_rank or target in self.partition_rank

    def partitions_of(self, targets: Collection[str]) -> tuple[Partition, ...]:
        """The partitions that source ids and partition ids name, in order; all for an empty collection."""
        if not targets:
            return self.partitioning.partitions
        chosen = set()
        for target in targets:
            if target in self.partition_rank:
                chosen.add(target)
            elif target in self.source_rank:
                chosen.update(each.id for each in self.partitioning.by_source(target))
            else:
                raise NotFound(
                    f"no source, partition or earlier step is called {target!r}; "
                    "without targets a step works on the whole corpus"
                )
        ordered = sorted(chosen, key=self.partition_rank.__getitem__)
        return tuple(self.partitioning.partition(each) for each in ordered)

    def sources_of(self, targets: Collection[str]) -> set[str]:
        """The sources that the targets lie in."""
        return {partition.source for partition in self.partitions_of(targets)}

    def partition_of(self, span: Span) -> str:
        """The id of the partition that a span belongs to."""
        return self.partitioning.partition_of(span.id).id
