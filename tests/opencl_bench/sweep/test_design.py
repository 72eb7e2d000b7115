"""The sparse design: every legal local size uncoarsened, and each axis of the coarsened ones met evenly."""

from __future__ import annotations

from collections import Counter

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.calibration_set import is_calibration
from coarsen.opencl_bench.measure.variant_launch import undivided
from coarsen.opencl_bench.sweep.design import (
    CALIBRATION_CONFIGURATIONS,
    CONFIGURATIONS,
    MOST_MERGED,
    sparse_design,
)
from coarsen.opencl_bench.sweep.points import DeviceLimits, points
from coarsen.opencl_bench.workloads.free_launch import free_launch_benchmark, free_launch_names
from coarsen.opencl_bench.workloads.free_launch.sizes import SIZES
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

LIMITS = DeviceLimits(1024, (1024, 1024, 64), 48 << 10)
NAMES = free_launch_names(0, range(120))


def drawn(name: str, kind: DeviceKind = DeviceKind.CPU) -> list[tuple[str, list[Variant]]]:
    """The presets and variants of a kernel's design, of which none breaks a constraint."""
    benchmark = free_launch_benchmark(name)
    found = []
    for part in sparse_design(name, kind):
        listed = points(benchmark, part.preset, part.space, LIMITS, kind)
        assert {point.violation for point in listed} == {None}
        found.append((part.preset, [point.candidate for point in listed]))
    return found


@pytest.mark.parametrize("name", NAMES[::11])
def test_every_local_size_is_measured_uncoarsened_and_all_rows_divide(name: str) -> None:
    benchmark = free_launch_benchmark(name)
    wanted = CALIBRATION_CONFIGURATIONS if is_calibration(name) else CONFIGURATIONS
    for preset, variants in drawn(name):
        assert [each.local_size for each in variants if not each.is_coarsened] == list(benchmark.local_sizes)
        coarsened = [each for each in variants if each.is_coarsened]
        assert wanted * 0.6 <= len(coarsened) <= wanted
        assert len(set(variants)) == len(variants)
        for each in coarsened:
            assert each.factor <= MOST_MERGED
            (launch,) = benchmark.launches(preset, each.local_size)
            assert undivided(launch, each.coarsenings) is None


def test_most_kernels_have_one_size_and_a_fifth_all() -> None:
    sizes = {name: [preset for preset, _ in drawn(name)] for name in NAMES}
    counts = Counter(len(each) for name, each in sizes.items() if not is_calibration(name))
    assert set(counts) == {1, 3} and 0.1 < counts[3] / counts.total() < 0.3
    assert {len(each) for name, each in sizes.items() if is_calibration(name)} == {1}
    assert {preset for each in sizes.values() for preset in each} == set(SIZES[DeviceKind.CPU])
    on_gpu = {part.preset for name in NAMES for part in sparse_design(name, DeviceKind.GPU)}
    assert on_gpu == set(SIZES[DeviceKind.GPU])


def test_each_axis_is_met() -> None:
    coarsened = [each for name in NAMES if not is_calibration(name) for _, found in drawn(name) for each in found]
    coarsened = [each for each in coarsened if each.is_coarsened]
    share = 1 / len(coarsened)
    factors = Counter(each.factor for each in coarsened)
    assert set(factors) == {2, 4, 8, 16, 32} and min(factors.values()) * share > 0.08
    wide = sum(each.transforms.wide_accesses for each in coarsened) * share
    assert 0.4 < wide < 0.6
    strided = sum(any(c.stride > 1 for c in each.coarsenings) for each in coarsened) * share
    assert 0.25 < strided < 0.6
    groups = sum(any(c.level is Level.GROUP for c in each.coarsenings) for each in coarsened) * share
    assert 0.2 < groups < 0.7
    assert {c.dimension for each in coarsened for c in each.coarsenings} == {0, 1, 2}


def test_it_is_for_no_other_kernel() -> None:
    with pytest.raises(InvalidInputError, match="mt: the sparse design is for kernels called launch-SEED-NUMBER"):
        sparse_design("mt", DeviceKind.CPU)
