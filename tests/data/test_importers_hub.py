"""Rows of a hub: they are converted like those of a file, and data that is more than rows is refused."""

from pathlib import Path
from typing import Any

import pytest

from data.sets.importers import IMPORTERS
from runtime.errors import QuestionSetError
from tests.data.importers_desk import gold, hotpot


def test_data_that_is_more_than_rows_is_not_read_from_a_hub(tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError, match="not read from a hub"):
        IMPORTERS["loghub"](Path("hub:logpai/loghub"), tmp_path / "set")


def test_rows_of_a_hub_are_converted_like_those_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub stands for `datasets.load_dataset`, which takes the name, the configuration and the split."""
    import datasets

    asked: list[tuple[Any, ...]] = []

    def load(path: str, name: str | None, *, split: str | None, streaming: bool) -> Any:
        asked.append((path, name, split, streaming))
        return datasets.Dataset.from_list([hotpot_columns("x")])

    monkeypatch.setattr(datasets, "load_dataset", load)
    source = Path("hub:hotpotqa/hotpot_qa:distractor:validation")
    made = IMPORTERS["hotpotqa"](source, tmp_path / "set")
    assert asked == [("hotpotqa/hotpot_qa", "distractor", "validation", True)]
    assert [span.quote for span in gold(made.questions[0])] == ["Ünïcödé 😀 second."]


def hotpot_columns(id_: str) -> dict[str, Any]:
    """A row as the hub has it: columns in place of pairs."""
    row = hotpot(id_)
    titles, sentences = zip(*row["context"], strict=True)
    supporting = list(zip(*row["supporting_facts"], strict=True))
    return {
        "id": id_,
        "question": row["question"],
        "answer": row["answer"],
        "supporting_facts": {"title": list(supporting[0]), "sent_id": list(supporting[1])},
        "context": {"title": list(titles), "sentences": list(sentences)},
    }
