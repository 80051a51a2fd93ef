"""Sets over files that are there already: one's own, real logs, and the samples that ship."""

import re
from pathlib import Path

import pytest

from data.samples import samples_path
from data.sets.drafts import Order
from data.sets.lint import lint
from tests.data.generators_desk import built, each_question, tagged


def test_files_of_ones_own_carry_needles_and_are_otherwise_unchanged(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = "第一行\r\nsecond line\r\n" * 200
    (own / "notes.txt").write_bytes(text.encode())
    made, corpora = built("needles", Order(questions=6, over=(own,)), tmp_path / "set")
    assert lint(made, corpora) == []
    (corpus,) = corpora.values()
    left = corpus.text("notes.txt")
    planted_lines = [
        line for line in left.split("\r\n") if line not in ("第一行", "second line", "")
    ]
    assert len(planted_lines) == 6
    assert left.count("第一行\r\n") == 200


def test_counts_over_ones_own_files_are_what_their_lines_say(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    lines = [
        f"2026-01-{1 + n % 28:02} 0{n % 10}:15:00 {'engine' if n % 3 else 'wheels'} {n}"
        for n in range(90)
    ]
    (own / "a.log").write_text("\n".join(lines))
    made, corpora = built("aggregation", Order(questions=6, over=(own,)), tmp_path / "set")
    assert lint(made, corpora) == []
    for question in made.questions:
        word = "engine" if "engine" in question.question else "wheels"
        hits = [line for line in lines if word in line]
        expected = {
            "count": str(len(hits)),
            "first": min(line[:19] for line in hits).replace(" ", "T"),
            "last": max(line[:19] for line in hits).replace(" ", "T"),
        }
        assert question.answer.values == (expected[tagged(question, "aggregate")],)


LOGHUB = Path(__file__).parents[2].parent / "shared" / "data" / "loghub_2k"


@pytest.mark.skipif(not LOGHUB.is_dir(), reason="../shared/data/loghub_2k is not there")
@pytest.mark.parametrize("family", ["needles", "aggregation", "adversarial", "unanswerable"])
def test_real_logs_can_stand_in_for_generated_text(family: str, tmp_path: Path) -> None:
    """CRLF files with trailing spaces; what was counted is counted again here."""
    logs = tuple(LOGHUB / f"{name}_2k.log" for name in ("Linux", "HDFS"))
    order = Order(questions=4, over=logs, characters=120_000)
    made, corpora = built(family, order, tmp_path)
    assert lint(made, corpora) == []
    for question, corpus in each_question((made, corpora)):
        if tagged(question, "aggregate") == "count":
            word = re.findall(r'"([^"]+)"', question.question)[-1]
            lines = (line for s in corpus.sources for line in corpus.text(s.id).split("\n"))
            assert question.answer.values == (str(sum(word in line for line in lines)),)


def test_samples_and_handbooks_can_stand_in_too(tmp_path: Path) -> None:
    order = Order(questions=8, over=(samples_path("minutes"), samples_path("handbook")))
    for family in ("conflicts", "needles", "adversarial"):
        made, corpora = built(family, order, tmp_path / family)
        assert lint(made, corpora) == []
        assert all(
            "minutes/2026-01-12-platform-weekly.md" in {s.id for s in c.sources}
            for c in corpora.values()
        )
