"""Rendering: the report as one HTML file that needs nothing else and may reach nothing else.

Its policy forbids every request and every script and style but its own, which are named by their hashes. Whatever
comes from a corpus, a model or a log is escaped by the template engine.
"""

import base64
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evals.report.pages import Report
from evals.report.sample_page import SamplePage

if TYPE_CHECKING:
    from jinja2 import Environment

_STYLE = "report.css"
_PALETTE = "palette.css"


def rendered(report: Report, pages: Sequence[SamplePage]) -> str:
    """The whole file."""
    from markupsafe import Markup

    engine = _engine()
    style, script = (engine.get_template(name).render() for name in (_STYLE, "report.js"))
    return engine.get_template("report.html").render(
        report=report,
        pages=pages,
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
    )


def still(template: str, **facts: Any) -> str:
    """Another page in the same style, without scripts; `template` is given `facts`, `policy` and `style`."""
    from markupsafe import Markup

    engine = _engine()
    style = engine.get_template(_STYLE).render()
    return engine.get_template(template).render(policy=policy(style), style=Markup(style), **facts)


def picture(chart: str) -> str:
    """A chart as an SVG file of its own, with the colors of the page in the light and in the dark."""
    palette = _engine().get_template(_PALETTE).render()
    style = f"{palette}\ntext {{ font-family: system-ui, sans-serif; }}"
    chart = chart.replace("<svg ", '<svg width="640" ', 1)
    begin = chart.index(">") + 1
    _, _, wide, high = chart.split('viewBox="', 1)[1].split('"', 1)[0].split()
    paper = f'<rect width="{wide}" height="{high}" fill="var(--bg)" />'
    return f"{chart[:begin]}<style>{style}</style>{paper}{chart[begin:]}\n"


def policy(style: str, script: str | None = None) -> str:
    """The content security policy of a page with this style and this script, or with none."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            *([f"script-src '{_hash(script)}'"] if script is not None else []),
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _engine() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("evals.report"), autoescape=True, undefined=StrictUndefined
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
