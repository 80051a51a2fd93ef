"""Support: whether the words of a statement have anything to do with what it rests on.

A quote can be real and say something else: small models cite such ones. Nothing here understands a text. A statement
of which fewer than one word in five occurs in its quotes does not say what they say: it is an inference at most.
Numbers count by their value, identifiers also by their parts, English words by their stem, Chinese, Japanese and
Korean by pairs of characters. Not judged: fewer than three content words ("Yes."), another script than that of the
quotes, and words without one of the small words of English, which may be of another language.

Measured on ExpertQA (benchmarks/support.py), 562 claims that people found completely supported: 9.3 % are called
inferred with the one best sentence of the passage as the quote, 4.6 % with the best two, 3.2 % with the whole passage.
With a random sentence it is 57 % (of the same passage), 82 % (of another claim's) and 99 % (of another question's). So
among as many claims with quotes from another claim's passage as with their own, "not supported" has precision 0.90 and
recall 0.82; at a share of 0.15 0.95 and 0.76, at 0.25 0.85 and 0.90. What people found incompletely or partly supported
is about the same thing as the passage and hardly told apart: 11 of 231, beside 18 of the 562. So this catches quotes
about something else, and no more. Nothing is discarded for sharing no word at all: in chunking_evaluation 7 % of the
questions and the passages that answer them share none.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from runtime.lexicon import STOPWORDS, expand, is_cjk, raw_tokens, stems_of
from signatures import SupportVerdict

SHARE = 0.2
"""Share of the content words of a statement that must occur in what it rests on."""
ENOUGH = 0.6
"""Share from which on a verdict in words alone is that the quotes support a statement."""
FEWEST = 3
"""Content words below which a statement is not judged."""
_PAIR = 0.5
"""What a character of a script without spaces counts, as a part of a word."""


def related(text: str, quotes: Sequence[str], beside: Iterable[str] = ()) -> bool:
    """Whether a statement shares words with its quotes, in any order, or with what is known `beside` them.

    True where that cannot be judged.
    """
    return share(text, quotes, beside, enough=SHARE) >= SHARE


def verdict(text: str, quotes: Sequence[str]) -> tuple[SupportVerdict, str]:
    """What shared words say of a statement and its quotes, with the reason. It knows no meaning, and no "not"."""
    if any(text.strip() and text.strip() in each for each in quotes):
        return "supported", "The claim stands in a quote as it is."
    if not _judgeable(list(_words(text)), text, quotes):
        return "unclear", "Too few words, or of another language than the quotes."
    found = share(text, quotes)
    said = f"{found:.0%} of the words of the claim occur in the quotes."
    if found < SHARE:
        return "unsupported", said
    return ("supported" if found >= ENOUGH else "unclear"), said


def share(
    text: str, quotes: Sequence[str], beside: Iterable[str] = (), *, enough: float = 1.0
) -> float:
    """The share of the content words of a statement that occur in some texts, 1.0 where that cannot be judged.

    Looking ends when it is `enough`.
    """
    if any(text in each for each in quotes):
        return 1.0
    words = list(_words(text))
    whole = sum(weight for _, weight in words)
    if not _judgeable(words, text, quotes):
        return 1.0
    found = 0.0
    for each in (*quotes, *beside):
        forms = _forms(each)
        words = [word for word in words if word[0].isdisjoint(forms)]
        found = (whole - sum(weight for _, weight in words)) / whole
        if found >= enough:
            break
    return found


def touching(text: str, quotes: Sequence[str]) -> int:
    """How many quotes share at least one content word with a statement; all where that cannot be judged."""
    words = list(_words(text))
    if not _judgeable(words, text, quotes):
        return len(quotes)
    return sum(any(not word.isdisjoint(_forms(each)) for word, _ in words) for each in quotes)


def _judgeable(
    words: Iterable[tuple[frozenset[str], float]], text: str, quotes: Iterable[str]
) -> bool:
    """Whether a statement has words enough, and words that can be compared with those of the quotes."""
    return sum(weight for _, weight in words) >= FEWEST and _comparable(text, quotes)


def _comparable(text: str, quotes: Iterable[str]) -> bool:
    """Whether statement and quotes are in one script, and if that is the Latin one, the statement in English."""
    script = _script(text)
    if script != _script("\n".join(quotes)):
        return False
    tokens = (token.lower() for token in raw_tokens(text))
    return script != "LATIN" or any(token in STOPWORDS for token in tokens)


def _script(text: str) -> str:
    """The script of most of the letters; empty without any."""
    letters = Counter(
        "LATIN" if char.isascii() else unicodedata.name(char, "?").split()[0]
        for char in (text if text.isascii() else unicodedata.normalize("NFKC", text))
        if char.isalpha()
    )
    return letters.most_common(1)[0][0] if letters else ""


def _words(text: str) -> Iterator[tuple[frozenset[str], float]]:
    """The content words of a statement, each once, by the forms that they are known by, and what they count."""
    seen: set[frozenset[str]] = set()
    for token in raw_tokens(text):
        if is_cjk(token[0]):
            yield from _characters(token)
        elif (forms := _forms_of(token)) and forms not in seen:
            seen.add(forms)
            yield forms, 1.0


def _characters(run: str) -> Iterator[tuple[frozenset[str], float]]:
    """The characters of a run, each known by the two pairs that it is in."""
    for at, char in enumerate(run):
        pairs = frozenset(run[i : i + 2] for i in (at - 1, at) if 0 <= i < max(1, len(run) - 1))
        if char not in STOPWORDS:
            yield pairs, _PAIR


def _forms(text: str) -> frozenset[str]:
    return frozenset(form for token in raw_tokens(text) for form in _forms_of(token))


def _forms_of(token: str) -> frozenset[str]:
    """The stems of a token and of its parts, and the values of its numbers; none for a small word."""
    if is_cjk(token[0]):
        return frozenset(expand(token))
    return frozenset(_value(each) for each in stems_of(token))


def _value(word: str) -> str:
    """A number by its value, any other word as it is."""
    if not word[0].isdigit():
        return word
    try:
        return f"{float(word):g}" if len(word) < 16 else word
    except ValueError:
        return word
