"""The verb `optimize report`: one HTML file with everything that an optimization shows."""

from spantree.cli import optimize_options as own
from spantree.cli import options
from spantree.cli.output import standard_error


def report_optimization(
    folder: own.Folder, out: own.ReportFile = None, quiet: options.Quiet = False
) -> None:
    """Write an HTML report of an optimization.

    It is one file that needs no network: candidates, fronts, what changed, what was proposed, and the test. Demos and
    prompts quote excerpts of the corpora.

    \b
    Example:
      spantree optimize report optimizations/mixed-recursive-gepa-1234abcd --out gepa.html
    """
    from evals.optimization import read_optimization
    from spantree.cli.optimization import REPORT
    from spantree.cli.optimization_result import write_report

    place = write_report(read_optimization(folder), out or folder / REPORT)
    if not quiet:
        standard_error().print(f"report: {place}", soft_wrap=True)
