"""Mentions: the parts of a question that name exact strings (quoted phrases, expressions, identifiers)."""

import re
from collections.abc import Iterable
from itertools import permutations

from runtime.questions.negation import continues, negates
from runtime.questions.notation import absent, any_of, exact, names_of, unique

# An apostrophe is no quotation mark, and a double quotation mark after a digit is an inch.
_QUOTED = (
    r'(?<![\w"])"([^"\r\n]{1,300})"(?![\w"])|“([^“”\r\n]{1,300})”|「([^「」\r\n]{1,300})」'
    r"|『([^『』\r\n]{1,300})』|《([^《》\r\n]{1,300})》|`([^`\r\n]{1,300})`"
    r'|(?<=[\u3400-\u9fff])"([^"\r\n]{1,300})"|(?<![\w"])"([^"\r\n]{1,300})"(?=[\u3400-\u9fff])'
)
# Between slashes is a path, unless it has an `i` behind it or something in it that no path has.
_EXPRESSION = (
    r"(?<![A-Za-z0-9_/.:~*])(?P<expression>/(?![ /*])"
    r"(?:(?:\\.|[^/\\\r\n]){1,300}(?<! )/i|(?=[^/\r\n]*[\\\[\](){}|^$+*? ])(?:\\.|[^/\\\r\n]){1,300}(?<! )/)"
    r"(?![A-Za-z0-9_/]))"
)
_LITERAL = re.compile(f"{_EXPRESSION}|{_QUOTED}")
# What a new clause opens with: "and which mention", ", does". Not "and are followed by": that goes on about the same.
_CLAUSE = re.compile(
    r"(?:[,;.?!，；。？！]|\b(?:and|or|but)\b)\s*(?:(?:and|or|but)\s+)?(?:also\s+|then\s+|in\s+|on\s+)?"
    r"(?:(?:which|who|whom|whose|what|when|where|why|how)\b"
    r"|(?:is|are|was|were|does|do|did|has|have|had|can|could|will)"
    r"(?:\s*$|\s+(?:there|any(?:one|body|thing)?|some(?:one|body|thing)?|the|an?|it|they|we|you)\b))"
    r"|(?:[,;.?!，；。？！、]|并且?|以及|或者?|和|还|又|另外)\s*(?:并且?|以及|或者?|和|还|又|另外|在)?"
    r"(?:是否|哪|有没有|有无|是不是|谁|什么|何时|为什么|怎|有?多少|有?几)",
    re.I,
)
_MOST_ORDERED = 3
_ALTERNATIVE = re.compile(r"^\s*(?:,\s*)?(?:or|或者|或|还是)\s*$", re.I)

# Tokens in the order of their claim on the text: an address is not a decimal, a path is not a name.
# A token starts only where no other is under way: a long word is not tried from each of its letters.
_IDENTIFIER = re.compile(
    r"""
    (?P<url>https?://[^\s"'<>，。？！）)]+)
  | (?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+)
  | (?P<uuid>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)
  | (?P<mac>\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b)
  | (?P<ip>(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\d.]*\d))
  | (?P<path>(?<![\w/.])(?:~|\.{1,2})?/[\w.+-]+(?:/[\w.+*-]+)*/?|\b[A-Za-z]:\\[\w.\\-]+
        |(?<![\w./-])[\w.-]{1,80}(?:/[\w.-]{1,80})+\.[A-Za-z]\w{0,5}\b)
  | (?P<relative>(?<![\w./-])\w[\w.-]{0,80}(?:/\w[\w.-]{0,80}){2,})
  | (?P<hex>\b0x[0-9a-fA-F]+\b)
  | (?P<version>\bv\d+(?:\.\d+)+\b|(?<![\d.])\d+(?:\.\d+){2,}(?:-[A-Za-z]\w*)?(?![\d.]*\d))
  | (?P<joined>(?<![A-Za-z0-9_])[A-Za-z0-9]+(?:_-?[A-Za-z0-9]+)+(?:[.\-:][A-Za-z0-9_]+)*)
  | (?P<dotted>(?<![\w.-])[A-Za-z][\w-]+(?:\.[A-Za-z][\w-]+)+\b)
  | (?P<code>\b[A-Z]{2,}-\d{2,}\b|\b[A-Z]+\d[A-Z\d]*-\d+\b)
  | (?P<call>\b[A-Za-z_]\w+(?=\(\)))
  | (?P<mixed>(?<![\w-])(?=[A-Za-z-]*\d)(?=[\d-]*[A-Za-z])[A-Za-z\d]+(?:-[A-Za-z\d]+)*\b)
  | (?P<number>(?<![\w.,-])\d{6,}(?![\w.,]*\d))
  | (?P<camel>\b(?:[A-Z]?[a-z]+|[A-Z]+)(?:[A-Z][a-z]+)+\b)
    """,
    re.VERBOSE | re.ASCII,
)
_UNIT = re.compile(
    r"\d[\d-]*(?:st|nd|rd|th|s|m|h|d|ms|us|ns|k|kb|mb|gb|tb|kg|g|mg|ug|ml|cm|mm|km|hz|khz|mhz|ghz|px"
    r"|x|am|pm|min|sec|hr|hrs|bit|d|fold|year|years|day|days|week|weeks|hour|hours|minute|minutes|month"
    r"|months)(?:-\w+)*|(?:pre|post|mid|late|early|top|under|over)-?\d+s?|\w?\d{4}[a-z]?",
    re.I,
)
_ABBREVIATION = re.compile(r"(?:[A-Za-z]{1,2}\.)+[A-Za-z]{0,2}$")

