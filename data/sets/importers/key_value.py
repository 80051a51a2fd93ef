"""Lost in the middle, key and value: a JSON object of random pairs, a pair a line, and one key to look up."""

from pathlib import Path

from pydantic import Field

from data.questions import Question, QuestionSet, TypedAnswer
from data.sets.importers.draft import Draft
from data.sets.importers.records import Record, read_records


class _Row(Record):
    ordered_kv_records: list[tuple[str, str]] = Field(min_length=1)
    key: str
    value: str


def import_key_value(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The look-ups, each in its own object. The gold is the pair; a tag says how deep in the object it is."""
    draft = Draft("key_value")
    for number, row in enumerate(read_records(source, _Row, "kv-*.jsonl*", "*.jsonl*"), 1):
        places = [at for at, (key, _) in enumerate(row.ordered_kv_records) if key == row.key]
        if len(places) != 1 or row.ordered_kv_records[places[0]][1] != row.value:
            draft.leave_out("keys that are not there exactly once, with their value")
            continue
        draft.ask(_question(draft, f"key-value-{number:04}", row, places[0]))
    return draft.finish(folder, limit=limit, seed=seed, store=store)


def _question(draft: Draft, id_: str, row: _Row, at: int) -> Question:
    """The question; the object goes into the draft as it is put into prompts by the authors of the data."""
    pairs = [f'"{key}": "{value}"' for key, value in row.ordered_kv_records]
    written = draft.pieces(id_, "object", pairs, between=",\n ", before="{", after="}\n")
    return Question(
        id=id_,
        question=f"Which value does the key {row.key} have?",
        corpus=id_,
        kind="lookup",
        gold=(((written.spans[at],),),),
        answer=TypedAnswer(type="string", values=(row.value,)),
        answerable=True,
        documents=(written.source,),
        tags=(f"pairs={len(pairs)}", f"position={at}"),
    )
