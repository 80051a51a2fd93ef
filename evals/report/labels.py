"""Labels: where the names of points are written, so that none lies on another one, on a point or outside the plane.

Lengths are in points of print. A text is as wide as its characters are on average, since a page chooses its own font.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

SIZE = 8.5
"""Of the font."""
RADIUS = 4.0
"""Of a point with its margin."""
_WIDTH = 0.62
_HEIGHT = 1.2
_NEAR = 2.0
_STEP = 7.0
_RINGS = 12
_DIRECTIONS = ((-1, 1), (0, 1), (-1, 0), (1, 1), (1, -1), (1, 0), (0, -1), (-1, -1))
"""Upper left first: what is there would beat a point on the front, so that nothing is."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; y grows upwards."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def center(self) -> tuple[float, float]:
        """Its middle."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def meets(self, other: "Box") -> bool:
        """Whether the two have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def holds(self, other: "Box") -> bool:
        """Whether the other one lies within."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.bottom <= other.bottom
            and other.top <= self.top
        )


@dataclass(frozen=True, slots=True)
class Named:
    """A point with its name. `needed`: it is worth a place further away; others are left out where there is no room."""

    x: float
    y: float
    text: str
    needed: bool = False
    radius: float = RADIUS


def placed(points: Sequence[Named], plane: Box, lines: Sequence[Box] = ()) -> list[Box | None]:
    """The place of each name, None where it has none: clear of points, other names and `lines`. Needed ones choose
    first."""
    dots = [*lines, *(_around(each.x, each.y, each.radius, each.radius) for each in points)]
    found: dict[int, Box] = {}
    for at in sorted(range(len(points)), key=lambda at: not points[at].needed):
        taken = (*dots, *found.values())
        place = _free(_candidates(points[at]), taken, plane)
        if place is not None:
            found[at] = place
    return [found.get(at) for at in range(len(points))]


def is_beside(point: Named, place: Box) -> bool:
    """Whether a name lies next to its point, so that no line has to lead there."""
    return any(place == each for each in _ring(point, 0))


def _free(candidates: Iterable[Box], taken: Sequence[Box], plane: Box) -> Box | None:
    for each in candidates:
        if plane.holds(each) and not any(each.meets(other) for other in taken):
            return each
    return None


def _candidates(point: Named) -> Iterator[Box]:
    for ring in range(_RINGS if point.needed else 1):
        yield from _ring(point, ring)


def _ring(point: Named, ring: int) -> Iterator[Box]:
    wide, high = _WIDTH * SIZE * len(point.text) / 2, _HEIGHT * SIZE / 2
    distance = point.radius + _NEAR + ring * _STEP
    for right, up in _DIRECTIONS:
        near = 0.7 if right and up else 1.0
        x = point.x + right * (near * distance + wide)
        y = point.y + up * (near * distance + high)
        yield _around(x, y, wide, high)


def _around(x: float, y: float, wide: float, high: float) -> Box:
    return Box(x - wide, y - high, x + wide, y + high)
