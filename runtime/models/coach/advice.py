"""Advice: what the coach knows: the words by which feedback names a failure, and the sentence that is to prevent it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Advice:
    """A failure, the words (a regular expression) that name it in feedback, and a sentence for the instructions."""

    failure: str
    named: re.Pattern[str]
    sentence: str


def _advice(failure: str, named: str, sentence: str) -> Advice:
    return Advice(failure, re.compile(named, re.IGNORECASE), sentence)


ADVICE: tuple[Advice, ...] = (
    _advice(
        "claims without evidence",
        r"\bwithout (?:any )?(?:evidence|a quote|quotes|a citation|citations)\b|\bno (?:quotes?|citations?)\b"
        r"|\bnames? no claims?\b|\b(?:unsupported|not supported)\b",
        "Quote the evidence of every claim: name the id of what proves it, and never leave a claim without it.",
    ),
    _advice(
        "missed facts",
        r"\bmissed (?!none\b|nothing\b)|\b[1-9]\d* facts? went missing\b|\blacks the evidence\b|\bnever cited\b"
        r"|\b(?:left out|overlooked)\b|\bthough there is one\b",
        "Go through every span and every claim that is shown, one by one, and leave nothing out that answers.",
    ),
    _advice(
        "quotes that differ",
        r"\bquotes? (?:\w+ )?differs?\b|\bnot_in_text\b|\b(?:is|are|stands?) not in\b|\bdo(?:es)? not stand\b",
        "Copy quotes verbatim from the text of a span, with no ellipsis.",
    ),
    _advice(
        "evidence that is not needed",
        r"\boutside of the evidence\b|\bmore than (?:was|is) needed\b|\bnot needed\b|\bcite less\b",
        "Be brief: cite only the spans that answer the question, with as few quotes as prove it.",
    ),
    _advice(
        "claims where nothing answers",
        r"\bshould have abstained\b|\bright is to abstain\b|\b(?:no text|nothing) answers\b|\bunanswerable\b",
        "Abstain where nothing that is shown answers the question, and never guess.",
    ),
)
_REPEATED = re.compile(r'"[^"\n]*"')
"""Words of a reply or of a text that feedback repeats: they name no failure."""


def failures_in(feedback: Iterable[str]) -> Counter[str]:
    """How many of the texts name each failure."""
    said = [_REPEATED.sub('""', each) for each in feedback]
    return Counter(each.failure for text in said for each in ADVICE if each.named.search(text))


def advice_for(failures: Collection[str]) -> list[Advice]:
    """The advice against some failures, in the order of the table."""
    return [each for each in ADVICE if each.failure in failures]


def with_advice(instruction: str, advice: Iterable[Advice]) -> str:
    """The instruction with the sentences behind it that it does not have yet."""
    fresh = [each.sentence for each in advice if not has(instruction, each)]
    return "\n".join([instruction.strip(), *fresh])


def has(instruction: str, advice: Advice) -> bool:
    """Whether an instruction says a sentence already."""
    return advice.sentence in " ".join(instruction.split())
