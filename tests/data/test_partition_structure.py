"""Partitions by structure: headings, turns of a conversation, symbols of Python; and what only looks like one."""

import pytest

from tests.data.partition_desk import cut, labels, pieces


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
