"""Charts: inline SVG that a strict page can hold, with the points that were given and no others."""

from xml.etree import ElementTree

import pytest

from evals.report.charts import (
    Curve,
    Measured,
    Point,
    Row,
    by_group,
    cost_against_quality,
    frontier,
    latency,
)


def point(label: str, cost: float, quality: float) -> Point:
    return Point(label, 0, cost, Measured(quality))


def drawn() -> list[str]:
    """One chart of each form, with names that are no markup and no formula."""
    points = [
        Point("<b>$x^2$</b>", 0, 10, Measured(0.5, 0.4, 0.6)),
        Point("水泵", 1, 90_000, Measured(0.9)),
    ]
    rows = [
        Row("<b>", 0, (Measured(0.5, 0.1, 0.9), None)),
        Row("b", 1, (Measured(1), Measured(0, 0, 0.3))),
    ]
    return [
        cost_against_quality(points, cost="tokens", quality="right"),
        latency([Curve("a & b", 0, (0.1, 2.0, 30.0)), Curve("b", 1, (1.0,))]),
        by_group("kinds", ["lookup", "<i>"], rows, label="right"),
    ]


@pytest.mark.parametrize("at", range(3))
def test_a_chart_has_no_styles_scripts_or_colors_of_its_own(at: int) -> None:
    root = ElementTree.fromstring(drawn()[at])
    for element in root.iter():
        assert element.tag.split("}")[1] not in ("style", "script", "metadata", "image", "a")
        assert "style" not in element.attrib
        for paint in (element.get("fill"), element.get("stroke")):
            assert paint in (None, "none", "#ffffff") or paint.startswith("var(--")
    assert root.get("aria-label")
    assert root.get("width") is None


def test_names_are_text_as_they_are() -> None:
    chart = drawn()[0]
    assert "<b>" not in chart
    texts = [
        each.text for each in ElementTree.fromstring(chart).iter() if each.tag.endswith("text")
    ]
    assert "<b>$x^2$</b>" in texts
    assert "水泵" in texts


def test_the_same_numbers_give_the_same_bytes() -> None:
    assert drawn() == drawn()


def test_ids_of_two_charts_do_not_meet() -> None:
    ids = [each.get("id") for chart in drawn() for each in ElementTree.fromstring(chart).iter()]
    named = [each for each in ids if each]
    assert named
    assert len(set(named)) == len(named)


def test_the_frontier_has_what_no_other_point_beats() -> None:
    points = [
        point("cheap", 1, 0.2),
        point("middle", 5, 0.6),
        point("beaten", 6, 0.5),
        point("as good and dearer", 7, 0.6),
        point("best", 9, 0.9),
        point("twin of best", 9, 0.9),
    ]
    assert [each.label for each in frontier(points)] == ["cheap", "middle", "best", "twin of best"]
    assert frontier([]) == []


def test_what_is_not_known_is_not_drawn() -> None:
    one = by_group("k", ["a", "b"], [Row("p", 0, (Measured(0.5), None))], label="right")
    two = by_group("k", ["a", "b"], [Row("p", 0, (Measured(0.5), Measured(0)))], label="right")
    assert one.count("<use") < two.count("<use")