_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_NO_NAME = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*|\w+day|I|The|A|An|This|That|These"
)


def expressions(question: str) -> list[str]:
    """The regular expressions of a question, as they are written between slashes."""
    return [each["expression"] for each in _LITERAL.finditer(question) if each["expression"]]


def _inner(found: re.Match[str]) -> str:
    return next((group for group in found.groups()[1:] if group is not None), "")


def without_quotes(question: str) -> str:
    """The question with what it quotes blanked: that says nothing about what is asked."""
    return _LITERAL.sub(" … ", question)


def names(question: str) -> list[str]:
    """The proper names of a question: words with a capital that begin no sentence, neighbors as one name."""
    found = unique(match.group() for match in _NAME.finditer(without_quotes(question)))
    return [name for name in found if not _NO_NAME.fullmatch(name)]


def quoted_patterns(question: str, *, apart: bool = False) -> list[str]:
    """Patterns for what is quoted: alternatives where "or" joins phrases, negations for what must be absent.

    They hold for one line, all of them. With `apart`, what two clauses ask for is one pattern with alternatives: no
    line needs to have both.
    """
    clauses = _clauses(question)
    if apart and len(clauses) > 1:
        wholes = [_in_any_order(clause) for clause in clauses]
        if all(wholes):
            return [any_of(wholes)]
    return unique(pattern for clause in clauses for pattern in clause)


def demands(question: str) -> list[list[str]]:
    """The patterns of each clause, where `quoted_patterns` makes alternatives of several clauses; otherwise none."""
    clauses = _clauses(question)
    apart = len(clauses) > 1 and all(_in_any_order(clause) for clause in clauses)
    return clauses if apart else []


def about(question: str, patterns: Iterable[str]) -> bool:
    """Whether every literal pattern occurs in the question, and no expression comes from what another one quotes."""
    folded = question.casefold()
    quoted = {*quoted_patterns(question), *quoted_patterns(question, apart=True)}
    literals = (pattern.removeprefix("not ") for pattern in patterns if pattern not in quoted)
    return all(
        (not quoted or p in question) if p.startswith("/") else p.strip('"').casefold() in folded
        for p in literals
    )


def _in_any_order(patterns: list[str]) -> str:
    """One pattern for the lines that match all of them; empty where no expression can say that."""
    if len(patterns) == 1 and not patterns[0].startswith("not "):
        return patterns[0]
    if len(patterns) > _MOST_ORDERED or any(each.startswith("not ") for each in patterns):
        return ""
    parts = [any_of([each])[1:-1] for each in patterns]
    orders = (".*".join(f"(?:{part})" for part in order) for order in permutations(parts))
    return f"/{'|'.join(orders)}/"


def _clauses(question: str) -> list[list[str]]:
    """The patterns for what is quoted, clause by clause."""
    clauses: list[list[tuple[bool, list[str]]]] = []
    groups: list[tuple[bool, list[str]]] = []
    end = 0
    for found in _LITERAL.finditer(question):
        if not (found["expression"] or _inner(found).strip()):
            continue
        between = question[end : found.start()]
        denied = negates(between) or bool(groups and groups[-1][0] and continues(between))
        literal = found["expression"] or exact(_inner(found))
        if groups and _ALTERNATIVE.match(between):
            groups[-1][1].append(literal)
        elif not groups or _CLAUSE.search(between):
            groups = [(denied, [literal])]
            clauses.append(groups)
        else:
            groups.append((denied, [literal]))
        end = found.end()
    return [_patterns(groups) for groups in clauses]


def _patterns(groups: list[tuple[bool, list[str]]]) -> list[str]:
    return unique(
        absent(pattern) if denied else pattern
        for denied, literals in groups
        for pattern in [literals[0] if len(literals) == 1 else any_of(literals)]
    )


def identifiers(question: str, sources: tuple[str, ...], prose: bool) -> list[str]:
    """The identifiers of a question outside quotes, in order; names of `sources` are not among them.

    In prose, short mixtures of letters and digits are words (H1N1, G20), not identifiers, and a
    word with a capital inside is a name.
    """
    names = {name for source in sources for name in names_of(source)}
    frame = without_quotes(question)
    found: list[str] = []
    for match in _IDENTIFIER.finditer(frame):
        text = match.group().rstrip(".-/:") if match.lastgroup != "url" else match.group()
        if _counts(match, prose) and text.casefold() not in names:
            found.append(absent(text) if negates(frame[: match.start()]) else text)
    return unique(found)


def _counts(match: re.Match[str], prose: bool) -> bool:
    text = match.group()
    digits = sum(ch.isdigit() for ch in text)
    match match.lastgroup:
        case "mixed":
            return digits >= (3 if prose else 1) and not _UNIT.fullmatch(text)
        case "code":
            return digits >= 3 or not prose
        case "camel":
            return not prose
        case "relative":
            return not prose and not text.replace("/", "").isdigit()
        case "number":
            return not text.endswith("000")
        case "dotted":
            return not _ABBREVIATION.match(text)
        case "path":
            return not re.fullmatch(r"[\d/.-]+", text)
        case "version":
            return not re.fullmatch(r"(?:\d{1,2}\.){2}\d{4}|\d{4}(?:\.\d{1,2}){2}", text)
        case _:
            return True
