"""Hub: a set that lies in a dataset repository of the Hugging Face hub, brought into the store."""

import os
from pathlib import Path

from data.sets.storage import load_header
from data.store import Store
from runtime.errors import QuestionSetError

HUB = "hub:"
"""Begins the name of a set on the hub: hub:OWNER/NAME, or hub:OWNER/NAME@REVISION."""

_WANTED = ("set.json", "questions.*", "corpora/**")


def fetched(name: str, *, store: Path | None = None) -> Path:
    """The folder of a set on the hub; what is there already is not fetched again. Raises QuestionSetError."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    repository, _, revision = name.removeprefix(HUB).partition("@")
    folder = Store.prepare(store).root / "sets" / "hub" / repository.replace("/", "--")
    try:
        snapshot_download(
            repository,
            repo_type="dataset",
            revision=revision or None,
            local_dir=folder,
            allow_patterns=list(_WANTED),
            endpoint=os.environ.get("HF_ENDPOINT"),
        )
    except (HfHubHTTPError, HFValidationError, OSError, ValueError) as error:
        raise QuestionSetError(
            f"{name} cannot be fetched: {str(error).splitlines()[0]}",
            "check the name (hub:OWNER/NAME) and the network; or name a folder with a set",
        ) from error
    load_header(folder)
    return folder
