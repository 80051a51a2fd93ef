"""Rendering: the report as one HTML file that needs nothing else and may reach nothing else.

Its policy forbids every request and every script and style but its own, which are named by their hashes. Whatever
comes from a corpus, a model or a log is escaped by the template engine.
"""

import base64
import hashlib
from collections.abc import Sequence

from evals.report.pages import Report
from evals.report.sample_page import SamplePage


def rendered(report: Report, pages: Sequence[SamplePage]) -> str:
    """The whole file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    engine = Environment(
        loader=PackageLoader("evals.report"), autoescape=True, undefined=StrictUndefined
    )
    style, script = (engine.get_template(name).render() for name in ("report.css", "report.js"))
    return engine.get_template("report.html").render(
        report=report,
        pages=pages,
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
    )


def policy(style: str, script: str) -> str:
    """The content security policy of a page with this style and this script."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
