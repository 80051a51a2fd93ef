"""Text of sources, models and logs as a page may show it."""

_CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
    **dict.fromkeys(range(0xE0000, 0xE0080), 0xFFFD),
}
"""What HTML or UTF-8 has no place for, and what would make a text look like another one.

Control characters are shown as their pictures; lone surrogates, changes of direction and invisible tags as unknown.
"""


def shown(text: str) -> str:
    """A text without what no page can hold. Its markup is escaped by the template, not here."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def cut(text: str, most: int) -> str:
    """A text, its middle left out where it is longer than `most` characters."""
    if len(text) <= most:
        return shown(text)
    half = most // 2
    return f"{shown(text[:half])} … {shown(text[-half:])}"
