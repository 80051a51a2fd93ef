"""The drawing of a front: its names can be read, its marks say what is on the line, and it is right on any page."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.report.fronts import Axis, Mark, best_of, front_chart
from evals.report.labels import RADIUS, Box, Named, is_beside, placed
from evals.report.rendering import picture
from tests.evals.report.chromium import Tab

PLANE = Box(0, 0, 200, 150)
AXIS = Axis("tokens a question", "evidence recall", "the default")
named = st.builds(
    Named,
    x=st.floats(5, 195),
    y=st.floats(5, 145),
    text=st.sampled_from(["1", "27", "default"]),
    needed=st.booleans(),
)


def marks() -> list[Mark]:
    """30 points, many of which nearly coincide."""
    return [
        Mark(
            str(at + 1), at % 2, 5000 * (1 + at % 4) + 40 * at, 0.6 + 0.013 * (at * 7 % 30), at == 7
        )
        for at in range(30)
    ]


def chart() -> str:
    return front_chart("front", marks(), AXIS, ["recursive", "map_reduce"])


@given(st.lists(named, max_size=25))
def test_no_name_lies_on_another_one_or_on_a_point_or_outside(points: list[Named]) -> None:
    places = [each for each in placed(points, PLANE) if each is not None]
    assert not any(one.meets(other) for one, other in combinations(places, 2))
    for each in places:
        assert PLANE.holds(each)
        assert not any(each.meets(Box(p.x, p.y, p.x, p.y)) for p in points)


@given(st.lists(named, max_size=25))
def test_where_there_is_room_every_point_is_named(points: list[Named]) -> None:
    wide = Box(-10_000, -10_000, 10_000, 10_000)
    apart = [Named(400 * at, 0, each.text, each.needed) for at, each in enumerate(points)]
    places = placed(apart, wide)
    assert all(
        place and is_beside(point, place) for point, place in zip(apart, places, strict=True)
    )


def test_a_needed_name_moves_away_from_a_crowd_and_others_are_left_out() -> None:
    crowd = [Named(100 + 5 * x, 75 + 5 * y, "12") for x in range(-4, 5) for y in range(-4, 5)]
    middle = Named(101, 76, "default", needed=True)
    *others, place = placed([*crowd, middle], PLANE)
    assert place is not None
    assert not is_beside(middle, place)
    assert None in others


def test_names_keep_clear_of_lines() -> None:
    line = Box(0, 75 + RADIUS, 200, 150)
    place = placed([Named(100, 75, "1")], PLANE, [line])[0]
    assert place
    assert not place.meets(line)


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 12))
def test_every_point_of_the_line_is_named_and_filled(count: int) -> None:
    chosen = marks()[:count]
    best = best_of(chosen)
    drawn = ElementTree.fromstring(front_chart("f", chosen, AXIS, ["a", "b"]))
    texts = [each.text for each in drawn.iter() if each.tag.endswith("text")]
    assert {each.label for each in best} <= set(texts)
    hollow = [each for each in chosen if each not in best]
    filled = [
        each
        for each in drawn.iter()
        if each.tag.endswith("use") and (each.get("fill") or "").startswith("var(--s")
    ]
    assert len(filled) == len(best) + 2  # and those of the legend
    assert len(hollow) + len(best) == count


def test_axes_have_their_units_and_the_ring_is_explained() -> None:
    for text in ("tokens a question", "evidence recall", "the default", "best for its cost"):
        assert f">{text}</text>" in chart()
    assert "10,000" in chart()


def test_it_has_no_styles_or_colors_of_its_own_and_the_same_bytes_each_time() -> None:
    root = ElementTree.fromstring(chart())
    for element in root.iter():
        assert element.tag.split("}")[1] not in ("style", "script", "metadata", "image", "a")
        assert "style" not in element.attrib
        for paint in (element.get("fill"), element.get("stroke")):
            assert paint in (None, "none", "#ffffff") or paint.startswith("var(--")
    assert chart() == chart()


def test_a_single_point_and_equal_points_can_be_drawn() -> None:
    one = Mark("1", 0, 0.0, 1.0, ringed=True)
    for chosen in ([one], [one, one]):
        assert "recursive" in front_chart("f", chosen, AXIS, ["recursive"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_as_a_file_it_is_read_in_the_light_and_in_the_dark(
    new_tab: Callable[[], Tab], tmp_path: Path, scheme: str
) -> None:
    """Its text contrasts with its paper, and no two texts of the browser's own font overlap."""
    path = tmp_path / "front.svg"
    path.write_text(picture(chart()), encoding="utf-8")
    tab = new_tab()
    tab.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    tab.open(path.as_uri())
    paper, ink = tab.evaluate(
        "[getComputedStyle(document.querySelector('rect')).fill,"
        " getComputedStyle(document.querySelector('text')).fill]"
    )
    lightness = [sum(map(int, each[4:-1].split(","))) for each in (paper, ink)]
    assert (lightness[0] > lightness[1]) == (scheme == "light")
    assert abs(lightness[0] - lightness[1]) > 450
    boxes = tab.evaluate(
        "[...document.querySelectorAll('text')].map((each) => { const b = each.getBoundingClientRect();"
        " return [b.left, b.top, b.right, b.bottom, each.textContent]; })"
    )
    shrunk = [(Box(a + 1, b + 2, c - 1, d - 2), text) for a, b, c, d, text in boxes]
    for (one, name), (other, second) in combinations(shrunk, 2):
        assert not one.meets(other), (name, second)
    assert tab.complaints == []
