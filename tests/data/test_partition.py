"""Partitions and spans of one text: tiling, structure and sizes."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.partition import Partitioning, build_partitioning
from data.source import Source
from runtime.errors import CorpusError, NotFound

NAMES = ["auto", "size", "time", "heading", "turn", "symbol"]


@dataclass(frozen=True)
class Texts:
    """A corpus of some texts by name."""

    texts: dict[str, str]
    version: str = "0123456789abcdef"

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(_source(name, text) for name, text in self.texts.items())

    def text(self, source_id: str) -> str:
        return self.texts[source_id]


def _source(name: str, text: str) -> Source:
    kinds = {"md": "text/markdown", "py": "text/x-python", "log": "text/x-log"}
    return Source(
        id=name,
        sha256="",
        media_type=kinds.get(name.rpartition(".")[2], "text/plain"),
        parser="text",
        parser_version=1,
        encoding="utf-8",
        bom=False,
        bytes=0,
        characters=len(text),
        lines=0,
        parse_status="ok" if text else "empty",
        reason="",
    )


def cut(
    text: str, name: str = "auto", file: str = "a.txt", *, chars: int = 800, span: int = 200
) -> Partitioning:
    return build_partitioning(Texts({file: text}), name, chars, span)


def pieces(text: str, found: Partitioning) -> list[str]:
    return [text[part.start : part.end] for part in found.partitions]


def labels(found: Partitioning) -> list[str]:
    return [part.label for part in found.partitions]


def check_tiling(text: str, found: Partitioning, *, chars: int, span: int) -> None:
    at = 0
    for part in found.partitions:
        assert part.start == at
        assert 0 < part.end - part.start <= chars
        assert part.first_line == _line(text, part.start)
        assert part.last_line == _line(text, part.end - 1)
        for one in found.spans(part.id):
            assert one.start == at
            assert 0 < one.end - one.start <= span
            assert (one.first_line, one.last_line) == (_line(text, at), _line(text, one.end - 1))
            assert one.source == part.source
            assert found.span_at(one.source, one.end - 1) == one == found.span(one.id)
            at = one.end
        assert part.end == at
    assert at == len(text)
    ids = [one.id for one in found.all_spans()]
    assert len(ids) == len(set(ids)) == found.span_count


def _line(text: str, offset: int) -> int:
    before = text[:offset]
    count = before.count("\n") + before.count("\r") - before.count("\r\n")
    return count + (0 if before.endswith("\r") and text[offset] == "\n" else 1)


LINES = ["\n", "\r\n", "\r", "\f", "\n\n"]
SNIPPETS = st.one_of(
    st.sampled_from(
        [
            *LINES,
            "# T\n",
            "=====\n",
            "def f():\n  pass\n",
            "A: x\n",
            "```\n",
            "2026-03-02 08:00:01 x\n",
        ]
    ),
    st.sampled_from(["e\u0301", "👩‍👩‍👧", "🇩🇪", "中文。", "𠀀", "a b. C ", "\u200d", "x" * 70]),
    st.text(max_size=20),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(SNIPPETS, max_size=40).map("".join), st.sampled_from(NAMES), st.integers(3, 60))
def test_spans_and_partitions_tile_every_text(text: str, name: str, span: int) -> None:
    """llama_index#22537: ids are unique, and offsets are those of the piece, not of the whole document."""
    found = cut(text, name, "a.py", chars=3 * span, span=span)
    check_tiling(text, found, chars=3 * span, span=span)


@settings(max_examples=100, deadline=None)
@given(st.lists(SNIPPETS, max_size=40).map("".join), st.integers(40, 80))
def test_no_span_begins_within_a_character(text: str, span: int) -> None:
    for one in cut(text, "size", chars=span, span=span).all_spans():
        assert text[max(0, one.start - 1) : one.start + 1] != "\r\n"


