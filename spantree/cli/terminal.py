"""Text for a terminal: made harmless, measured in cells, wrapped and cut.

What comes out of a file is untrusted. It must not move the cursor, recolor the screen, reverse the reading
direction or smuggle in invisible letters; and it is never parsed as markup, since only `rich.text.Text` is printed.
"""

import re
import unicodedata
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells

_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_WIDE = "\u2e80-\u30ff\u3100-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U0003ffff"
_OPENING = "「『（《〈【［“‘"
_CLOSING = "，。、；：？！」』）》〉】］”’…,.;:?!"
_TOKEN = re.compile(rf"[{_OPENING}]*[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*|\s+")
_LONGEST = 20_000


def plain(text: str) -> str:
    """`text` on one line, without anything that a terminal would obey. Control characters become visible."""
    text = text[:_LONGEST].replace("\r\n", "\n").strip("\r\n")
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    if char == "\t" or char in "\u2028\u2029" or unicodedata.category(char) == "Zs":
        return " "
    if char == "\n":
        return " ⏎ "
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    if char == "\x7f":
        return "␡"
    if char in _DIRECTION or "\U000e0000" <= char <= "\U000e007f":
        return "�"
    return "�" if unicodedata.category(char) in ("Cc", "Cs") else char


def cut(text: str, cells: int) -> str:
    """`text` in at most `cells` cells; what is cut off is marked by an ellipsis."""
    if cell_len(text) <= cells:
        return text
    return _fill(text, cells - 1).rstrip() + "…" if cells > 0 else ""


def cut_left(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, keeping its end: for paths, whose end says more."""
    if cell_len(text) <= cells:
        return text
    while cell_len(text) > cells - 1:
        text = text[1:]
    return "…" + text


def wrap(text: str, cells: int, *, lines: int | None = None) -> list[str]:
    """`text` broken into lines of at most `cells` cells, at spaces and between CJK characters.

    With `lines`, at most that many; the last one then ends in an ellipsis.
    """
    cells = max(cells, 4)
    wrapped = list(_lines(text, cells))
    if lines is None or len(wrapped) <= lines:
        return wrapped
    last = wrapped[lines - 1]
    return [
        *wrapped[: lines - 1],
        (last if cell_len(last) < cells else _fill(last, cells - 1)) + "…",
    ]


def _lines(text: str, cells: int) -> Iterator[str]:
    line, used = "", 0
    for token in _TOKEN.findall(text):
        width = cell_len(token)
        if used + width > cells and not token.isspace():
            if line.strip():
                yield line.rstrip()
            line, used = "", 0
        for piece in chop_cells(token, cells) if width > cells else (token,):
            if used and used + cell_len(piece) > cells and not piece.isspace():
                yield line.rstrip()
                line, used = "", 0
            if line or not piece.isspace():
                line, used = line + piece, used + cell_len(piece)
    if line.strip():
        yield line.rstrip()


def _fill(text: str, cells: int) -> str:
    pieces = chop_cells(text, cells) if cells > 0 else []
    return pieces[0] if pieces else ""


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 call`, `2,000 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
