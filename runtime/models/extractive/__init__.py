"""The embedded default: a deterministic reader that answers from the prompt alone, by words and structure."""
