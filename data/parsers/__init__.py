"""Parsers: what turns the bytes of a file into its text, one for each format.

To add a format, write a class with the members of `Parser` and put it into `PARSERS`, before the ones
that would take the file otherwise. Raise its `version` whenever it gives another text or status for the same bytes.
"""

from data.parsers.choice import HEAD_BYTES, PARSERS, Choice, choose_parser
from data.parsers.document import Document, Parser

__all__ = ["HEAD_BYTES", "PARSERS", "Choice", "Document", "Parser", "choose_parser"]
