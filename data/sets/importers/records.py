"""Records: the rows of public data, read from files or a hub, and checked against the fields that an importer needs."""

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from runtime.errors import QuestionSetError

HUB = "hub:"


class Record(BaseModel):
    """Base of what a row must have. Fields that nobody needs are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


AnyRecord = TypeVar("AnyRecord", bound=Record)


def read_records(source: Path, kind: type[AnyRecord], *patterns: str) -> Iterator[AnyRecord]:
    """The rows of a file, of the files of a folder that match a pattern, or of a set on a hub.

    Files are JSON lines, a JSON list or CSV, with .gz or without.
    """
    if str(source).startswith(HUB):
        yield from checked(hub_rows(str(source).removeprefix(HUB)), kind, str(source))
        return
    for path in data_files(source, *patterns):
        yield from read_file(path, kind)


def read_file(path: Path, kind: type[AnyRecord]) -> Iterator[AnyRecord]:
    """The rows of one file."""
    yield from checked(_rows(path), kind, str(path))


def data_files(source: Path, *patterns: str) -> list[Path]:
    """The file itself, or the files below a folder whose names match the first pattern that any matches."""
    if str(source).startswith(HUB):
        raise QuestionSetError(
            "this data is more than rows, so it is not read from a hub",
            "Download it, and name the folder.",
        )
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise QuestionSetError(
            f"no such path: {source}", "Name the file or folder of the data, or hub:NAME."
        )
    for pattern in patterns:
        found = sorted(path for path in source.rglob(pattern) if path.is_file())
        if found:
            return found
    raise QuestionSetError(f"{source} has no {' or '.join(patterns)}", "Name the folder of it.")


def checked(
    rows: Iterable[Mapping[str, Any]], kind: type[AnyRecord], place: str
) -> Iterator[AnyRecord]:
    """Rows as records. Raises QuestionSetError with the number of a row that lacks something."""
    for number, row in enumerate(rows, 1):
        try:
            yield kind.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "row"
            raise QuestionSetError(
                f"{place}, row {number}: {field}: {first['msg']}",
                "Check that this is the data that the importer is for.",
            ) from error


def hub_rows(name: str) -> Iterator[Mapping[str, Any]]:
    """The rows of NAME[:CONFIG[:SPLIT]] on a hub, as they stream in; of all splits where none is named."""
    import datasets  # takes a second

    path, _, rest = name.partition(":")
    config, _, split = rest.partition(":")
    try:
        loaded: Any = datasets.load_dataset(
            path, config or None, split=split or None, streaming=True
        )
        for part in loaded.values() if isinstance(loaded, dict) else (loaded,):
            yield from part
    except (OSError, ValueError) as error:
        raise QuestionSetError(
            f"cannot load {path} from the hub: {error}", "Or download it, and name its path."
        ) from error


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    name = path.name.removesuffix(".gz")
    try:
        raw = gzip.decompress(path.read_bytes()) if name != path.name else path.read_bytes()
        text = raw.decode("utf-8-sig")
        if name.endswith(".csv"):
            yield from csv.DictReader(io.StringIO(text, newline=""), strict=True)
        elif name.endswith(".json"):
            yield from _listed(json.loads(text))
        else:
            yield from _json_lines(path, text)
    except (OSError, ValueError, csv.Error) as error:
        raise QuestionSetError(f"cannot read {path}: {error}", "Download it again.") from error


def _listed(value: Any) -> list[Mapping[str, Any]]:
    """A list of rows. Raises ValueError for other JSON."""
    if not isinstance(value, list):
        raise ValueError("not a list of rows")
    return value


def _json_lines(path: Path, text: str) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise QuestionSetError(
                    f"{path}, line {number}: not JSON: {error}", "Download it again."
                ) from error
