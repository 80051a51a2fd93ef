"""Real logs (loghub, 2,000 lines each): counts that are known, and exact round trips."""

from pathlib import Path

import pytest

from data.corpus import Corpus, open_corpus

LOGS = Path(__file__).parents[2].parent / "shared" / "data" / "loghub_2k"
pytestmark = pytest.mark.skipif(not LOGS.exists(), reason=f"the loghub sample is not at {LOGS}")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return open_corpus([LOGS], store=tmp_path_factory.mktemp("store"))


@pytest.mark.parametrize(
    ("patterns", "lines"),
    [
        (['"Failed password"'], 520),
        (['"Failed password for root"'], 370),
        (['"Failed password"', "183.62.140.253"], 286),
        (['"Accepted password"'], 1),
        (['"failed password"'], 0),
        (["failed password"], 520),
    ],
)
def test_known_counts(corpus: Corpus, patterns: list[str], lines: int) -> None:
    result = corpus.scan(patterns, sources=["OpenSSH_2k.log"])
    assert result.total == lines == sum(count.count for count in result.by_time)


def test_the_accepted_password(corpus: Corpus) -> None:
    (hit,) = corpus.scan(['"Accepted password"'], sources=["OpenSSH_2k.log"]).hits
    assert hit.line == 956
    assert "fztu" in hit.text


def test_every_text_is_the_file(corpus: Corpus) -> None:
    assert {source.parse_status for source in corpus.sources} == {"ok"}
    for source in corpus.sources:
        assert corpus.text(source.id).encode() == (LOGS / source.id).read_bytes()


@pytest.mark.parametrize("name", ["Apache", "BGL", "HDFS", "Linux", "OpenSSH", "Zookeeper"])
def test_the_logs_have_times(corpus: Corpus, name: str) -> None:
    result = corpus.scan(["/./"], sources=[f"{name}_2k.log"])
    assert result.by_time
    assert "(no time)" not in {count.label for count in result.by_time}
