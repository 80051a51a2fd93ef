"""FEVER: claims, and groups of sentences of Wikipedia that support or refute them: any whole group suffices.

Reads claims (JSON lines) and, in the same folder, the pages of the FEVER dump (`wiki-pages/*.jsonl`, whose `lines` are
numbered and tabulated). All pages that the evidence names make up one corpus, a sentence a line. A claim with too
little information is unanswerable.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from data.questions import Alternative, Fact, GoldSpan, Question, QuestionSet, TypedAnswer
from data.sets.importers.answers import NO_ANSWER
from data.sets.importers.draft import Draft, chosen
from data.sets.importers.records import Record, data_files, read_file

CORPUS = "wikipedia"
PAGES = "wiki-pages"
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":", "_": " "}
_ANSWERS = {
    "SUPPORTS": TypedAnswer(type="boolean", values=("true",), accepted=("SUPPORTS", "supported")),
    "REFUTES": TypedAnswer(type="boolean", values=("false",), accepted=("REFUTES", "refuted")),
}

Sentence = tuple[int | None, int | None, str | None, int | None]
"""Ids of the annotation and of its evidence, the page, the number of the sentence."""


class _Row(Record):
    id: int
    label: str
    claim: str
    evidence: list[list[Sentence]]


class _Page(Record):
    id: str
    lines: str


def import_fever(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The claims as questions. Groups that name the same sentences are one."""
    draft = Draft("fever")
    home = source if source.is_dir() else source.parent
    files = [path for path in data_files(source, "*.jsonl*") if PAGES not in path.parts]
    rows = chosen([row for path in files for row in read_file(path, _Row)], limit, seed)
    wanted = {page for row in rows for group in row.evidence for _, _, page, _ in group if page}
    pages = {
        page.id: _written(draft, page)
        for path in data_files(home, f"{PAGES}/*.jsonl*", f"{PAGES}*.jsonl*")
        for page in read_file(path, _Page)
        if page.id in wanted
    }
    for number, row in enumerate(rows, 1):
        if row.label == "NOT ENOUGH INFO":
            draft.ask(_question(number, row, ()))
            continue
        if row.label not in _ANSWERS:
            draft.leave_out(f"claims with the label {row.label}")
            continue
        groups = dict.fromkeys(_group(group, pages) for group in row.evidence)
        whole = tuple(group for group in groups if group)
        if whole:
            draft.ask(_question(number, row, (whole,)))
        else:
            draft.leave_out("claims without a group whose pages and sentences are all there")
    return draft.finish(folder, limit=None, seed=seed, store=store)


def _question(number: int, row: _Row, gold: tuple[Fact, ...]) -> Question:
    return Question(
        id=f"fever-{number:06}",
        question=f"Is it true or false: {row.claim}",
        corpus=CORPUS,
        kind="lookup" if gold else "unanswerable",
        gold=gold,
        answer=_ANSWERS.get(row.label, NO_ANSWER),
        answerable=bool(gold),
        documents=tuple(
            dict.fromkeys(span.source for fact in gold for each in fact for span in each)
        ),
        tags=(row.label, f"claim={row.id}"),
    )


def _group(group: Sequence[Sentence], pages: dict[str, dict[int, GoldSpan]]) -> Alternative:
    """The sentences of a group in the order of the text; nothing if one of them is not there."""
    spans = [pages.get(page or "", {}).get(-1 if at is None else at) for _, _, page, at in group]
    found = dict.fromkeys(span for span in spans if span)
    if None in spans:
        return ()
    return tuple(sorted(found, key=lambda each: (each.source, each.start)))


def _written(draft: Draft, page: _Page) -> dict[int, GoldSpan]:
    """Write a page. Returns its sentences that are not blank, by number."""
    title = page.id
    for written, meant in _BRACKETS.items():
        title = title.replace(written, meant)
    numbered = list(_sentences(page.lines))
    sentences = [words for _, words in numbered]
    spans = draft.pieces(
        CORPUS, title, sentences, between="\n", before=f"{title}\n\n", after="\n"
    ).spans
    return {at: span for (at, _), span in zip(numbered, spans, strict=True) if span.quote}


def _sentences(lines: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a page: number, sentence, and then links, which are dropped."""
    for line in lines.split("\n"):
        number, _, rest = line.partition("\t")
        if number.isdigit():
            yield int(number), rest.partition("\t")[0]
