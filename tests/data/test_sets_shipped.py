"""Sets by name: what ships is built when it is asked for, what was built is kept, what cannot be is told."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from data.samples import questions as sample_questions
from data.sets.drafts import Order
from data.sets.lint import lint_folder
from data.sets.making import Wanted, make_set, shares_of
from data.sets.shipped import build_family, find_set, known_sets
from data.sets.splits import leaks
from data.sets.storage import load_header, load_set, open_set_corpus, save_set
from runtime.errors import QuestionSetError
from tests.data.sets_desk import house_set, lamp, write_house

KINDS = {"lookup", "local", "aggregate", "conflict", "unanswerable", "adversarial"}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The mixed set as `find_set` builds it, with its store."""
    store = tmp_path_factory.mktemp("store")
    return find_set("mixed", store=store), store


def test_mixed_has_at_least_300_questions_of_all_six_kinds(shipped: tuple[Path, Path]) -> None:
    folder, store = shipped
    made = load_set(folder)
    kinds = Counter(each.kind for each in made.questions)
    assert len(made.questions) >= 300
    assert kinds.keys() == KINDS
    assert min(kinds.values()) >= 30
    assert lint_folder(made, folder, store=store) == []
    types = {each.answer.type for each in made.questions}
    assert types == {"integer", "date", "string", "set", "boolean", "none"}
    languages = Counter(
        tag for each in made.questions for tag in each.tags if tag[:9] == "language:"
    )
    assert languages["language:zh"] >= 40


def test_corpora_of_mixed_are_small_but_for_a_few(shipped: tuple[Path, Path]) -> None:
    folder, store = shipped
    made = load_set(folder)
    sizes = {
        each.name: sum(
            s.characters for s in open_set_corpus(made, folder, each.name, store=store).sources
        )
        for each in made.corpora
    }
    asked = [sizes[each.corpus] for each in made.questions]
    assert sum(size > 110_000 for size in asked) <= 10
    assert max(sizes.values()) > 1_000_000


def test_mixed_is_the_same_byte_for_byte(shipped: tuple[Path, Path], tmp_path: Path) -> None:
    """Built again, in another store and another place."""
    again = tmp_path / "mixed"
    build_family("mixed", Order(store=tmp_path / "store"), again)
    names = sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    folder = shipped[0]
    assert names == sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    assert [n for n in names if (again / n).read_bytes() != (folder / n).read_bytes()] == []


def test_a_shipped_set_is_built_once(shipped: tuple[Path, Path]) -> None:
    folder, store = shipped
    before = (folder / "set.json").stat().st_mtime_ns
    assert find_set("mixed", store=store) == folder
    assert (folder / "set.json").stat().st_mtime_ns == before


def test_a_shipped_set_of_older_generators_is_built_anew(tmp_path: Path) -> None:
    folder = find_set("samples", store=tmp_path)
    header = json.loads((folder / "set.json").read_text())
    old = {**header, "made_by": "samples 0; seed 0"}
    (folder / "set.json").write_text(json.dumps(old))
    assert find_set("samples", store=tmp_path) == folder
    assert load_header(folder).made_by == header["made_by"]


def test_samples_are_the_shipped_questions(tmp_path: Path) -> None:
    made = load_set(find_set("samples", store=tmp_path))
    by_id = {each.id: each for each in made.questions}
    for sample in sample_questions():
        found = by_id.pop(sample.id)
        assert found.question == sample.question
        assert found.answerable == sample.answerable
        spans = [
            [[(s.source, s.start, s.end, s.quote) for s in each] for each in fact]
            for fact in found.gold
        ]
        assert spans == [
            [[(s.source, s.start, s.end, s.quote) for s in each] for each in fact]
            for fact in sample.facts
        ]
        if isinstance(sample.answer, int):
            assert (found.answer.type, found.answer.values) == ("integer", (str(sample.answer),))
        if sample.kind in ("count", "list", "timeline"):
            assert found.kind == "aggregate"
    assert by_id == {}


def test_a_set_is_found_by_its_folder_and_by_its_name_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    order = Order(seed=3, questions=4, characters=8_000, store=store)
    build_family("needles", order, tmp_path / "mine")
    build_family("needles", order, store / "sets" / "needles")
    assert find_set(tmp_path / "mine", store=store) == tmp_path / "mine"
    assert find_set("needles", store=store) == store / "sets" / "needles"
    known = {each.name: each for each in known_sets(store)}
    assert known.keys() == {"samples", "mixed", "needles"}
    assert known["needles"].made_by == "needles 1; seed 3; questions 4; characters 8000"
    assert known["mixed"].folder is None


