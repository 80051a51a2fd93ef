"""The generator of the sample logs and of questions.jsonl: seeded, the same bytes on every run.

    python -m data.samples.generate            write into this folder
    python -m data.samples.generate --out DIR  write somewhere else
    python -m data.samples.generate --check    compare only; exit status 1 if a file differs

Minutes and handbook are written by hand; only the offsets of their gold quotes are computed here.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from data.samples.background import background
from data.samples.chain import aftermath, events
from data.samples.gold import Record
from data.samples.gold_documents import handbook_questions, minutes_questions
from data.samples.gold_incident import incident_questions
from data.samples.logbook import HOUR, STYLES, Dice, Entry, render
from data.samples.traffic import charged_but_aborted, checkouts, walk

SEED = 20260310
HOME = Path(__file__).parent


def generate() -> dict[str, bytes]:
    """The bytes of every generated file, by its path below the samples folder."""
    entries, charged = _entries()
    rendered = {log: render(log, entries) for log in STYLES}
    logs = {log: text for log, (text, _) in rendered.items()}
    placed = [each for _, marks in rendered.values() for each in marks]
    records = [
        *incident_questions(logs, placed, charged),
        *minutes_questions(_documents("minutes")),
        *handbook_questions(_documents("handbook")),
    ]
    files = {f"incident/{log}": text.encode("utf-8") for log, text in logs.items()}
    return {**files, "questions.jsonl": _jsonl(records)}


def _entries() -> tuple[list[Entry], int]:
    # One stream of choices for each part, so that a change in one leaves the others as they are.
    attempts = list(checkouts(Dice(SEED)))
    paths = Dice(SEED + 1)
    entries = [entry for attempt in attempts for entry in walk(paths, attempt)]
    charged = charged_but_aborted(entries)
    entries += events()
    entries += aftermath(Dice(SEED + 2), charged)
    entries += background(Dice(SEED + 3))
    return [entry for entry in entries if entry.at < 24 * HOUR], len(charged)


def _documents(folder: str) -> dict[str, str]:
    paths = sorted((HOME / folder).glob("*.md"))
    return {path.name: path.read_bytes().decode("utf-8") for path in paths}


def _jsonl(records: Sequence[Record]) -> bytes:
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    return "".join(lines).encode("utf-8")


def write(files: dict[str, bytes], folder: Path) -> None:
    """Write the files below `folder`."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def differing(files: dict[str, bytes], folder: Path) -> list[str]:
    """The names of the files below `folder` that are missing or have other bytes."""
    return [name for name, content in files.items() if _read(folder / name) != content]


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m data.samples.generate", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=Path, default=HOME, help="folder to write into")
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args(arguments)
    files = generate()
    if not options.check:
        write(files, options.out)
        return 0
    different = differing(files, options.out)
    for name in different:
        print(f"differs: {options.out / name}", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
