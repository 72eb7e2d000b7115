"""The fits, on curves whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.analytic.machine import Curve, Point
from coarsen.opencl_bench.calibration.device import (
    at_least,
    falling,
    intercept,
    levels_of,
    quantity_of,
    relative,
    rising,
    seconds_of,
    slope,
)

KIB = 1 << 10


def curve(*values: float) -> Curve:
    """A curve whose points are at 32 KiB, 64 KiB, …"""
    return tuple(Point(32.0 * KIB * 2**index, value) for index, value in enumerate(values))


def values(of: Curve) -> list[float]:
    return [point.value for point in of]


def test_a_median_and_its_spread() -> None:
    found = quantity_of([1.0, 2.0, 3.0, 4.0, 1000.0])
    assert found.value == 3.0 and found.spread == pytest.approx(1 / 3)


def test_other_work_on_the_machine_does_not_change_a_time() -> None:
    assert seconds_of([1.0, 1.0, 1.0, 1.0, 50.0, 60.0, 70.0]).value == 1.0


def test_a_curve_that_only_falls_stays_as_it_is() -> None:
    assert values(falling(curve(8.0, 8.0, 4.0, 1.0))) == pytest.approx([8.0, 8.0, 4.0, 1.0])


def test_a_rise_in_a_falling_curve_is_pooled() -> None:
    assert values(falling(curve(8.0, 2.0, 4.0, 1.0))) == pytest.approx([8.0, 8**0.5, 8**0.5, 1.0])


def test_rising_and_falling_curves_are_monotone() -> None:
    noisy = curve(*np.exp(np.random.default_rng(1).normal(size=20)))
    assert values(rising(noisy)) == sorted(values(rising(noisy)))
    assert values(falling(noisy)) == sorted(values(falling(noisy)), reverse=True)


def test_the_larger_of_two_curves() -> None:
    assert values(at_least(curve(8.0, 2.0, 1.0), curve(4.0, 4.0, 1.0))) == [8.0, 4.0, 1.0]


def test_relative_to_the_first() -> None:
    assert values(relative(curve(2.0, 4.0, 3.0))) == [1.0, 2.0, 1.5]


def test_levels_are_found_with_their_sizes_and_latencies() -> None:
    bandwidth = curve(400.0, 390.0, 150.0, 148.0, 151.0, 30.0, 29.0, 30.0)
    latency = curve(1e-9, 1e-9, 4e-9, 4e-9, 5e-9, 8e-8, 9e-8, 9e-8)
    levels = levels_of(falling(bandwidth), latency)
    assert [level.bytes for level in levels] == [64 * KIB, 512 * KIB, None]
    assert [level.bandwidth for level in levels] == pytest.approx([395.0, 149.66, 29.66], rel=0.01)
    assert [level.latency for level in levels] == pytest.approx([1e-9, 4e-9, 9e-8])


def test_a_flat_curve_is_one_level() -> None:
    (level,) = levels_of(curve(100.0, 99.0, 98.0, 97.0), ())
    assert (level.bytes, level.latency) == (None, None)


def test_no_curve_has_no_level() -> None:
    assert levels_of((), ()) == ()


def test_slope_and_intercept_bear_with_an_outlier() -> None:
    points = [(float(x), 3.0 + 2.0 * x) for x in range(1, 8)]
    points[3] = (4.0, 500.0)
    steepness = slope(points)
    assert steepness is not None and steepness.value == pytest.approx(2.0)
    start = intercept(points, steepness.value)
    assert start is not None and start.value == pytest.approx(3.0)


def test_a_slope_that_does_not_rise_is_unknown() -> None:
    assert slope([(1.0, 5.0), (2.0, 4.0)]) is None
    assert slope([(1.0, 5.0)]) is None
    assert intercept([(1.0, 1.0)], 2.0) is None
