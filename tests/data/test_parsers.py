"""Parsers: which one takes a file, and what it says about content that breaks the rules."""

from pathlib import PurePosixPath

import pytest

from data.parsers import PARSERS, Document, choose_parser
from data.source import ParseStatus

LOG = b"2026-03-02 08:00:01 INFO started\n2026-03-02 08:00:02 ERROR failed\n"


def chosen(name: str, head: bytes = b"some text\n") -> str:
    """The parser's name, or why there is none."""
    choice = choose_parser(PurePosixPath(name), head)
    return choice.parser.name if choice.parser else choice.reason


def parse(name: str, raw: bytes) -> Document:
    choice = choose_parser(PurePosixPath(name), raw)
    assert choice.parser is not None
    return choice.parser.parse(raw)


@pytest.mark.parametrize(
    ("name", "parser"),
    [
        ("a.txt", "text"),
        ("a.log", "log"),
        ("a.log.12", "log"),
        ("a.log-20260301", "log"),
        ("syslog.1", "log"),
        ("a.log_structured.csv", "csv"),
        ("a.md", "markdown"),
        ("a.tsv", "tsv"),
        ("a.JSON", "json"),
        ("a.jsonl", "jsonl"),
        ("a.py", "code"),
        ("a.unknown", "text"),
        ("Makefile", "text"),
        ("a.pdf", "PDF: this format is not supported yet"),
        ("a.html", "HTML: this format is not supported yet"),
        ("a.docx", "office document: this format is not supported yet"),
        ("a.log.gz", "archive: this format is not supported yet"),
        ("a.svg", "image: this format is not supported yet"),
    ],
)
def test_the_name_decides_first(name: str, parser: str) -> None:
    assert chosen(name) == parser


@pytest.mark.parametrize(
    ("name", "head", "parser"),
    [
        ("noname", LOG, "log"),
        ("a.unknown", LOG.decode().encode("utf-16"), "log"),
        ("noname", "纯文本\n".encode(), "text"),
        ("noname", ("x" * 65534 + "中").encode()[:65536], "text"),
        ("noname", "会议纪要：项目预算从三十万调整到四十五万。\n".encode("gb18030"), "text"),
        ("noname", b"\x1b[31mred\x1b[0m\n", "text"),
        ("noname", b"", "text"),
        ("a.txt", b"done\x07\n", "text"),
        ("noname", b"ding\x07 dong\x07\x01\n", "text"),
        ("a.txt", b"ding\x07" * 4, "binary"),
        ("noname", b"<!DOCTYPE html>\n<p>", "HTML: this format is not supported yet"),
        ("noname", b"%PDF-1.7\n", "PDF: this format is not supported yet"),
        ("a.txt", b"%PDF-1.7\n", "PDF: this format is not supported yet"),
        ("noname", b"\x7fELF\x02", "compiled code: this format is not supported yet"),
        ("noname", b"some\0thing", "binary"),
        ("noname", b"\x01\x02\x03\x04 text", "binary"),
        ("a.txt", bytes(range(256)) * 8 + b"\0" * 400, "binary"),
        ("a.unknown", bytes(range(128, 256)) * 8, "binary"),
    ],
)
def test_the_content_decides_where_the_name_does_not(name: str, head: bytes, parser: str) -> None:
    assert chosen(name, head) == parser


@pytest.mark.parametrize(
    ("name", "raw", "status", "reason"),
    [
        ("a.json", b'{"a": [1, 2.5, 1e999]}', "ok", ""),
        ("a.json", b'{"n": ' + b"9" * 5000 + b"}", "ok", ""),
        ("a.json", b"[" * 100_000, "degraded", "nested too deeply to be checked"),
        ("a.json", b'{"a": 1,}', "degraded", "not valid JSON: "),
        ("a.json", b"", "empty", ""),
        ("a.jsonl", b'{"a": 1}\r\n\r\n[2]\n', "ok", ""),
        (
            "a.jsonl",
            b'{"a": 1}\n{"b"\n',
            "degraded",
            "line 2 is not valid JSON: ",
        ),
        ("a.csv", b'a,b\n"x\ny","z ""q"""\nragged\n', "ok", ""),
        ("a.csv", b'"a";"b"\n"c";"d"\n', "ok", ""),
        ("a.csv", b'a,b\n"' + b"long " * 50_000 + b'",c\n', "ok", ""),
        ("a.csv", b'a,b\n"never closed\n', "degraded", "not valid CSV: unexpected end of data"),
        ("a.tsv", b'a\t"b" c\n', "degraded", "not valid TSV: "),
        ("a.txt", b"", "empty", ""),
        ("a.txt", b"\xef\xbb\xbf", "empty", ""),
        ("a.log", LOG + b"\0\0\0", "degraded", "NUL characters: 3"),
        (
            "a.txt",
            "一行日志 ".encode() + b"\xff\n",
            "degraded",
            "1 byte could not be decoded as utf-8",
        ),
        ("a.txt", bytes(range(128, 256)) * 8, "failed", "not a text in any known encoding"),
    ],
)
def test_status_and_reason(name: str, raw: bytes, status: ParseStatus, reason: str) -> None:
    document = parse(name, raw)
    assert document.status == status
    assert document.reason.startswith(reason)
    assert bool(document.reason) == bool(reason)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "a.md", "a.py", "a.log", "a.txt"])
def test_no_parser_changes_the_text(name: str) -> None:
    text = '{"a": "é😀"}\r\n\r{"b": 1}\n\f\t trailing  '
    document = parse(name, b"\xef\xbb\xbf" + text.encode())
    assert (bytes(document.utf8).decode(), document.bom) == (text, True)


def test_a_parser_of_a_binary_format_can_be_added() -> None:
    class PdfParser:
        name = "pdf"
        version = 1
        timed = False
        binary = True

        def accepts(self, path: PurePosixPath, head: bytes) -> bool:
            return head.startswith(b"%PDF-")

        def media_type(self, path: PurePosixPath) -> str:
            return "application/pdf"

        def parse(self, raw: bytes) -> Document:
            return Document(b"page one", "", False, "ok", "")

    pdf = PdfParser()
    choice = choose_parser(PurePosixPath("a.pdf"), b"%PDF-1.7\0\0", (pdf, *PARSERS))
    assert choice.parser is pdf
