"""FEVER: groups of evidence are alternatives. The sample has their shape but no pages, so the pages are made up."""

import gzip
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from data.sets.importers import IMPORTERS, load_report
from data.sets.lint import lint_folder
from tests.data.importers_desk import DATA, written


def fever(folder: Path, rows: Iterable[Mapping[str, Any]], *, missing: str = "") -> Path:
    """Claims with a wiki of made-up sentences for every page that they name."""
    rows = list(rows)
    last: dict[str, int] = {}
    for row in rows:
        for _, _, page, number in (each for group in row["evidence"] for each in group):
            if page is not None and page != missing:
                last[page] = max(last.get(page, 0), number)
    pages = [
        {
            "id": page,
            "text": "",
            "lines": "\n".join(f"{n}\tSentence {n} of {page}.\tlink\tlink" for n in range(end + 1)),
        }
        for page, end in last.items()
    ]
    written(folder / "wiki-pages" / "wiki-001.jsonl", pages)
    return written(folder / "claims.jsonl", rows).parent


def test_fever_groups_are_alternatives(tmp_path: Path) -> None:
    """Any one group suffices, and of a group every sentence is needed."""
    path = DATA / "fever_scorer" / "actual.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the sample is not at {path}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 400)]
    for number, row in enumerate(rows):
        row["claim"] = f"Claim {number}."
    made = IMPORTERS["fever"](fever(tmp_path / "fever", rows), tmp_path / "set")
    assert lint_folder(made, tmp_path / "set") == []
    assert len(made.questions) == len(rows)
    for row, question in zip(rows, made.questions, strict=True):
        if row["label"] == "NOT ENOUGH INFO":
            assert (question.kind, question.gold, question.answerable) == (
                "unanswerable",
                (),
                False,
            )
            continue
        groups = {frozenset((page, n) for *_, page, n in group) for group in row["evidence"]}
        (fact,) = question.gold
        told = {
            frozenset(
                (each.quote.split(" of ")[1].rstrip("."), int(each.quote.split()[1]))
                for each in alternative
            )
            for alternative in fact
        }
        assert told == {frozenset((p.rstrip("."), n) for p, n in group) for group in groups}
        assert question.answer.values == ("true" if row["label"] == "SUPPORTS" else "false",)
    assert any(
        len(alternative) > 1 for each in made.questions for f in each.gold for alternative in f
    )


def test_fever_claims_without_their_pages_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": 7, "label": "SUPPORTS", "claim": "One.", "evidence": [[[1, 1, "Here", 2]]]},
        {"id": 8, "label": "REFUTES", "claim": "Two.", "evidence": [[[1, 1, "Gone", 0]]]},
        {
            "id": 9,
            "label": "REFUTES",
            "claim": "Three.",
            "evidence": [[[1, 1, "Here", 0], [1, 2, "Gone", 0]], [[2, 3, "Here", 1]]],
        },
    ]
    source = fever(tmp_path / "fever", rows, missing="Gone")
    made = IMPORTERS["fever"](source, tmp_path / "set")
    assert [each.tags[1] for each in made.questions] == ["claim=7", "claim=9"]
    assert [len(each.gold[0]) for each in made.questions] == [1, 1]
    assert sum(load_report(tmp_path / "set").left_out.values()) == 1
