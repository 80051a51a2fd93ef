"""What the tests of importers share: where the public data lie, rows written to a file, and the gold of a question."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from data.questions import GoldSpan, Question

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def gold(question: Question) -> list[GoldSpan]:
    return [span for fact in question.gold for each in fact for span in each]


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def hotpot(id_: str, **changes: Any) -> dict[str, Any]:
    return {
        "_id": id_,
        "question": f"Who is {id_}?",
        "answer": "yes",
        "supporting_facts": [["a/b: c?", 1]],
        "context": [["a/b: c?", ["First. ", " Ünïcödé 😀 second."]], ["A/B: C?", ["Other."]]],
    } | changes
