"""Evidence Inference: reports of clinical trials, and whether a treatment raised an outcome, lowered it or did neither.

Offsets are of code points, with an exclusive end. Annotators that agree with the majority are alternatives: each gave
a place that suffices. What the others marked may be cited. Annotations that reviewers called invalid do not count.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from data.questions import Alternative, GoldSpan, Question, QuestionSet, TypedAnswer
from data.sets.importers.draft import Draft
from data.sets.importers.records import Record, data_files, read_file

Code = Literal["-1", "0", "1"]
_ANSWERS: dict[Code, TypedAnswer] = {
    "1": TypedAnswer(type="string", values=("significantly increased",)),
    "-1": TypedAnswer(type="string", values=("significantly decreased",)),
    "0": TypedAnswer(
        type="string",
        values=("no significant difference",),
        accepted=("no significant differences", "not significantly different"),
    ),
}


class _Prompt(Record):
    id: str = Field(alias="PromptID")
    paper: str = Field(alias="PMCID")
    outcome: str = Field(alias="Outcome")
    intervention: str = Field(alias="Intervention")
    comparator: str = Field(alias="Comparator")


class _Annotation(Record):
    prompt: str = Field(alias="PromptID")
    valid_label: bool = Field(alias="Valid Label")
    valid_reasoning: bool = Field(alias="Valid Reasoning")
    code: Code = Field(alias="Label Code")
    quote: str = Field(alias="Annotations")
    start: int = Field(alias="Evidence Start")
    end: int = Field(alias="Evidence End")


def import_evidence_inference(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The prompts that a majority of annotations answers: a corpus a paper."""
    draft = Draft("evidence_inference")
    (prompts,) = data_files(source, "*prompts*.csv")[:1]
    (table,) = data_files(prompts.parent, "*annotations*.csv")[:1]
    annotations: dict[str, list[_Annotation]] = defaultdict(list)
    for each in read_file(table, _Annotation):
        if each.valid_label and each.valid_reasoning:
            annotations[each.prompt].append(each)
    for prompt in read_file(prompts, _Prompt):
        paper = prompts.parent / "txt_files" / f"PMC{prompt.paper.removeprefix('PMC')}.txt"
        _ask(draft, prompt, annotations.get(prompt.id, []), paper)
    return draft.finish(folder, limit=limit, seed=seed, store=store)


def _ask(draft: Draft, prompt: _Prompt, marked: Sequence[_Annotation], paper: Path) -> None:
    votes = Counter[Code](each.code for each in marked).most_common(2)
    if not votes:
        draft.leave_out("prompts without a valid annotation")
        return
    if len(votes) > 1 and votes[0][1] == votes[1][1]:
        draft.leave_out("prompts on which the annotators are divided")
        return
    if not paper.is_file():
        draft.leave_out("prompts about a paper that is not there")
        return
    documents = draft.sources(paper.stem)
    document = (
        documents[0] if documents else draft.document(paper.stem, paper.name, paper.read_bytes())
    )
    code = votes[0][0]
    agreed = _spans(document, [each for each in marked if each.code == code])
    draft.ask(
        Question(
            id=f"evidence-inference-{prompt.id}",
            question=_words(prompt),
            corpus=paper.stem,
            kind="local",
            gold=(tuple((span,) for span in agreed),),
            answer=_ANSWERS[code],
            answerable=True,
            allowed=_spans(document, [each for each in marked if each.code != code]),
            documents=(document,),
            tags=("annotators disagree",) if len(votes) > 1 else (),
        )
    )


def _spans(document: str, marked: Sequence[_Annotation]) -> Alternative:
    spans = (
        GoldSpan(source=document, start=each.start, end=each.end, quote=each.quote)
        for each in marked
    )
    return tuple(dict.fromkeys(spans))


def _words(prompt: _Prompt) -> str:
    outcome, treatment, other = (
        " ".join(each.split()).strip(" ,.")
        for each in (prompt.outcome, prompt.intervention, prompt.comparator)
    )
    return (
        f"Compared with {other}, how did {treatment} change {outcome}: significantly increased, significantly "
        "decreased, or no significant difference?"
    )
