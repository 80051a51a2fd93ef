"""Columns: text measured in the cells of a terminal, for plain-text views.

East Asian wide characters take two cells, combining marks none. Text from a corpus or a model may hold line ends,
terminal escapes and direction overrides: `one_line` leaves none of them.
"""

import unicodedata

_ELLIPSIS = "…"
_JOINER = "\u200d"


def one_line(text: str) -> str:
    """The text on one line: white space runs become one space, control and direction characters vanish."""
    visible = "".join(each for each in text if each.isspace() or _harmless(each))
    return " ".join(visible.split())


def cells(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return sum(_cells_of(each) for each in text)


def cut(text: str, width: int) -> str:
    """The text if it fits into `width` cells, else its beginning and an ellipsis."""
    if cells(text) <= width:
        return text
    kept, used = [], cells(_ELLIPSIS)
    for each in text:
        used += _cells_of(each)
        if used > width:
            break
        kept.append(each)
    return "".join(kept).rstrip() + _ELLIPSIS if width > 0 else ""


def _cells_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _harmless(character: str) -> bool:
    return character == _JOINER or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
