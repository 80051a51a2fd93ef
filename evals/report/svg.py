"""SVG as a part of a page: a figure of matplotlib without styles, fonts, names and colors of its own.

A page that forbids inline styles can hold it, and its colors are variables of the page, so that it is right in the
light and in the dark. The same figure gives the same bytes.
"""

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#010101"
FAINT = "#020202"
MUTED = "#040404"
SERIES = 10
"""Colors of series that a page defines: `--s0` to `--s9`."""

SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "spantree",
    "text.parse_math": False,
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "xtick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.color": FAINT,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
}
"""Settings of matplotlib under which figures are drawn."""

_NAMES = {INK: "var(--ink)", FAINT: "var(--faint)", MUTED: "var(--muted)"}
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DROPPED = {_SVG + "metadata", _SVG + "style"}
_ATTRIBUTES = {
    "fill",
    "fill-opacity",
    "font-size",
    "font-weight",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
}
_REFERENCE = re.compile(r"(?<=#)[\w-]+")


def series_color(series: int) -> str:
    """The color of a series as figures name it; the page knows it as a variable."""
    return f"#0301{series % SERIES:02x}"


def inline(figure: "Figure", name: str, title: str) -> str:
    """The figure as an SVG element. `name` is unique on the page; `title` says what is to be seen."""
    drawn = io.StringIO()
    with warnings.catch_warnings():
        # Text stays text, and the browser has the glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(drawn, format="svg", metadata={"Date": None}, transparent=True)
    root = ElementTree.fromstring(drawn.getvalue())
    _prune(root)
    _rename(root, name)
    for element in root.iter():
        _unstyle(element)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": title,
        "class": "chart",
        "stroke-linejoin": "round",
    }
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    return ElementTree.tostring(root, encoding="unicode")


def _prune(element: ElementTree.Element) -> None:
    for child in list(element):
        if child.tag in _DROPPED:
            element.remove(child)
        else:
            _prune(child)


def _rename(root: ElementTree.Element, name: str) -> None:
    """Ids that something refers to get names that are unique on the page; the others go."""
    names: dict[str, str] = {}
    for element in root.iter():
        link = element.attrib.pop(_HREF, None)
        if link:
            element.set("href", link)
        for key in ("href", "clip-path"):
            if key in element.attrib:
                found = _REFERENCE.findall(element.attrib[key])
                names.update((each, f"{name}-{len(names)}") for each in found if each not in names)
                element.set(key, _REFERENCE.sub(lambda m: names[m.group()], element.attrib[key]))
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in names:
            element.set("id", names[old])


def _unstyle(element: ElementTree.Element) -> None:
    """Turn a style into attributes, and colors into variables of the page."""
    for part in element.attrib.pop("style", "").split(";"):
        key, _, value = (piece.strip() for piece in part.partition(":"))
        if key == "font":
            key, value = "font-size", value.split("px")[0].split()[-1] + "px"
        if key in _ATTRIBUTES:
            element.set(key, value)
    for key in ("fill", "stroke"):
        if key in element.attrib:
            element.set(key, _variable(element.attrib[key]))
    if element.tag == _SVG + "text" and "fill" not in element.attrib:
        element.set("fill", "var(--ink)")


def _variable(color: str) -> str:
    if color in _NAMES:
        return _NAMES[color]
    if color.startswith("#0301"):
        return f"var(--s{int(color[5:], 16)})"
    return color
