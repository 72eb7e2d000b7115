"""The grid design: exactly the launches that a prediction considers, at the sizes of a preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.launch.device import launch_device
from coarsen.models.launch.grid import MOST_CANDIDATES
from coarsen.models.launch.planning import WorkPlanner
from coarsen.opencl_bench.sweep.grid_design import grid_space
from coarsen.opencl_bench.workloads.training_kernels import training_kernel
from coarsen.prediction import AskedLaunch, own_launch, planned_launches
from coarsen.tuning.engine.plan import DeviceLimits, Space, points
from coarsen.tuning.workload.benchmark import Benchmark, Preset
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

LIMITS = DeviceLimits(1024, (1024, 1024, 64), 48 << 10)
SCALED = """
kernel void scaled(global float *a) {
    a[get_global_id(0)] *= SCALE;
}
"""
ASSEMBLY = """
kernel void assembly(global float *a) {
    __asm__ volatile ("nop");
    a[get_global_id(0)] += 1.0f;
}
"""


def considered(benchmark: Benchmark, preset: str, device: str) -> list[Variant]:
    """The launches that a prediction considers, with the benchmark's sizes and whole arguments."""
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    own = benchmark.preset(preset).local_size
    (launch,) = benchmark.launches(preset)
    names = (argument.name for argument in kernel.arguments)
    values = (getattr(argument, "value", None) for argument in launch.arguments)
    whole: Mapping[str, int] = {
        name: int(value)
        for name, value in zip(names, values, strict=False)
        if value is not None and isinstance(value, np.integer)
    }
    asked = AskedLaunch(own, launch.global_size, whole)
    target = launch_device(DEVICE_DESCRIPTORS[device])
    return list(planned_launches(WorkPlanner(PlannedKernel(kernel)), own_launch(kernel, asked), target, asked)[0])


@pytest.mark.parametrize("name", ["launch-0-0", "launch-0-2", "launch-0-4", "launch-0-13"])
@pytest.mark.parametrize(("kind", "descriptor"), [(DeviceKind.CPU, "intel"), (DeviceKind.GPU, "h200")])
def test_it_is_what_a_prediction_considers(name: str, kind: DeviceKind, descriptor: str) -> None:
    benchmark = training_kernel(name)
    space = grid_space(benchmark, "few", kind, LIMITS)
    found = [point.candidate for point in points(benchmark, "few", space, LIMITS, kind)]
    assert found == considered(benchmark, "few", descriptor)
    assert found[0] == Variant(benchmark.preset("few").local_size)
    assert len(set(found)) == len(found) <= MOST_CANDIDATES
    assert {each.transforms.device_kind for each in found if each.is_coarsened} == {kind}


def test_what_the_driver_can_not_launch_is_there_with_its_reason() -> None:
    benchmark = training_kernel("launch-0-1")
    space = grid_space(benchmark, "few", DeviceKind.CPU, LIMITS)
    against = {point.candidate.local_size: point.violation for point in points(benchmark, "few", space, LIMITS)}
    assert {size for size, violation in against.items() if violation is None} == set(benchmark.local_sizes)
    assert against[(512,)] == "launch-0-1: its local sizes are 128, 256, 64, 32, not 512"


def test_the_limits_of_the_device_count() -> None:
    benchmark, small = training_kernel("launch-0-2"), replace(LIMITS, max_work_group_size=256)
    space = grid_space(benchmark, "few", DeviceKind.GPU, small)
    sizes = {variant.local_size for variant in space.variants or ()}
    assert max(int(np.prod(size)) for size in sizes) <= 256


def own_benchmark(source: str, kernel: str, tunables: Mapping[str, tuple[str, ...]]) -> Benchmark:
    made = training_kernel("launch-0-1")
    return replace(made, kernel_name=kernel, source_text=source, tunables=tunables)


def test_macros_have_their_first_values() -> None:
    benchmark = own_benchmark(SCALED, "scaled", {"SCALE": ("2.0f", "3.0f")})
    space = grid_space(benchmark, "few", DeviceKind.CPU, LIMITS)
    assert space.variants
    assert {variant.definitions for variant in space.variants} == {(("SCALE", "2.0f"),)}
    assert any(variant.is_coarsened for variant in space.variants)


def test_of_a_kernel_that_can_not_be_coarsened_there_are_the_local_sizes() -> None:
    benchmark = own_benchmark(ASSEMBLY, "assembly", {})
    space = grid_space(benchmark, "few", DeviceKind.CPU, LIMITS)
    assert space.variants and space.variants[0] == Variant(benchmark.preset("few").local_size)
    assert not any(variant.is_coarsened for variant in space.variants)


def test_refusals() -> None:
    benchmark = training_kernel("launch-0-1")
    with pytest.raises(InvalidInputError, match="a CPU or a GPU, and which of them the device is isn't known"):
        grid_space(benchmark, "few", DeviceKind.ANY, LIMITS)
    open_size = replace(benchmark, presets={"few": Preset({"width": 64, "trips": 1}, ())})
    with pytest.raises(InvalidInputError, match="launch-0-1: its local size is left open"):
        grid_space(open_size, "few", DeviceKind.CPU, LIMITS)
    with pytest.raises(InvalidInputError, match="no preset 'huge'"):
        grid_space(benchmark, "huge", DeviceKind.CPU, LIMITS)


def test_points_of_listed_variants_are_these() -> None:
    benchmark = training_kernel("launch-0-1")
    listed = (Variant((64,)), Variant((64,), (Coarsening(2),)), Variant((64,), (Coarsening(128),)))
    found = points(benchmark, "few", Space(factors=(8,), sample=3, variants=listed), LIMITS)
    assert [point.candidate for point in found] == list(listed)
    assert [point.violation is None for point in found] == [True, True, False]
