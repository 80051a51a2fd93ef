"""Importers: public data as question sets, a module each. What they read is the user's own copy of the data.

An importer writes the documents below `folder/corpora/` and returns the set; `save_set` adds the questions. Gold that
is not found in the text as it is read is left out, and counted in `folder/import.json` (see `draft.Report`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from data.questions import QuestionSet
from data.sets.importers.chunking import import_chunking
from data.sets.importers.draft import Report, load_report
from data.sets.importers.evidence_inference import import_evidence_inference
from data.sets.importers.fever import import_fever
from data.sets.importers.hotpotqa import import_hotpotqa
from data.sets.importers.key_value import import_key_value
from data.sets.importers.loghub import import_loghub
from data.sets.importers.qmsum import import_qmsum
from data.sets.importers.ramdocs import import_ramdocs

__all__ = ["IMPORTERS", "Importer", "Report", "load_report"]


class Importer(Protocol):
    """Reads public data from a path, or from a hub where `source` is `hub:NAME[:CONFIG[:SPLIT]]`."""

    def __call__(
        self,
        source: Path,
        folder: Path,
        *,
        limit: int | None = None,
        seed: int = 0,
        store: Path | None = None,
    ) -> QuestionSet:
        """The set. `limit` questions at most, drawn by `seed`; splits are drawn by `seed` too.

        Raises QuestionSetError for data that is missing or malformed, and for a folder that has corpora already.
        """
        ...


IMPORTERS: Mapping[str, Importer] = {
    "chunking": import_chunking,
    "qmsum": import_qmsum,
    "hotpotqa": import_hotpotqa,
    "ramdocs": import_ramdocs,
    "evidence_inference": import_evidence_inference,
    "loghub": import_loghub,
    "key_value": import_key_value,
    "fever": import_fever,
}
