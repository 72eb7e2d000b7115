"""Bars of speed-ups: on one scale, 1 always in sight."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.cli.predict.output import WIDTH, IntervalBars

RATIOS = st.floats(0.01, 100.0)
INTERVALS = st.tuples(RATIOS, RATIOS).map(lambda pair: (min(pair), max(pair)))


def test_a_scale_from_a_quarter_to_four() -> None:
    bars = IntervalBars.over([(0.25, 2.0), (0.5, 4.0)])
    assert bars.heading == "0.25      1         4"
    assert bars.drawn(0.5, 1.0, 4.0) == "     ─────●──────────"
    assert bars.drawn(0.25, 0.25, 0.5) == "●─────    │          "
    assert bars.drawn(1.0, 1.0, 1.0) == "          ●          "


@pytest.mark.parametrize(
    ("interval", "heading"),
    [
        ((0.99, 1.01), "0.8       1      1.2"),
        ((2.0, 40.0), " 1                 40"),
        ((0.02, 0.5), "0.02               1 "),
    ],
)
def test_the_scale_makes_room_for_1(interval: tuple[float, float], heading: str) -> None:
    assert IntervalBars.over([interval]).heading.split() == heading.split()
    assert len(IntervalBars.over([interval]).heading) == WIDTH


def test_no_interval_at_all() -> None:
    assert IntervalBars.over([]).heading.split() == ["0.8", "1", "1.2"]


@given(st.lists(INTERVALS, min_size=1, max_size=5))
def test_every_bar_is_as_wide_and_in_order(intervals: list[tuple[float, float]]) -> None:
    bars = IntervalBars.over(intervals)
    assert len(bars.heading) == WIDTH
    assert "1" in bars.heading
    for low, high in intervals:
        middle = (low * high) ** 0.5
        drawn = bars.drawn(low, middle, high)
        assert len(drawn) == WIDTH
        assert drawn.count("●") == 1
        inside = drawn.replace("│", " ").strip()
        assert set(inside) <= {"─", "●"}
