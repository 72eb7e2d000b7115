"""Timing: order of the runs, medians, intervals, ties."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.run import DeviceWorkload
from coarsen.tuning.measure.speedup import (
    RESAMPLES,
    Speedup,
    bootstrap_interval,
    median,
    resampled_ratios,
)
from tests.workload_runs import build_program, kernels_of


def speedup(baseline: list[float], candidate: list[float]) -> Speedup:
    return Speedup(median(baseline) / median(candidate), *bootstrap_interval(baseline, candidate))


def test_outputs_are_put_back_between_runs(queue: cl.CommandQueue) -> None:
    workload = SUITE["fastWalsh"].workload("test")
    on_device = DeviceWorkload(queue, workload)
    choose = kernels_of(build_program(queue.context, SUITE["fastWalsh"]))
    on_device.run(on_device.prepared(choose, workload.launches))
    on_device.restore()
    on_device.run(on_device.prepared(choose, workload.launches))
    assert compare(on_device.outputs(), workload.expected(), workload) == []


def test_median_of_even_number() -> None:
    assert median([4, 1, 3, 2]) == 2.5


def test_clear_difference_is_significant() -> None:
    noise = np.random.default_rng(0).normal(0, 1, (2, 15))
    result = speedup(list(200 + noise[0]), list(100 + noise[1]))
    assert result.significant
    assert result.low <= result.ratio <= result.high
    assert result.ratio == pytest.approx(2, rel=0.02)
    assert str(result).startswith("2.0")


def test_tie_is_called_a_tie() -> None:
    noise = np.random.default_rng(1).normal(0, 5, (2, 15))
    result = speedup(list(100 + noise[0]), list(100 + noise[1]))
    assert not result.significant
    assert str(result).startswith("no significant difference")


def test_equal_samples_are_a_tie() -> None:
    assert not speedup([5, 6, 7], [5, 6, 7]).significant


def test_interval_is_reproducible_and_grows_with_level() -> None:
    baseline, candidate = [10.0, 12.0, 11.0, 13.0, 9.0], [5.0, 7.0, 6.0, 5.5, 6.5]
    narrow, wide = bootstrap_interval(baseline, candidate, 0.5), bootstrap_interval(baseline, candidate, 0.99)
    assert bootstrap_interval(baseline, candidate, 0.5) == narrow
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert wide != narrow


@pytest.mark.parametrize(
    ("baseline", "candidate", "level"), [([], [], 0.95), ([1.0], [1.0, 2.0], 0.95), ([1.0], [1.0], 1.0)]
)
def test_unusable_samples_are_refused(baseline: list[float], candidate: list[float], level: float) -> None:
    with pytest.raises(InvalidInputError):
        bootstrap_interval(baseline, candidate, level)


@pytest.mark.parametrize("count", [1, 3, 4, 7])
def test_resampled_ratios_are_those_of_numpy(count: int) -> None:
    draw = np.random.default_rng(count)
    baseline, candidate = draw.integers(1, 10**9, (2, count)).tolist()
    chosen = np.random.default_rng(0).integers(0, count, (RESAMPLES, count))
    expected = np.median(np.array(baseline, float)[chosen], axis=1) / np.median(
        np.array(candidate, float)[chosen], axis=1
    )
    assert resampled_ratios(baseline, candidate).tobytes() == expected.tobytes()
