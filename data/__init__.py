"""The text: sources, spans, partitions and search."""
