"""Times by an analytic model: they grow with the input, and several launches take longer than one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from coarsen.models.analytic.machine import DeviceProfile, Quantity
from coarsen.models.analytic.profile_json import read_profile
from coarsen.models.analytic.profiles import SHIPPED
from coarsen.opencl_bench.inputs.predicted_times import NOT_PREDICTED, predicted_times
from coarsen.opencl_bench.workloads.benchmark import Launch, LocalSize, Size
from coarsen.opencl_bench.workloads.lookup import adaptive_kernel
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

INTEL, H200 = (read_profile(SHIPPED / f"{name}.json") for name in ("intel", "h200"))
REDUCTION, HAAR = adaptive_kernel("adaptive-reduction"), adaptive_kernel("adaptive-dwtHaar1D")


@pytest.mark.parametrize("machine", [INTEL, H200], ids=lambda machine: machine.name)
def test_times_grow_with_the_size(machine: DeviceProfile) -> None:
    ordered = sorted(REDUCTION.listed, key=lambda name: REDUCTION.listed[name]["n"])
    presets = [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
    found = predicted_times(REDUCTION.benchmark, presets, (REDUCTION.default,), machine)
    assert (np.diff(found.seconds[:, 0]) > 0).all()
    assert all(bound != NOT_PREDICTED for row in found.bounds for bound in row)


def test_between_launches_there_is_a_gap() -> None:
    gap = replace(INTEL, launch=replace(INTEL.launch, gap=Quantity(1.0)))
    none = replace(INTEL, launch=replace(INTEL.launch, gap=None))
    preset = next(iter(REDUCTION.listed))
    more, less = (
        predicted_times(REDUCTION.benchmark, [preset], (REDUCTION.default,), each) for each in (gap, none)
    )
    assert float(more.seconds[0, 0] - less.seconds[0, 0]) == pytest.approx(1.0)


def test_a_coarsened_version_has_its_own_work_and_what_can_not_be_launched_has_no_time() -> None:
    own = HAAR.default
    merged = Variant(own.local_size, (Coarsening(2),))
    undivided = Variant(own.local_size, (Coarsening(3),))
    found = predicted_times(HAAR.benchmark, [next(iter(HAAR.listed))], (own, merged, undivided), INTEL)
    assert np.isfinite(found.seconds[0, :2]).all() and found.seconds[0, 0] != found.seconds[0, 1]
    assert np.isnan(found.seconds[0, 2]) and found.bounds[0][2] == NOT_PREDICTED


def test_launches_are_those_of_the_local_size() -> None:
    """There is a work-group for each row, so that more work-items in one are more in all."""
    rows = adaptive_kernel("adaptive-mvCoal")
    benchmark, versions = rows.benchmark, [Variant(each) for each in rows.local_sizes]

    def made(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
        return benchmark.make_workload(size, local_size, np.random.default_rng(0)).launches

    smallest = min(rows.listed, key=lambda name: math.prod(rows.listed[name].values()))
    found = predicted_times(benchmark, [smallest], versions, INTEL)
    expected = predicted_times(replace(benchmark, make_launches=made), [smallest], versions, INTEL)
    assert np.isfinite(found.seconds).all() and (found.seconds == expected.seconds).all()