@pytest.mark.parametrize("name", ["nothing", "../sets", "needles/..", "", "a/b"])
def test_an_unknown_name_is_told_with_those_that_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError) as raised:
        find_set(name, store=tmp_path)
    assert raised.value.hint


def test_splits_are_drawn_by_document(tmp_path: Path) -> None:
    wanted = Wanted("needles", questions=48, characters=8_000, split="50/25/25")
    made = make_set(wanted, tmp_path / "set", store=tmp_path / "store")
    splits = Counter(each.split for each in made.questions)
    assert splits == {"train": 24, "validation": 12, "test": 12}
    assert leaks(made.questions, {}) == []


def test_a_folder_that_is_taken_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    wanted = Wanted("needles", questions=2, characters=8_000)
    with pytest.raises(QuestionSetError, match="has files"):
        make_set(wanted, tmp_path, store=tmp_path / "store", replace=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    folder = tmp_path / "set"
    make_set(wanted, folder, store=tmp_path / "store")
    with pytest.raises(QuestionSetError, match="question set already"):
        make_set(wanted, folder, store=tmp_path / "store")
    make_set(wanted, folder, store=tmp_path / "store", replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "set", "store"]


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.txt").write_text("too little\n")
    wanted = Wanted("aggregation", over=(tmp_path / "empty",))
    with pytest.raises(QuestionSetError, match="no question"):
        make_set(wanted, tmp_path / "set", store=tmp_path / "store")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "store"]


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("nothing"),
        Wanted("pairwise", over=(Path(),)),
        Wanted("needles", source="x.json"),
        Wanted("needles", split="1/2"),
        Wanted("needles", split="a/b/c"),
        Wanted("needles", split="nan/1/1"),
        Wanted("needles", split="0/0/0"),
        Wanted("hotpotqa"),
        Wanted("hotpotqa", source="x.json", characters=9_000),
    ],
)
def test_what_does_not_go_together_is_told_before_anything_is_written(
    wanted: Wanted, tmp_path: Path
) -> None:
    with pytest.raises(QuestionSetError) as raised:
        make_set(wanted, tmp_path / "set", store=tmp_path / "store")
    assert raised.value.hint
    assert list(tmp_path.iterdir()) == []


def test_shares_are_read() -> None:
    assert shares_of("60/20/20") == {"train": 60, "validation": 20, "test": 20}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server on loopback that answers as the hub does, for one repository: us/house."""
    folder = tmp_path / "hub"
    corpus = write_house(folder)
    save_set(house_set(corpus, lamp(corpus)), folder)
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}

    class Hub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path.startswith("/api/datasets/us/house/revision/"):
                found = {
                    "id": "us/house",
                    "sha": "a" * 40,
                    "siblings": [{"rfilename": n} for n in files],
                }
                self._send(json.dumps(found).encode(), "application/json")
            elif self.path.startswith("/api/datasets/us/house/tree/"):
                tree = [
                    {"type": "file", "path": n, "size": p.stat().st_size, "oid": f"{i:040}"}
                    for i, (n, p) in enumerate(files.items())
                ]
                self._send(json.dumps(tree).encode(), "application/json")
            elif "/resolve/" in self.path:
                self._send(files[self.path.split("a" * 40 + "/")[1]].read_bytes(), "text/plain")
            else:
                self.send_error(404)

        do_HEAD = do_GET

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            for name, value in (
                ("Content-Type", kind),
                ("Content-Length", str(len(body))),
                ("X-Repo-Commit", "a" * 40),
                ("ETag", f'"{hash(body) & 0xFFFFFFFF:08x}"'),
            ):
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        yield folder
        server.shutdown()


def test_a_set_is_loaded_by_its_name_on_a_hub(hub: Path, tmp_path: Path) -> None:
    folder = find_set("hub:us/house", store=tmp_path / "store")
    made = load_set(folder)
    assert made == load_set(hub)
    assert lint_folder(made, folder, store=tmp_path / "store") == []


@pytest.mark.parametrize("name", ["hub:us/nothing", "hub:", "hub:a/b/c"])
def test_a_name_that_the_hub_does_not_know_is_told(hub: Path, name: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError, match="cannot be fetched"):
        find_set(name, store=tmp_path / "store")
