"""Decoding: the encodings that occur, and bytes that are none."""

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from data.decode import decode

CHINESE = "2026-03-02 会议纪要：项目预算从三十万调整到四十五万。\n订单服务启动完成，随后数据库连接池开始告警。\n"
JAPANESE = "会議の議事録：予算は三十万円から四十五万円に変更されました。\nデータベース接続プールが枯渇しました。\n"
RUSSIAN = "Ошибка: соединение потеряно, повторите попытку позже.\n"
WESTERN = (
    "Le système a redémarré à 8h, l’équipe était présente.\nDie Prüfung für Müller ist “groß”.\n"
)


def text_of(raw: bytes) -> str:
    return decode(raw).text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_byte_order_mark_is_dropped_and_recorded(mark: bytes, encoding: str) -> None:
    text = "a\r\n中😀\ufeff inside stays\n"
    decoded = decode(mark + text.encode(encoding))
    assert (decoded.text, decoded.encoding, decoded.bom, decoded.reason) == (
        text,
        encoding,
        True,
        "",
    )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(encoding: str) -> None:
    text = "2026-03-02 08:00:01 ERROR pool exhausted, 连接\r\n" * 3
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding, decoded.bom) == (text, encoding, False)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gb18030"),
        ("错误：连接池耗尽\n", "gb18030"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        ("會議紀錄：預算由三十萬調整為四十五萬。\n" * 3, "big5"),
        ("회의록: 예산이 삼십만에서 사십오만으로 조정되었습니다.\n" * 2, "cp949"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (WESTERN, "cp1252"),
        ("café\n", "cp1252"),
        ("price: 5 €\n", "cp1252"),
        ("x" * 100_000 + "\n" + CHINESE * 2000, "gb18030"),
    ],
)
def test_legacy_encodings_are_detected_and_recorded(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding, decoded.reason) == (text, encoding, "")


def test_stray_bytes_in_utf8_are_replaced_one_by_one_and_counted() -> None:
    decoded = decode("中文日志 ".encode() + b"\xff\xfe\xe4\xb8" + " 结束\n".encode())
    assert decoded.text == "中文日志 \ufffd\ufffd\ufffd\ufffd 结束\n"
    assert decoded.reason == "4 bytes could not be decoded as utf-8, shown as U+FFFD"


def test_encoded_surrogates_do_not_become_text() -> None:
    assert text_of("结果 ".encode() + b"\xed\xa0\x80") == "结果 \ufffd\ufffd\ufffd"


def test_half_a_surrogate_pair_in_utf16_is_replaced() -> None:
    decoded = decode(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + b"\x00\xd8" + b"c\x00")
    assert "\ufffd" in decoded.text
    assert decoded.undecodable


def test_an_odd_byte_at_the_end_of_utf16_is_reported() -> None:
    decoded = decode(codecs.BOM_UTF16_LE + "abc".encode("utf-16-le") + b"x")
    assert decoded.text == "abc\ufffd"
    assert "1 byte sequence could not be decoded" in decoded.reason


def test_noise_is_not_taken_for_text() -> None:
    noise = bytes(range(0x80, 0x100)) * 40
    assert decode(noise).utf8 is None
    assert "not a text in any known encoding" in decode(noise).reason


@given(st.binary(max_size=200))
@example(b"")
@example(codecs.BOM_UTF8)
@example(codecs.BOM_UTF16_LE)
def test_whatever_comes_out_is_valid_utf8_without_surrogates(raw: bytes) -> None:
    decoded = decode(raw)
    assert decoded.text.encode("utf-8").decode() == decoded.text


@given(st.text())
def test_utf8_is_never_changed(text: str) -> None:
    raw = text.encode("utf-8", "replace")
    decoded = decode(codecs.BOM_UTF8 + raw)
    assert (bytes(decoded.utf8 or b""), decoded.bom) == (raw, True)
