"""Timestamps of log lines."""

from datetime import datetime
from pathlib import Path

import pytest

from data.timestamp import TimestampReader, render

LOGS = Path(__file__).parents[2].parent / "shared" / "data" / "loghub_2k"


def time_of(line: str) -> str | None:
    reader = TimestampReader.detect([line])
    time = reader.read(line) if reader else None
    return render(time) if time else None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2026-03-02T08:00:01Z started", "2026-03-02T08:00:01"),
        ("2026-03-02 08:00:01,123 INFO", "2026-03-02T08:00:01.123000"),
        ("[2026-03-02 08:00:01.123456789+02:00] INFO", "2026-03-02T08:00:01.123456"),
        ("INFO 2026-03-02 08:00 hello", "2026-03-02T08:00:00"),
        ('{"level":"info","time":"2026-03-02T08:00:01Z"}', "2026-03-02T08:00:01"),
        ("2016-12-31T23:59:60Z leap", "2016-12-31T23:59:59"),
        ("2026/03/02 08:00:01 [error] 1#1", "2026-03-02T08:00:01"),
        ("17/06/09 20:10:40 INFO executor", "2017-06-09T20:10:40"),
        ("Dec 10 06:55:46 LabSZ sshd[24200]: x", "12-10T06:55:46"),
        ("<34>Feb 29 22:14:15 host su:", "02-29T22:14:15"),
        ("[Sun Dec 04 04:47:44 2005] [notice]", "2005-12-04T04:47:44"),
        ('127.0.0.1 - f [10/Oct/2000:13:55:36 -0700] "GET', "2000-10-10T13:55:36"),
        ("081109 203615 148 INFO dfs", "2008-11-09T20:36:15"),
        ("03-17 16:13:38.811  1702 D", "03-17T16:13:38.811000"),
        ("1700000000 x", "2023-11-14T22:13:20"),
        ("1700000000123 x", "2023-11-14T22:13:20.123000"),
        ('{"ts": 1700000000.5, "a": 1}', "2023-11-14T22:13:20.500000"),
        (
            "- 1117838570 2005.06.03 R02-M1 2005-06-03-15.42.50.675872 R02 RAS",
            "2005-06-03T15:42:50.675872",
        ),
    ],
)
def test_formats(line: str, expected: str) -> None:
    assert time_of(line) == expected
    assert time_of(line + "\r\n") == expected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   at com.example.Main(Main.java:12)",
        "2026-02-31 08:00:01 no such day",
        "order 11700000000123 shipped",
        "the meeting of the whole committee, which had long been announced, began on 2026-03-02 08:00:01",
        "20260302080001",
        "May be 10 people",
    ],
)
def test_lines_without_a_time(line: str) -> None:
    assert time_of(line) is None


def test_the_commonest_format_wins_and_needs_a_share() -> None:
    syslog = ["Dec 10 06:55:46 a"] * 5
    reader = TimestampReader.detect([*syslog, "2026-03-02 08:00:01 b", *["x"] * 5])
    assert reader is not None
    assert reader.read("2026-03-02 08:00:01 b") is None
    assert reader.read("Dec 10 06:55:47 a") is not None
    assert TimestampReader.detect([*syslog, *["x"] * 15]) is None
    assert TimestampReader.detect([]) is None


def test_blank_lines_do_not_count_in_the_share() -> None:
    assert TimestampReader.detect(["Dec 10 06:55:46 a", *["\n"] * 100]) is not None


def test_order_is_kept_without_a_year() -> None:
    reader = TimestampReader.detect(["Feb 29 23:59:59 a"])
    assert reader is not None
    times = [reader.read(f"{day} 00:00:00 a") for day in ("Feb 29", "Mar  1", "Dec 31")]
    assert all(times)
    assert times == sorted(filter(None, times))


def test_render_has_no_fraction_without_one() -> None:
    assert render(datetime(2026, 3, 2, 8)) == "2026-03-02T08:00:00"


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("Apache", "2005-12-04T04:47:44", "2005-12-05T19:15:57"),
        ("BGL", "2005-06-03T15:42:50.675872", "2006-01-03T07:13:09.127918"),
        ("HDFS", "2008-11-09T20:36:15", "2008-11-11T10:20:17"),
        ("Linux", "06-14T15:16:01", "07-27T14:42:00"),
        ("OpenSSH", "12-10T06:55:46", "12-10T11:04:45"),
        ("Zookeeper", "2015-07-29T17:41:44.747000", "2015-08-10T18:12:34.004000"),
    ],
)
def test_real_logs(name: str, first: str, last: str) -> None:
    path = LOGS / f"{name}_2k.log"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    reader = TimestampReader.detect(lines)
    assert reader is not None
    times = [time for line in lines if (time := reader.read(line))]
    assert len(times) == len(lines)
    assert (render(times[0]), render(times[-1])) == (first, last)