def test_an_empty_text_has_no_partition() -> None:
    found = cut("")
    assert found.partitions == ()
    assert found.span_count == 0
    assert found.by_source("a.txt") == ()
    with pytest.raises(NotFound):
        found.span_at("a.txt", 0)


def test_unknown_ids_are_not_found() -> None:
    found = cut("some text")
    for ask in (found.span, found.partition, found.spans, found.partition_of):
        with pytest.raises(NotFound):
            ask("p00000000000")
    with pytest.raises(NotFound):
        found.span_at("a.txt", 9)
    with pytest.raises(NotFound):
        found.span_at("a.txt", -1)


def test_an_unknown_partitioner_names_the_known_ones() -> None:
    with pytest.raises(CorpusError) as caught:
        cut("text", "chapter")
    assert "chapter" in caught.value.message
    assert "heading" in caught.value.hint
    with pytest.raises(CorpusError):
        cut("text", chars=0)


# spans


def spans(text: str, size: int) -> list[str]:
    found = cut(text, "size", chars=10_000, span=size)
    return [text[one.start : one.end] for one in found.all_spans()]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_spans_end_at_line_ends(end: str) -> None:
    lines = [f"{n:02} a line of a log{end}" for n in range(20)]
    found = spans("".join(lines), 100)
    assert all(span.endswith(end) for span in found)
    assert len(found) <= 6


def test_a_line_that_fits_into_a_span_is_not_cut() -> None:
    text = "Short.\n" + "X y. Z " * 14 + "\nShort.\n"
    assert spans(text, 100) == ["Short.\n", "X y. Z " * 14 + "\n", "Short.\n"]


