"""Partitions by time: windows that begin at round times, and lines that are late, without a time or without a year."""

import random
from datetime import datetime, timedelta

import pytest

from tests.data.partition_desk import cut, labels, pieces


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
