"""Partitioning of a corpus into partitions and spans."""

from data.partition.build import PARTITIONERS, build_partitioning
from data.partition.partitioner import Partitioner, Segment
from data.partition.partitioning import Partitioning
from data.partition.storage import load_partitioning, save_partitioning

__all__ = [
    "PARTITIONERS",
    "Partitioner",
    "Partitioning",
    "Segment",
    "build_partitioning",
    "load_partitioning",
    "save_partitioning",
]
