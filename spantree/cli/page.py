"""Page: lines of styled text, laid out for a width in cells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from spantree.cli.terminal import plain, wrap

INDENT = "  "


@dataclass
class Page:
    """Collects lines. Every text that is added may be untrusted: it is made plain first."""

    width: int
    lines: list[Text] = field(default_factory=list)

    def heading(self, title: str, note: str = "", *, style: str = "bold") -> None:
        """A title on a line of its own, after a blank line unless it is the first; `note` follows a colon."""
        if self.lines:
            self.lines.append(Text())
        whole = wrap(plain(f"{title}: {note}" if note else title), self.width)
        for i, line in enumerate(whole):
            self.lines.append(Text(line, style=style if i == 0 else ""))

    def item(
        self,
        text: str,
        *,
        lead: str = "- ",
        lines: int | None = None,
        style: str = "",
        indent: str = INDENT,
    ) -> None:
        """A paragraph with a hanging indent behind `lead`, wrapped to the width, in at most `lines` lines."""
        hang = cell_len(indent + lead)
        wrapped = wrap(plain(text), self.width - hang, lines=lines) or [""]
        self.lines.append(Text(indent + lead, end="").append(wrapped[0], style=style))
        self.lines.extend(Text(" " * hang).append(line, style=style) for line in wrapped[1:])

    def unbroken(self, text: str, *, lead: str, indent: str = INDENT) -> None:
        """A line that is never broken, so that it can be copied: the terminal may have to wrap it."""
        self.lines.append(Text(indent + lead + plain(text)))

    def parts(self, parts: Sequence[str], *, style: str = "") -> None:
        """Short facts after a blank line, with dots between them, broken only between two of them."""
        lines = [""]
        for part in map(plain, parts):
            joined = f"{lines[-1]} · {part}" if lines[-1] else part
            if cell_len(joined) <= self.width or not lines[-1]:
                lines[-1] = joined
            else:
                lines.append(part)
        self.lines.append(Text())
        self.lines.extend(Text(line, style=style) for line in lines)

    def paragraphs(self, text: str) -> None:
        """Text with its own line breaks, each line wrapped."""
        for line in text.splitlines():
            self.item(line, lead="")

    def beside(self, columns: Sequence[Iterable[str]], *, indent: str = INDENT * 2) -> None:
        """Columns of plain lines next to each other, in equal shares of the width."""
        gap = 3
        cells = (self.width - len(indent) - gap * (len(columns) - 1)) // len(columns)
        wrapped = [[piece for line in lines for piece in wrap(line, cells)] for lines in columns]
        for row in zip_longest(*wrapped, fillvalue=""):
            padded = [cell + " " * (cells - cell_len(cell) + gap) for cell in row]
            self.lines.append(Text((indent + "".join(padded)).rstrip()))

    def print(self, console: Console) -> None:
        """Print the lines as they are: no markup, no highlighting, no wrapping of the console's own."""
        for line in self.lines:
            console.print(line, soft_wrap=True, markup=False, highlight=False, emoji=False)
