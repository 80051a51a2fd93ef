"""The sample texts that ship with the project, and gold questions about them."""

from importlib.resources import files
from pathlib import Path

from data.samples.question import GoldSpan, SampleQuestion

__all__ = ["GoldSpan", "SampleQuestion", "questions", "samples_path"]


def samples_path(name: str = "") -> Path:
    """Where a sample (`incident`, `minutes`, `handbook`) lies; FileNotFoundError if nowhere."""
    path = Path(str(files("data.samples"))) / name
    if not path.exists():
        raise FileNotFoundError(f"no sample named {name!r} in {path.parent}")
    return path


def questions() -> list[SampleQuestion]:
    """All gold questions, in the order of questions.jsonl."""
    lines = samples_path("questions.jsonl").read_text(encoding="utf-8").split("\n")
    return [SampleQuestion.model_validate_json(line) for line in lines if line]
