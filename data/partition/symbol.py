"""SymbolPartitioner: the top-level functions and classes of a Python module.

Decorators and the comment right above belong to a symbol. Python's parser counts lines as this project does: they end
with LF, CRLF or CR; a form feed ends none. Its columns (UTF-8 bytes) are not used.
"""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from data.partition.lines import line_starts
from data.partition.partitioner import Segment, segments_from
from data.source import Source

MODULE = "module"


@dataclass(frozen=True, slots=True)
class SymbolPartitioner:
    """Applies to Python code that can be parsed and defines something."""

    name: ClassVar[str] = "symbol"

    max_chars: int

    def cut(self, text: str, source: Source) -> list[Segment]:
        """One segment a function or class; other statements between them are segments named `module`."""
        body = _body(text, source.id)
        if not any(isinstance(node, _SYMBOLS) for node in body):
            return []
        starts = line_starts(text).tolist()
        lines = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
        marks = [(starts[line - 1], label) for line, label in _marks(body, lines)]
        return segments_from(marks, len(text), MODULE)


_SYMBOLS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _body(text: str, name: str) -> list[ast.stmt]:
    """The statements of the module; none if it is not valid Python, or nested too deep to parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, filename=name).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _marks(body: list[ast.stmt], lines: list[str]) -> Iterator[tuple[int, str]]:
    """First line and label of each symbol, and of each run of other statements behind one."""
    last_line, last_label = 0, MODULE
    for node in body:
        label = _label(node)
        first = _with_comment(_first_line(node), lines, last_line)
        if first > last_line and not label == last_label == MODULE:
            yield first, label
            last_label = label
        last_line = max(last_line, node.end_lineno or node.lineno)


def _label(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"def {node.name}"
    return MODULE


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _with_comment(first: int, lines: list[str], last_line: int) -> int:
    """The line of the comment right above, which begins in the first column; else the line itself."""
    while first - 1 > last_line and lines[first - 2].startswith("#"):
        first -= 1
    return first
