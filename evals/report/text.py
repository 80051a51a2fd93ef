"""Text of sources, models and logs as a page may show it, and numbers as people read them."""

import math

_CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}
"""What HTML or UTF-8 has no place for: control characters are shown as their pictures, lone surrogates as unknown."""

NONE = "–"
"""Stands where a value is undefined."""


def shown(text: str) -> str:
    """A text without what no page can hold. Its markup is escaped by the template, not here."""
    return text.translate(_CONTROLS)


def cut(text: str, most: int) -> str:
    """A text, its middle left out where it is longer than `most` characters."""
    if len(text) <= most:
        return shown(text)
    half = most // 2
    return f"{shown(text[:half])} … {shown(text[-half:])}"


def share(value: float | None) -> str:
    """A share with two digits behind the point; one that is not 0 or 1 is not shown as if it were."""
    if value is None:
        return NONE
    if 0 < value < 0.005:
        return "<.01"
    if 0.995 <= value < 1:
        return ">.99"
    return f"{value:.2f}"


def number(value: float | None) -> str:
    """A number with three digits that count, or whole."""
    if value is None:
        return NONE
    if value and abs(value) < 100:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        return f"{value:,.{min(digits, 6)}f}".rstrip("0").rstrip(".")
    return f"{value:,.0f}"


def plural(count: int, what: str) -> str:
    """`1 sample`, `2 samples`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
