"""The report of evaluations: one self-contained HTML file."""

from evals.report.pages import report_of
from evals.report.rendering import rendered

__all__ = ["rendered", "report_of"]
