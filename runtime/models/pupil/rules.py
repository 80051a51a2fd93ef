"""The rules of the pupil: which error each makes, and the words of an instruction that put an end to it.

The pupil understands no instruction. It looks for phrases, in the sentences of the instructions alone: not in the
descriptions of fields, nor in evidence. A phrase after a negation in the same sentence does not count. None of them
stands in the instructions that the suite ships, so that there is something to be learned.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Error = Literal["drop", "garble", "overcite", "guess", "skip"]


@dataclass(frozen=True)
class Rule:
    """An error, what it looks like, and the phrases (regular expressions over lower case) that prevent it."""

    error: Error
    about: str
    phrases: tuple[str, ...]


_NEVER = r"(?:never|do not|don't|avoid)"
_EVERY = r"(?:every|each|all)"
_SAID = r"(?:claim|statement|answer|fact)s?"
_PROOF = r"(?:quote|citation|evidence|reference|claim id)s?"
_NOT_YET = r"[^.;!?]{0,30}"

RULES: tuple[Rule, ...] = (
    Rule(
        "drop",
        "a claim is left without evidence",
        (
            rf"\b(?:quote|cite|back up) (?:the evidence (?:of|for) )?{_EVERY}\b",
            rf"\b{_PROOF} (?:for|of|to|behind|with) {_EVERY}\b",
            rf"\b{_EVERY} {_SAID} (?:must|should|has to|have to|needs? to)\b(?! not)",
            rf"\b{_NEVER} [^.;!?]{{1,40}} without (?:an? |its |any |their )?(?:\w+ )?{_PROOF}\b",
            rf"\b{_NEVER} (?:forget|omit|fail|drop|leave out)\b{_NOT_YET}\b(?:quote|cite|{_PROOF})\b",
            r"\balways (?:quote|cite)\b",
            rf"\balways (?:give|add|attach|include|name){_NOT_YET}\b{_PROOF}\b",
        ),
    ),
    Rule(
        "garble",
        "a quote is shortened by an ellipsis, so that it no longer stands in the text",
        (
            r"\bverbatim\b",
            r"\bword for word\b",
            r"\bletter for letter\b",
            r"\bcopy and paste\b",
            r"\bexact(?:ly)? (?:wording|copy|copies|as (?:they|it) (?:stands?|appears?|occurs?|is|are))\b",
            rf"\b{_NEVER} (?:paraphras|rephras|reword|shorten|abbreviat|alter|edit|translat)\w*",
            rf"\b(?:no|without|{_NEVER} use) (?:an? )?(?:ellips[ie]s|paraphras\w*|rephras\w*)",
        ),
    ),
    Rule(
        "overcite",
        "evidence is added that does not bear on the claim: what stands beside it",
        (
            r"\b(?:be|stay) (?:brief|concise|economical)\b",
            r"\bconcise(?:ly)?\b",
            r"\bonly the (?:\w+ )?(?:span|quote|line|sentence|passage|claim)s? (?:that|which)\b",
            r"\bas few (?:quotes|citations|spans|lines|claims)\b",
            r"\b(?:fewest|smallest number of|minimal set of) ",
            rf"\b(?:one|a single) (?:quote|citation|span|line) (?:per|for (?:a|each|every)) {_SAID}",
            r"\b(?:no|without|avoid) (?:extra|additional|unneeded|unnecessary|redundant|surrounding|neighbou?ring)\b",
            rf"\b{_NEVER} (?:cite|quote|add|include|name)\b{_NOT_YET}"
            r"\b(?:neighbou?r\w*|surround\w*|extra|beyond|context|more than|not needed)\b",
        ),
    ),
    Rule(
        "guess",
        "something is claimed where nothing that is shown answers",
        (
            r"\babstain\b",
            rf"\b{_NEVER} (?:guess|speculat|invent|make up|make anything up)\w*",
            r"\b(?:rather|instead of|than) (?:to )?(?:guess|speculat|invent)\w*",
            rf"\b(?:leave|keep) (?:the |your )?(?:list of )?(?:{_SAID}|lists?) empty\b",
            r"\bempty list of (?:claims|statements)\b",
            r"\bno (?:claims?|statements?) (?:is|are) better than\b",
            r"\b(?:claim|report|state) nothing (?:if|when|unless|where|rather)\b",
            r"\bwhen in doubt\b",
        ),
    ),
    Rule(
        "skip",
        "a claim is left out altogether",
        (
            rf"\b(?:go through|check|examine|consider|review|look at|inspect) {_EVERY}\b",
            r"\b(?:span by span|line by line|claim by claim|one by one)\b",
            r"\b(?:leave|miss|skip|omit) (?:nothing|none)\b",
            rf"\b{_NEVER} (?:skip|miss|overlook|stop (?:at|after|early)|leave any)\b",
            r"\bthorough(?:ly)?\b",
            r"\bbe (?:complete|exhaustive)\b",
        ),
    ),
)
_PHRASES: Mapping[Error, re.Pattern[str]] = {
    rule.error: re.compile("|".join(rule.phrases)) for rule in RULES
}
_NEGATED = re.compile(r"\b(?:not|never|n't|needn't|don't|no need|avoid)\b")
_SENTENCE = re.compile(r"[.;!?](?:\s|$)")


def heeded(instructions: str) -> frozenset[Error]:
    """The errors that these instructions put an end to."""
    sentences = _SENTENCE.split(" ".join(instructions.lower().replace("`", "").split()))
    return frozenset(
        error
        for error, phrases in _PHRASES.items()
        if any(_asks(phrases, sentence) for sentence in sentences)
    )


def _asks(phrases: re.Pattern[str], sentence: str) -> bool:
    """Whether a phrase stands in a sentence, and nothing before it denies it."""
    return any(not _NEGATED.search(sentence[: at.start()]) for at in phrases.finditer(sentence))
