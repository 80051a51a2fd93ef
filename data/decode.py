"""Decoding: from the bytes of a file to its text as valid UTF-8, with what was found out on the way.

The text is that of the file, code point by code point: only a byte order mark is dropped, and recorded. Tried in
this order: a byte order mark, UTF-8, UTF-16 without a mark (when every other byte is zero), mostly UTF-8 with
stray bytes, a legacy encoding (charset-normalizer). Bytes that cannot be decoded become U+FFFD and are counted.
"""

import codecs
import re
from dataclasses import dataclass

import charset_normalizer
import numpy as np
import pyarrow as pa

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MULTIBYTE = ["gb18030", "cp932", "euc_jp", "big5", "cp949"]
_SINGLE_BYTE = ["cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256"]
_LATIN = ["cp1252", "cp1250", "cp1254"]
_LEGACY = _MULTIBYTE + _SINGLE_BYTE
"""The encodings considered, the more common first: it decides when the evidence is about equal."""

_ABOUT_EQUAL = 0.05
_SAMPLE = 1 << 15
_INSENSIBLE = 0.3
"""Above this share of bytes that cannot be decoded, what comes out is not a text."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[\x80-\ud7ff\ue000-\U0010ffff]+")
_HIGH_BYTES = re.compile(rb"[\x80-\xff]+")
_ASCII = bytes(range(128))
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text. `undecodable` counts the bytes (in UTF-8) or byte sequences that were replaced.

    `utf8` is None when nothing sensible came out.
    """

    utf8: bytes | memoryview | None
    encoding: str
    bom: bool = False
    undecodable: int = 0

    @property
    def text(self) -> str:
        """The text as a string, for checks that need one."""
        return str(self.utf8 or b"", "utf-8")

    @property
    def reason(self) -> str:
        """What is wrong with the decoding; empty if nothing is."""
        if self.utf8 is None:
            return (
                f"not a text in any known encoding ({self.undecodable} undecodable bytes as UTF-8)"
            )
        if not self.undecodable:
            return ""
        what = "byte" if self.encoding == "utf-8" else "byte sequence"
        plural = "s" if self.undecodable > 1 else ""
        return f"{self.undecodable} {what}{plural} could not be decoded as {self.encoding}, shown as U+FFFD"


def decode(raw: bytes) -> Decoded:
    """Decode the bytes of a text file."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            decoded = _decode_as(memoryview(raw)[len(mark) :], encoding, bom=True)
            if not (encoding.startswith("utf-32") and decoded.undecodable):
                return decoded
    wide = obvious_utf16(raw)
    if wide:
        return _decode_as(raw, wide)
    if is_utf8(raw):
        return Decoded(raw, "utf-8")
    lenient = raw.decode("utf-8", "surrogateescape")
    bad = len(_SURROGATE.findall(lenient))
    good = sum(len(run.encode()) for run in _BEYOND_ASCII.findall(lenient))
    if good < bad:
        legacy = _decode_legacy(raw)
        if legacy is not None:
            return legacy
    if bad > _INSENSIBLE * len(raw):
        return Decoded(None, "", undecodable=bad)
    return Decoded(_SURROGATE.sub(_REPLACEMENT, lenient).encode(), "utf-8", False, bad)


def is_utf8(raw: bytes | memoryview) -> bool:
    """Whether the bytes are valid UTF-8, which excludes surrogates. Needs no copy of them."""
    offsets = pa.py_buffer(np.array([0, len(raw)], dtype=np.int64))
    whole = pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(raw))
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def obvious_utf16(raw: bytes) -> str:
    """The byte order of UTF-16 without a mark, recognized by the zero bytes of its ASCII part; or empty."""
    head = raw[: _SAMPLE & ~1]
    if len(head) < 4 or b"\0" not in head:
        return ""
    even, odd = (part.count(0) / len(part) for part in (head[0::2], head[1::2]))
    if odd > 0.4 and even < 0.02:
        return "utf-16-le"
    if even > 0.4 and odd < 0.02:
        return "utf-16-be"
    return ""


def _decode_as(raw: bytes | memoryview, encoding: str, *, bom: bool = False) -> Decoded:
    """Decode strictly if possible, else with replacements."""
    if encoding == "utf-8" and is_utf8(raw):
        return Decoded(raw, encoding, bom)
    try:
        return Decoded(str(raw, encoding).encode(), encoding, bom)
    except UnicodeError:
        pass
    if encoding == "utf-8":
        text, bad = _SURROGATE.subn(_REPLACEMENT, str(raw, encoding, "surrogateescape"))
    else:
        text = _SURROGATE.sub(_REPLACEMENT, str(raw, encoding, "replace"))
        bad = text.count(_REPLACEMENT)
    if bad > _INSENSIBLE * len(text):
        return Decoded(None, "", bom, bad)
    return Decoded(text.encode(), encoding, bom, bad)


def _decode_legacy(raw: bytes) -> Decoded | None:
    """Decode in the likeliest legacy encoding that takes all bytes; else in the likeliest one; else None."""
    candidates = _legacy_candidates(_sample(raw))
    attempts = [_decode_as(raw, encoding) for encoding in candidates]
    complete = [attempt for attempt in attempts if not attempt.undecodable]
    for attempt in complete or [attempt for attempt in attempts if attempt.utf8 is not None]:
        return _under_common_name(raw, attempt)
    return None


def _legacy_candidates(sample: bytes) -> list[str]:
    matches = list(
        charset_normalizer.from_bytes(sample, cp_isolation=_LEGACY, enable_fallback=False)
    )
    if not matches:
        return []
    least = min(match.chaos for match in matches)
    likely = [match.encoding for match in matches if match.chaos <= least + _ABOUT_EQUAL]
    if not set(likely) & set(_MULTIBYTE) and _has_lone_accents(sample):
        likely = [encoding for encoding in likely if encoding in _LATIN] or _LATIN
    return sorted(likely, key=_LEGACY.index)[:3]


def _has_lone_accents(sample: bytes) -> bool:
    """Whether bytes beyond ASCII stand mostly alone: then it is Latin script, where others have whole words of them."""
    runs = _HIGH_BYTES.findall(sample)
    return len(sample.translate(None, _ASCII)) < 2 * len(runs)


def _under_common_name(raw: bytes, decoded: Decoded) -> Decoded:
    """The same text, said to be cp1252 if that gives the same: a few accents do not tell its relatives apart."""
    if decoded.encoding in _SINGLE_BYTE:
        common = _decode_as(raw, "cp1252")
        if common.utf8 == decoded.utf8 and not common.undecodable:
            return common
    return decoded


def _sample(raw: bytes) -> bytes:
    """Bytes from the first line that is not ASCII, cut where no character can be cut in two."""
    first = _HIGH_BYTES.search(raw)
    at = first.start() if first else 0
    start = max(raw.rfind(b"\n", max(0, at - 200), at) + 1, at - 200, 0)
    sample = raw[start : start + _SAMPLE]
    if start + _SAMPLE < len(raw):
        safe = max(sample.rfind(byte) for byte in (b"\n", b"\r", b" ", b",", b"."))
        sample = sample[: safe + 1] or sample
    return sample
