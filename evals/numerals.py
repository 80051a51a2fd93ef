"""Numerals: numbers of an evaluation as people read them, on a page and in a terminal."""

import math

NONE = "–"
"""Stands where a value is undefined."""


def share(value: float | None) -> str:
    """A share with two digits behind the point; one that is not 0 or 1 is not shown as if it were."""
    if value is None:
        return NONE
    if 0 < value < 0.005:
        return "<.01"
    if 0.995 <= value < 1:
        return ">.99"
    return f"{value:.2f}"


def signed(value: float | None) -> str:
    """A difference of shares; one that is not 0 is not shown as if it were."""
    if value is None:
        return NONE
    if 0 < abs(value) < 0.005:
        return "+<.01" if value > 0 else "-<.01"
    return f"{value:+.2f}" if value else "0.00"


def number(value: float | None) -> str:
    """A number with three digits that count, or whole."""
    if value is None:
        return NONE
    if value and abs(value) < 100:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        return _bare(f"{value:,.{min(digits, 6)}f}")
    return f"{value:,.0f}"


def compact(value: float | None) -> str:
    """A number in few characters: 12.3k, 4.56M."""
    for size, unit in ((1e6, "M"), (1e4, "k")):
        if value is not None and abs(value) >= size:
            return f"{number(value / (1e6 if unit == 'M' else 1e3))}{unit}"
    return number(value)


def changed(value: float | None) -> str:
    """A difference of numbers, in few characters, with its sign."""
    return f"+{compact(value)}" if value and value > 0 else compact(value)


def probability(p: float | None) -> str:
    """A p-value with the digits that mean something."""
    if p is None:
        return NONE
    return "<.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def plural(count: int, what: str) -> str:
    """`1 sample`, `2 samples`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _bare(text: str) -> str:
    """A decimal without the zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text else text
