"""The command line: one module a verb."""

from spantree.cli.app import main

__all__ = ["main"]
