"""Where the points of a chart are drawn."""

from __future__ import annotations

import pytest

from coarsen.opencl_bench.reporting.page.charts import HEIGHT, DrawnChart, drawn
from coarsen.opencl_bench.reporting.page.content import (
    EXCLUDED,
    FAILED,
    MEASURED,
    Chart,
    Curve,
    Point,
)
from coarsen.tuning.measure.speedup import Speedup


def measured(factor: int, ratio: float) -> Point:
    return Point(factor, MEASURED, Speedup(ratio, 0.9 * ratio, 1.1 * ratio))


def chart(*points: Point) -> DrawnChart:
    return drawn([Chart("all", "all", "", (Curve("here", points), Curve("there", points[:1])))])[0]


@pytest.mark.parametrize("ratios", [(1, 1.01), (0.02, 1), (1, 150), (0.7, 3), (1e-4, 1e4)])
def test_one_is_marked_among_few_ticks_inside(ratios: tuple[float, float]) -> None:
    found = chart(measured(1, ratios[0]), measured(2, ratios[1]))
    assert [tick.text for tick in found.ticks if tick.is_one] == ["1"]
    assert 2 <= len(found.ticks) <= 9
    assert all(0 <= tick.y <= HEIGHT for tick in found.ticks)
    for spot in found.curves[0].spots:
        assert 0 <= spot.top < spot.y < spot.bottom <= HEIGHT


def test_the_axis_is_logarithmic() -> None:
    found = chart(measured(1, 1), measured(2, 2), measured(4, 4))
    low, middle, high = (spot.y for spot in found.curves[0].spots)
    assert low - middle == pytest.approx(middle - high, abs=0.2)


def test_a_gap_stays_a_gap_and_a_failure_has_its_mark() -> None:
    points = (measured(1, 1), measured(2, 2), Point(4, FAILED), measured(8, 2), Point(16, EXCLUDED))
    found = chart(*points)
    assert [factor for factor, _ in found.columns] == [1, 2, 4, 8]
    assert len(found.curves[0].spots) == 4
    assert [line.x1 for line in found.curves[0].lines] == [found.columns[0][1]]
    assert found.curves[0].shift == -found.curves[1].shift != 0


def test_charts_of_a_kernel_share_their_axis() -> None:
    charts = [
        Chart(name, name, "", (Curve("here", (measured(1, ratio),)),)) for name, ratio in (("a", 1), ("b", 9))
    ]
    first, second = drawn(charts)
    assert first.ticks == second.ticks
