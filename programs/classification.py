"""Classification of the question: the model's view, with a floor of structural signals that code sees.

A question that counts, or asks for all or whether there is any, needs the whole corpus whatever the model says
of it: its answer may never come from a selection. Quoted text of the question is always searched for as it is.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

import dspy

from data.corpus import Corpus
from data.pattern import Pattern
from programs.evidence import restore
from programs.run import Run
from runtime.errors import PatternError, StepError
from runtime.events import Classified
from runtime.questions.classifier import REQUIRES_ALL, classify


async def classified(run: Run, predictor: dspy.Module) -> tuple[Classified, list[tuple[str, str]]]:
    """The classification that the run uses, and warnings about how it came about.

    Raises PatternError for an expression of the question itself that is not valid, before anything is asked.
    """
    overview = run.workspace.overview()
    signals = classify(run.question, overview)
    for notation in signals.patterns:
        Pattern.parse(notation)
    quoted = [each for each in signals.patterns if each.startswith('"')]
    warnings: list[tuple[str, str]] = []
    try:
        reply = await run.ask(
            predictor, {"question": run.question, "overview": overview}, key="classify"
        )
        kind, needs_all, reason = reply.kind, bool(reply.requires_all), reply.reason
        patterns = [restore(each) for each in reply.patterns if each.strip()]
    except StepError as error:
        kind, needs_all, reason = signals.kind, signals.requires_all, signals.reason
        patterns = list(signals.patterns)
        warnings.append(("classify_failed", f"classified by structural signals alone: {error}"))
    if kind == "lookup" and signals.kind in REQUIRES_ALL:
        kind = signals.kind  # a small model takes any question for one about a single fact
    if signals.kind == "count":
        kind = "count"
        patterns = patterns or list(signals.patterns)
    unquoted = [each for each in patterns if f'"{each}"' not in quoted]
    patterns, refused = _valid(dict.fromkeys([*quoted, *unquoted]))
    patterns = [each for each in patterns if _is_asked_for(each, run.question)]
    warnings += refused
    event = Classified(
        question_kind=kind,
        requires_all=needs_all or kind in REQUIRES_ALL or signals.requires_all,
        patterns=tuple(patterns),
        signals=(f"{signals.kind}: {signals.reason}",),
        reason=reason,
    )
    return event, warnings


async def signaled(run: Run) -> tuple[Classified, list[tuple[str, str]]]:
    """The classification by structural signals alone: no model is asked.

    Raises PatternError for an expression of the question itself that is not valid.
    """
    signals = classify(run.question, run.workspace.overview())
    for notation in signals.patterns:
        Pattern.parse(notation)
    event = Classified(
        question_kind=signals.kind,
        requires_all=signals.requires_all,
        patterns=tuple(signals.patterns),
        signals=(f"{signals.kind}: {signals.reason}",),
        reason=signals.reason,
    )
    return event, []


def _valid(notations: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The patterns that can be searched for; a model that writes another kind of expression ends no run."""
    kept, refused = [], []
    for notation in notations:
        try:
            Pattern.parse(notation)
        except PatternError as error:
            refused.append(("pattern_refused", f"{error.message} {error.hint}".strip()))
        else:
            kept.append(notation)
    return kept, refused


def _is_asked_for(notation: str, question: str) -> bool:
    """Whether a string stands in the question; a small model takes them from the overview, or makes them up."""
    pattern = Pattern.parse(notation)
    text, whole = (" ".join(each.split()).casefold() for each in (pattern.text, question))
    return pattern.kind == "regex" or text in whole


_NAME = "A-Za-z0-9_\\-"  # what may go on a name: Chinese text stands next to names without a space
_ELSEWHERE = re.compile(
    r"\b(?:other|others|else|elsewhere|anywhere|everywhere|rest|not (?:in|from)|outside|except|besides|apart"
    r"|excluding|(?:missing|absent) from)\b|其他|其它|别的|另外|之外|以外|除了?",
    re.IGNORECASE,
)


def scope(question: str, corpus: Corpus) -> tuple[str, ...]:
    """The sources that a question limits itself to by naming them; empty when it names none, or asks beyond them."""
    if _ELSEWHERE.search(question):
        return ()
    return tuple(
        source.id for source in corpus.sources if source.readable and _named(source.id, question)
    )


def _named(source: str, question: str) -> bool:
    path = PurePosixPath(source)
    names = {source, path.name} if path.suffix else {source} if "/" in source else set()
    return any(
        re.search(rf"(?<![{_NAME}./]){re.escape(name)}(?![{_NAME}/]|\.[{_NAME}])", question, re.I)
        for name in names
    )
