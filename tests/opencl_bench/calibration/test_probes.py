"""Every probe on every device here, at settings so small that the numbers mean little."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.models.analytic.machine import FLOAT, INTEGER, Curve, profile_from_json, profile_to_json
from coarsen.opencl_bench.calibration.calibrate import calibrate
from coarsen.opencl_bench.calibration.device import Settings, footprints
from coarsen.opencl_bench.calibration.memory import CHAINED, chain_kernel, chain_of_places

TINY = Settings(
    smallest_footprint=1 << 14,
    largest_footprint=1 << 16,
    repetitions=2,
    shortest_run=1e-6,
    strides=(1, 4),
    chains=(1, 2),
    chase_steps=64,
)


@pytest.mark.compiled_devices
def test_a_device_is_calibrated(device: DeviceDescription) -> None:
    steps: list[str] = []
    profile = calibrate(device, "here", TINY, steps.append)
    assert steps == ["launches", "bandwidth", "latency", "strides", "operations"]
    assert (profile.name, profile.device, profile.driver) == ("here", device.name, device.driver_version)
    for curve in (profile.bandwidth, profile.private_bandwidth, profile.latency):
        assert [point.at for point in curve] == [1 << 14, 1 << 15, 1 << 16]
        assert all(math.isfinite(point.value) and point.value > 0 for point in curve)
    assert is_falling(profile.bandwidth) and is_falling(profile.private_bandwidth)
    assert is_falling(tuple(reversed(profile.latency)))
    assert profile.levels[-1].bytes is None
    for curve in (profile.stride_cost, profile.cached_stride_cost, profile.local_stride_cost):
        assert [point.at for point in curve] == [1, 4]
        assert curve[0].value == 1 and curve[1].value > 0
    assert {FLOAT, INTEGER} <= profile.rates.keys()
    assert all(rate.throughput.value > 0 and rate.latency for rate in profile.rates.values())
    assert profile.launch.gap and profile.launch.gap.value > 0
    assert profile_from_json(profile_to_json(profile), "here") == profile


def is_falling(curve: Curve) -> bool:
    return all(left.value >= right.value for left, right in itertools.pairwise(curve))


def test_a_chain_of_places_visits_every_line_once() -> None:
    words = chain_of_places(1 << 12, 64)
    place, seen = 0, []
    for _ in range(64):
        seen.append(place)
        place = int(words[place])
    assert place == 0
    assert sorted(seen) == list(range(0, 1024, 16))
    assert words.dtype == np.uint32


def test_a_chain_has_its_operation_as_often_as_it_counts() -> None:
    text = chain_kernel(CHAINED[FLOAT], 2, 1)
    assert text.count("x0 = x0 * a + b;") == text.count("x1 = x1 * a + b;") == 8


def test_footprints_end_with_the_memory_of_the_device() -> None:
    assert footprints(Settings(), 1 << 17) == (1 << 15, 1 << 16, 1 << 17)
    assert len(footprints(Settings(), 1 << 40)) == 14
