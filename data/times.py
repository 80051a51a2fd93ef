"""Times of lines: a column that gives each line its timestamp, or that of the nearest line before it."""

import numpy as np
import pyarrow as pa
from pyarrow.compute import SliceOptions, call_function

from data.timestamp import TimestampReader

_TIME = pa.timestamp("us")
_BLOCK = 1 << 15
_SAMPLE = 1000
_CHARACTERS = 400
"""A timestamp stands near the start of its line; the rest is not decoded."""


def line_times(lines: pa.LargeStringArray, *, timed: bool) -> pa.Array:
    """Microseconds since 1970 as the text says them; null before the first timestamp, or if there are none."""
    reader = TimestampReader.detect(_starts(_spread(lines))) if timed else None
    if reader is None:
        return pa.nulls(len(lines), _TIME)
    blocks = [
        pa.array([reader.read(line) for line in _starts(lines.slice(at, _BLOCK))], _TIME)
        for at in range(0, len(lines), _BLOCK)
    ]
    return call_function("fill_null_forward", [pa.concat_arrays(blocks)])


def _spread(lines: pa.LargeStringArray) -> pa.LargeStringArray:
    """Some lines, spread evenly."""
    step = -(-len(lines) // _SAMPLE)
    return lines.take(pa.array(np.arange(0, len(lines), max(1, step))))


def _starts(lines: pa.LargeStringArray) -> list[str]:
    return call_function("utf8_slice_codeunits", [lines], SliceOptions(0, _CHARACTERS)).to_pylist()
