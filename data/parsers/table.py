"""Parsers of tables: comma-separated (or semicolon, or bar) and tab-separated values."""

import csv
import io
from typing import ClassVar

from data.decode import Decoded
from data.parsers.document import PlainParser

_FIELD_LIMIT = "field larger than field limit"


class TableParser(PlainParser):
    """Base of the two: the quoting is checked, ragged rows are none of its business."""

    timed = True
    delimiters: str

    def check(self, decoded: Decoded) -> str:
        """Read all rows. A field beyond the limit of the csv module is long, not wrong."""
        lines = io.TextIOWrapper(io.BytesIO(decoded.utf8 or b""), "utf-8", newline="")
        head = lines.readline()
        lines.seek(0)
        rows = csv.reader(lines, delimiter=max(self.delimiters, key=head.count), strict=True)
        try:
            for _ in rows:
                pass
        except csv.Error as error:
            if _FIELD_LIMIT not in str(error):
                return f"not valid {self.name.upper()}: {error} (line {rows.line_num})"
        return ""


class CsvParser(TableParser):
    """Comma-separated values and their relatives."""

    name = "csv"
    delimiters = ",;|\t"
    media_types: ClassVar = {".csv": "text/csv"}


class TsvParser(TableParser):
    """Tab-separated values."""

    name = "tsv"
    delimiters = "\t"
    media_types: ClassVar = dict.fromkeys((".tsv", ".tab"), "text/tab-separated-values")
