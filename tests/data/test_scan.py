"""Scan: complete counts, pages without gaps, and times."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.corpus import Corpus, open_corpus
from data.scan import Hit, TimeCount
from runtime.errors import NotFound, PatternError


def corpus_of(tmp_path: Path, files: dict[str, str]) -> Corpus:
    folder = tmp_path / "corpus"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return open_corpus([folder], store=tmp_path / "store")


def test_hits_come_in_the_order_of_the_corpus(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"b.txt": "x\nno\nx", "a/c.txt": "no\r\nan x\r\n", "d.txt": "no"})
    result = corpus.scan(["x"])
    assert result.total == 3
    assert result.by_source == {"a/c.txt": 1, "b.txt": 2}
    assert result.hits == (
        Hit("a/c.txt", 2, 4, 8, "an x"),
        Hit("b.txt", 1, 0, 1, "x"),
        Hit("b.txt", 3, 5, 6, "x"),
    )
    assert result.sources_scanned == ("a/c.txt", "b.txt", "d.txt")


def test_offsets_of_hits_are_code_points(tmp_path: Path) -> None:
    text = "😀\r\n中文\rerror 错误\f\u2028x\r\n"
    corpus = corpus_of(tmp_path, {"a.txt": text})
    (hit,) = corpus.scan(['"错误"']).hits
    assert hit == Hit("a.txt", 3, 6, 17, "error 错误\f\u2028x")
    assert corpus.slice("a.txt", hit.start, hit.end) == hit.text == text[6:17]
    assert corpus.lines("a.txt", 3, 3).text == hit.text + "\r\n"


def test_the_line_end_is_not_part_of_the_line(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"a.txt": "end\r\nend\rend\nend \nend"})
    assert [hit.line for hit in corpus.scan(["/end$/"]).hits] == [1, 2, 3, 5]
    assert corpus.scan([r"/\s$/"]).total == 1


def test_all_patterns_must_be_on_the_line(tmp_path: Path) -> None:
    text = "Failed from 10.0.0.1\nfailed from 10.0.0.1\nFailed from 10.0.0.12\nFailed\n10.0.0.1 /x/ Failed\n"
    corpus = corpus_of(tmp_path, {"a.txt": text})
    for patterns in [
        ['"Failed"', "10.0.0.1"],
        ["10.0.0.1", '"Failed"'],
        ["/F.*/", "/led/", "10.0.0.1"],
    ]:
        assert [hit.line for hit in corpus.scan(patterns).hits] == [1, 5]
    assert corpus.scan(["failed", "10.0.0.1"]).patterns == ("failed", "10.0.0.1")


def test_a_negated_pattern_must_not_be_on_the_line(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"a.txt": "Failed root\nFailed x\nok\n\nroot\n"})
    assert [hit.line for hit in corpus.scan(['not "Failed"']).hits] == [3, 4, 5]
    for patterns in (['"Failed"', 'not "root"'], ['not "root"', "failed"]):
        assert [hit.line for hit in corpus.scan(patterns).hits] == [2]


def test_pages_cover_all_hits_without_gap_or_overlap(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {f"{n}.txt": "hit\nmiss\n" * n for n in range(1, 8)})
    cursor: int | None = 0
    hits: list[Hit] = []
    while cursor is not None:
        result = corpus.scan(["hit"], cursor=cursor, page=5)
        assert (result.total, result.cursor) == (28, cursor)
        hits += result.hits
        cursor = result.next_cursor
    assert tuple(hits) == corpus.scan(["hit"]).hits
    assert len(set(hits)) == 28
    assert corpus.scan(["hit"], cursor=28).hits == ()
    assert corpus.scan(["hit"], page=28).next_cursor is None
    with pytest.raises(ValueError, match="no such page"):
        corpus.scan(["hit"], cursor=-1)


def test_a_scan_of_some_sources(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path, {"a.txt": "x", "b.txt": "x", "c.pdf": "x", "d.png": "x", "e.txt": ""}
    )
    result = corpus.scan(["x"], sources=["c.pdf", "b.txt", "e.txt"])
    assert (result.total, result.by_source) == (1, {"b.txt": 1})
    assert (result.sources_scanned, result.sources_unreadable) == (("b.txt", "e.txt"), ("c.pdf",))
    assert corpus.scan(["x"]).sources_unreadable == ("c.pdf", "d.png")
    assert corpus.scan(["x"], sources=[]).total == 0
    with pytest.raises(NotFound):
        corpus.scan(["x"], sources=["z.txt"])


def test_a_pattern_that_is_not_valid_or_missing(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"a.txt": "x"})
    for patterns in [[], ["x", r"/(a)\1/"], ["x", ""]]:
        with pytest.raises(PatternError):
            corpus.scan(patterns)


LOG = """starting
2026-03-02 08:00:01 ERROR one
  at frame
2026-03-02 08:00:59 ERROR two
2026-03-02 08:03:00 ERROR three
2026-03-02 09:10:00 INFO four
"""


def test_hits_by_time(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"a.log": LOG})
    assert corpus.scan(["ERROR"]).by_time == (
        TimeCount("2026-03-02T08:00", 2),
        TimeCount("2026-03-02T08:03", 1),
    )
    assert corpus.scan(["/./"], bucket="hour").by_time == (
        TimeCount("2026-03-02T08", 4),
        TimeCount("2026-03-02T09", 1),
        TimeCount("(no time)", 1),
    )
    assert corpus.scan(["ERROR"], bucket="day").by_time == (TimeCount("2026-03-02", 3),)
    assert corpus.scan(['"at frame"']).by_time == (TimeCount("2026-03-02T08:00", 1),)
    assert corpus.scan(["starting"]).by_time == ()
    with pytest.raises(ValueError, match="bucket='week'"):
        corpus.scan(["x"], bucket="week")


@pytest.mark.parametrize(
    ("second", "labels"),
    [
        ("2026-03-02 09:59:00", ["2026-03-02T08:00", "2026-03-02T09:59"]),
        ("2026-03-02 11:00:00", ["2026-03-02T08", "2026-03-02T11"]),
        ("2026-03-12 11:00:00", ["2026-03-02", "2026-03-12"]),
    ],
)
def test_the_bucket_fits_the_range(second: str, labels: list[str], tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"a.log": f"2026-03-02 08:00:00 hit\n{second} hit\n"})
    assert [count.label for count in corpus.scan(["hit"]).by_time] == labels


def test_times_without_a_year_are_shown_without_one(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"a.log": "Feb 29 06:55:46 host sshd[1]: hit\n" * 3})
    assert corpus.scan(["hit"]).by_time == (TimeCount("02-29T06:55", 3),)


LINE = st.text(st.sampled_from("ab1é中😀 "), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(st.lists(LINE, max_size=6), min_size=1, max_size=4),
    st.sampled_from(["a", "b", "1", "é", "中😀"]),
)
def test_a_scan_finds_what_python_finds(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], literal: str
) -> None:
    texts = {f"{n}.txt": "\n".join(lines) + "\n\x20end" for n, lines in enumerate(files)}
    corpus = corpus_of(tmp_path_factory.mktemp("scan"), texts)
    expected = [
        (name, number)
        for name, text in texts.items()
        for number, line in enumerate(text.split("\n"), 1)
        if literal in line
    ]
    result = corpus.scan([f'"{literal}"'])
    assert [(hit.source, hit.line) for hit in result.hits] == expected
    assert result.total == sum(result.by_source.values()) == len(expected)
    assert all(corpus.slice(h.source, h.start, h.end) == h.text for h in result.hits)
