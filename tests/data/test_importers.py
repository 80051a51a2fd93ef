"""Importers: public data become sets whose gold is exact, and what cannot be is counted.

The data are not part of the project: tests that need them are skipped where they are absent. What a format allows and
the sample does not hold is shown on rows made up here.
"""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from data.questions import Question, QuestionSet
from data.sets.importers import IMPORTERS, load_report
from data.sets.lint import lint_folder
from data.sets.storage import load_set, open_set_corpus, save_set
from runtime.errors import QuestionSetError

DATA = Path(__file__).parents[2].parent / "shared" / "data"
FOLDERS = {
    "chunking": "chunking_evaluation",
    "qmsum": "qmsum",
    "hotpotqa": "hotpotqa_distractor_100",
    "ramdocs": "ramdocs",
    "evidence_inference": "evidence_inference",
    "loghub": "loghub_2k",
    "key_value": "lost_in_the_middle",
    "fever": "fever_scorer",
}
LIMITS = {"hotpotqa": 25, "ramdocs": 40, "key_value": 15}
"""A corpus a question takes its time to build."""


def sample(name: str) -> Path:
    """Where the data of an importer are; the test is skipped without them."""
    path = DATA / FOLDERS[name]
    if not path.exists():
        pytest.skip(f"the sample is not at {path}")
    return path


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Imports by name, each made once: the set and its folder."""
    made: dict[str, tuple[QuestionSet, Path]] = {}

    def get(name: str) -> tuple[QuestionSet, Path]:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            source = sample(name)
            made[name] = IMPORTERS[name](
                source, folder, limit=LIMITS.get(name), seed=3, store=folder / "store"
            )[:] if False else (
                IMPORTERS[name](
                    source, folder, limit=LIMITS.get(name), seed=3, store=folder / "store"
                ),
                folder,
            )
        return made[name]

    return get
