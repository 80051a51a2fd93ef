"""Framing: the words of a question that only ask. No text about the thing has to have them.

"List everything that was said about the buttons" is about buttons, and "How did the price evolve?" about the price. A
reader that looks for "list", or takes its absence for that of the thing, answers another question.
"""

import re

_START = r"(?:^|(?<=[.?!;:]))\s*(?:please\s+|can you\s+|could you\s+)?"
_SAID = r"(?:said|mentioned|told|discussed|written|stated|reported|talked|known)"
_FRAME = re.compile(
    "|".join(
        (
            _START
            + r"(?:list|enumerate|name|show|give|tell|find|summari[sz]e)\b(?:\s+(?:me|us)\b)?",
            rf"\b(?:everything|anything|something|all|what)\s+(?:that\s+)?(?:(?:was|were|is|are|has|have|been)\s+)*{_SAID}\b",
            r"\b(?:everything|anything|something|everyone|anyone|anybody|everybody)\b",
            r"(?<=\bany )(?:mention|mentions|talk|word|words|discussion|statement|statements|sign|trace)\b(?=\s+(?:of|about|on|that))",
            r"\b(?:evolve|unfold|progress|develop)\b(?=[^.?!]{0,60}[.?!]?$)",
            r"\bfrom\s+(?:the\s+)?(?:very\s+)?(?:start|beginning|first)\s+to\s+(?:the\s+)?(?:very\s+)?(?:end|last)\b",
            r"\b(?:over|during|across|throughout|in the course of)\s+(?:the\s+)?(?:time|meetings?|days?|weeks?)\b(?=[^.?!\w]*$)",
        )
    ),
    re.IGNORECASE,
)


def unframed(question: str) -> str:
    """The question without the words that only ask; the whole of it where nothing else is left."""
    left = _FRAME.sub(" ", question)
    return left if re.search(r"\w", left) else question