def test_a_long_line_is_cut_at_sentences_then_at_white_space_then_hard() -> None:
    assert spans("One is here. Two is there. Three.", 28) == [
        "One is here. Two is there. ",
        "Three.",
    ]
    assert spans("一句话在这里。又一句话在那里。三", 15) == ["一句话在这里。又一句话在那里。", "三"]
    assert spans("one two three four five six", 12) == ["one two ", "three four ", "five six"]
    assert spans("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_wrapped_prose_is_cut_between_sentences() -> None:
    text = (
        "The first sentence of this text is here and goes on\n"
        "to the next line where it ends. The second one is on\n"
        "the same line and goes on for a while.\n"
    )
    assert spans(text, 120)[0].endswith("where it ends. ")


def test_visible_characters_stay_whole() -> None:
    for cluster in ("e\u0301", "👩‍👩‍👧", "🇩🇪", "👍🏽", "\r\n"):
        for span in spans(cluster * 20, 10):
            assert len(span) % len(cluster) == 0, cluster


# by structure


def test_markdown_headings_and_what_only_looks_like_one() -> None:
    text = (
        "before\n\n# One\n"
        + "text\n" * 30
        + "\nTwo\n---\n"
        + "text\n" * 30
        + "```sh\n# not a heading\n```\n| a |\n---\n- item\n---\n"
        + "### Three ###\r\n"
        + "text\r\n" * 30
        + "    # code\n#hashtag\n"
    )
    found = cut(text, "heading", "a.md", chars=1000)
    assert labels(found) == ["(opening)", "One", "One > Two", "One > Two > Three"]
    assert pieces(text, found)[2].startswith("Two\n---\n")
    assert found.methods == {"a.md": "heading"}


def test_numbered_and_chinese_headings() -> None:
    body = "Some text of the section, which is long enough to stand alone. " * 3
    numbered = f"1 Scope\n\n{body}\n\n1.2 Terms used\n\n{body}\n\n2. A list item.\n3. Another\n"
    assert labels(cut(numbered, "heading", chars=1000)) == ["1 Scope", "1 Scope > 1.2 Terms used"]
    chinese = f"第一章 总则\n{'正文在此。' * 40}\n一、目的\n{'正文在此。' * 40}\n第二章 附则\n{'正文在此。' * 40}"
    assert labels(cut(chinese, "heading", chars=1000)) == [
        "第一章 总则",
        "第一章 总则 > 一、目的",
        "第二章 附则",
    ]


def test_small_neighbors_are_joined_and_large_ones_divided() -> None:
    small = "".join(f"## S{n}\ntext\n" for n in range(12))
    text = f"# Doc\n{small}# Large\n" + "A sentence of the large section.\n" * 60
    found = cut(text, "heading", "a.md", chars=800)
    assert labels(found)[0].startswith("Doc .. S")
    assert [label for label in labels(found) if label.startswith("Large")] == [
        f"Large ({n}/3)" for n in (1, 2, 3)
    ]
    sizes = [part.end - part.start for part in found.partitions]
    assert max(sizes) <= 800
    assert min(sizes) > 20


@pytest.mark.parametrize(
    "line",
    ["{}: ", "{}： ", "[00:01:02] {}: ", "00:01 - {}: ", "**{}:** "],
)
def test_turns(line: str) -> None:
    says = "I have said what had to be said, and will say it again. " * 3 + "\nNote that.\n"
    text = "".join(line.format(name) + says for name in ["Ann Lee", "Bob", "张三"] * 2)
    found = cut(text, "turn", chars=1000)
    assert labels(found) == ["Ann Lee", "Bob", "张三"] * 2
    assert cut(text, chars=1000).methods == {"a.txt": "turn"}


def test_words_with_a_colon_are_no_speakers() -> None:
    text = "Name: x\nVersion: 2\nLicense: MIT\nhttp://a.b/c\nsome more text\n"
    assert cut(text, "turn").methods == {"a.txt": "size"}


PYTHON = '''"""Doc."""
import os\f

# about é and 中
@decorator(
    "é")
def größe(x="\\
"):
    return 1


class Pool:
    # inside
    def get(self): pass

x = 1; y = 2
async def last(): pass
'''


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_python_symbols(end: str) -> None:
    text = PYTHON.replace("\n", end)
    found = cut(text, "symbol", "a.py", chars=160)
    starts = {part.label: text[part.start : part.end].splitlines()[0] for part in found.partitions}
    assert starts == {
        "module": "x = 1; y = 2",
        "def größe": "# about é and 中",
        "class Pool": "class Pool:",
        "def last": "async def last(): pass",
    }
    assert found.methods == {"a.py": "symbol"}


@pytest.mark.parametrize(
    "text", ["def broken(:\n", "x = '\\0'\0", "(" * 500 + ")" * 500, "print('only statements')\n"]
)
def test_python_without_symbols_falls_back_to_size(text: str) -> None:
    found = cut(text, "symbol", "a.py")
    assert found.methods == {"a.py": "size"}
    assert labels(found)[0].endswith(", by size")


def test_python_that_warns_is_partitioned_in_silence() -> None:
    assert labels(cut('def f():\n    return "\\d"\n', "symbol", "a.py")) == ["def f"]


def log(lines: int, *, step: float = 1.0, start: str = "2026-03-02T08:00:01") -> list[str]:
    moment = datetime.fromisoformat(start)
    return [
        f"{(moment + timedelta(seconds=step * n)).isoformat(sep=' ')} INFO [svc] message {n}\n"
        for n in range(lines)
    ]


def test_time_windows_begin_at_round_times_and_are_full_enough() -> None:
    text = "".join(log(600))
    found = cut(text, "auto", "a.log", chars=2000)
    assert found.methods == {"a.log": "time"}
    assert labels(found)[:2] == ["2026-03-02T08:00:00 +30 s", "2026-03-02T08:00:30 +30 s"]
    second = found.partitions[1]
    assert (second.time_start, second.time_end) == ("2026-03-02T08:00:30", "2026-03-02T08:00:59")
    sizes = [part.end - part.start for part in found.partitions]
    assert 1000 < sum(sizes) / len(sizes) <= 2000


def test_lines_without_a_time_join_the_line_before() -> None:
    lines = log(60, step=10)
    lines.insert(30, "  at Main.java\n  at Other.java\n")
    lines.insert(0, "a banner\n")
    text = "".join(lines)
    found = cut(text, "time", "a.log", chars=700)
    assert pieces(text, found)[0].startswith("a banner\n2026")
    holder = next(piece for piece in pieces(text, found) if "Main.java" in piece)
    assert holder.index("message 29") < holder.index("Main.java")


def test_late_lines_do_not_open_windows_but_a_second_log_does() -> None:
    lines = log(300)
    shuffled = random.Random(1)
    lines = [line for n in range(0, 300, 3) for line in shuffled.sample(lines[n : n + 3], 3)]
    text = "".join(lines + lines)
    found = cut(text, "time", "a.log", chars=2000)
    assert len(found.partitions) == len(cut("".join(log(300) * 2), "time", chars=2000).partitions)
    assert any(part.start == len(text) // 2 for part in found.partitions)


@pytest.mark.parametrize("name", ["auto", "time"])
def test_a_clock_that_runs_in_circles_makes_no_crumbs(name: str) -> None:
    circle = log(4, step=3600 * 24 * 9)
    text = "".join(line.rstrip("\n") + " of a long record" * 8 + "\n" for line in circle * 200)
    found = cut(text, name, "a.log", chars=2000)
    assert len(found.partitions) < 2 * len(text) / 2000
    assert found.methods == {"a.log": "size"}
    assert labels(found)[0].endswith(", by size")
    assert found.partitions[0].time_start == "2026-03-02T08:00:01"
    few = cut("".join(circle * 10), name, "a.log", chars=2000)
    assert few.methods == {"a.log": "time"}


def test_a_burst_is_divided_and_every_part_bears_its_own_times() -> None:
    text = "".join(log(3, step=3600) + log(200, step=0.0, start="2026-03-02T11:00:00"))
    found = cut(text, "time", "a.log", chars=2000)
    assert any("(2/" in label for label in labels(found))
    assert all(part.time_start <= part.time_end for part in found.partitions)
    assert all(part.time_start for part in found.partitions)


def test_times_without_a_year() -> None:
    text = "".join(f"Dec 10 06:{n:02}:00 host sshd[1]: line {n}\n" for n in range(60))
    first = cut(text, "auto", "a.log").partitions[0]
    assert first.label.startswith("12-10T06:")
    assert first.time_start == "12-10T06:00:00"


def test_partitions_of_another_kind_have_times_too() -> None:
    part = cut("".join(log(10)), "size", "a.log", chars=5000).partitions[0]
    assert part.label == "lines 1-10"
    assert (part.time_start, part.time_end) == ("2026-03-02T08:00:01", "2026-03-02T08:00:10")


@pytest.mark.parametrize("name", ["time", "heading", "turn", "symbol"])
def test_a_partitioner_that_does_not_apply_falls_back_and_says_so(name: str) -> None:
    text = "Plain prose without any structure.\n" * 50
    found = cut(text, name)
    assert found.methods == {"a.txt": "size"}
    assert all(label.endswith(", by size") for label in labels(found))


@pytest.mark.parametrize(
    ("file", "text", "method"),
    [
        ("a.py", "def f(): pass\n", "symbol"),
        ("a.py", "def f(:\n", "size"),
        ("a.md", "# A\nx\n# B\ny\n", "heading"),
        ("a.md", "plain\n", "size"),
        ("a.log", "2026-03-02 08:00:01 x\n", "time"),
        ("a.log", "no times\n", "size"),
        ("a.txt", "2026-03-02 08:00:01 x\n", "time"),
        ("a.txt", "1.1 One\n\nx\n\n1.2 Two\n\ny\n", "heading"),
        ("a.txt", "Ann: a\nBob: b\nAnn: c\nBob: d\n", "turn"),
    ],
)
def test_auto_chooses_by_file_and_content(file: str, text: str, method: str) -> None:
    assert cut(text, "auto", file).methods == {file: method}
