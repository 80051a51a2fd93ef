"""Framing: the words of a question that only ask. No text about the thing has to have them.

"List everything that was said about the buttons" is about buttons, and "How did the price evolve?" about the price. A
reader that looks for "list", or takes its absence for that of the thing, answers another question.
"""

import re

_START = r"(?:^|(?<=[.?!;:]))\s*(?:please\s+|can you\s+|could you\s+)?"
_ALL = r"(?:everything|anything|something)"
_SAID = r"(?:said|mentioned|told|discussed|written|stated|reported|known)"
_SAYING = r"(?:mentions?|talk|words?|discussions?|statements?|signs?|traces?)"
_ENDS = r"from\s+(?:the\s+)?(?:start|beginning)\s+to\s+(?:the\s+)?end"
_WHILE = r"(?:over|during|across|throughout)\s+(?:the\s+)?(?:time|meetings?|days?|weeks?)"
_FRAME = re.compile(
    rf"{_START}(?:list|enumerate|show|give|tell|find)\b(?:\s+(?:me|us)\b)?"
    rf"|\b(?:{_ALL}|all|what)\s+(?:that\s+)?(?:(?:was|were|is|are|has|been)\s+)*{_SAID}\b|\b{_ALL}\b"
    rf"|(?<=\bany )(?:{_SAYING})\b(?=\s+(?:of|about|on|that)\b)"
    rf"|\b{_ENDS}\b|\b{_WHILE}\b(?=[.?!]*$)",
    re.IGNORECASE,
)
_COURSE = re.compile(
    r"\b(how\s+(?:did|has|have|do|does)\b[^.?!]{1,160}?)\b(?:evolved?|unfold(?:ed)?|progress(?:ed)?|develop(?:ed)?)\b",
    re.IGNORECASE,
)


_EXCEPTED = re.compile(
    r"\b(?:other than|except(?:ing)?(?:\s+for)?|besides|apart from|aside from)\s+(?:(?:the|an?)\s+)?"
    r"(?P<what>[\w.@:/-]*\w)"
    r"|除了?\s*(?P<whom>[A-Za-z0-9_.@:/-]*[A-Za-z0-9_])\s*(?:以外|之外|外)?",
    re.IGNORECASE | re.ASCII,
)


def unframed(question: str) -> str:
    """The question without the words that only ask, or name an exception; the whole of it where nothing is left."""
    left = _EXCEPTED.sub(" ", _FRAME.sub(" ", _COURSE.sub(r"\1", question.strip())))
    return left if re.search(r"\w", left) else question


def exceptions(question: str) -> list[str]:
    """The words that a question names as exceptions: what has them is no answer ("any user other than root")."""
    found = (each["what"] or each["whom"] for each in _EXCEPTED.finditer(question))
    return list(dict.fromkeys(found))
