"""The prompt of `dspy.RLM`, read: the variables of its sandbox, and the cells that have run with their outputs."""

import json
import re
import textwrap
from dataclasses import dataclass

_VARIABLE = re.compile(
    r"^(?:\[\d+\] )?«+\n[ ]*Variable: `(?P<name>\w+)`.*?^[ ]*Preview:\n[ ]*```\n(?P<preview>.*?)\n[ ]*```\n»+$",
    re.MULTILINE | re.DOTALL,
)
_STEP = re.compile(r"^=== Step \d+ ===$", re.MULTILINE)
_CODE = re.compile(
    r"^Code:\n```python\n(?P<code>.*?)\n```\nOutput \((?P<size>[\d,]+) chars\):\n", re.M | re.S
)
_OMITTED = re.compile(r"\n\n\.\.\. \([\d,]+ characters omitted\) \.\.\.\n\n")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Cell:
    """A cell that has run. Of a long output the prompt shows the head and the tail; `size` is its full length."""

    code: str
    size: int
    head: str
    tail: str = ""

    @property
    def missing(self) -> tuple[int, int]:
        """The range of the output that is not shown."""
        return len(self.head), self.size - len(self.tail)


def variables_in(info: str) -> dict[str, str]:
    """The previews of the variables by name; a long one has an ellipsis in its middle."""
    return {found["name"]: textwrap.dedent(found["preview"]) for found in _VARIABLE.finditer(info)}


def strings_in(preview: str) -> list[str]:
    """The strings of a list; where its preview is cut, those that are whole."""
    try:
        return [str(each) for each in json.loads(preview)]
    except (ValueError, TypeError):
        return [
            json.loads(found[0]) for found in _STRING.finditer(preview) if "..." not in found[0]
        ]


def cells_in(history: str) -> list[Cell]:
    """The cells of a history, in order."""
    return [cell for part in _STEP.split(history)[1:] if (cell := _cell(part))]


def _cell(part: str) -> Cell | None:
    found = _CODE.search(part)
    if not found:
        return None
    shown = part[found.end() :].rstrip("\n")
    head, *tail = _OMITTED.split(shown, maxsplit=1)
    return Cell(found["code"], int(found["size"].replace(",", "")), head, "".join(tail))
