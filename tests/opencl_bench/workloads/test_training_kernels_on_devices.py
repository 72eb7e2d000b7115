"""Kernels that learn launches on real devices: coarsened, at each local size, they compute the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.training_kernels import training_kernel
from coarsen.pipeline import run_pipeline
from coarsen.tuning.engine.plan import DeviceLimits, Space, points
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.variant_launch import undivided, variant_launch
from coarsen.tuning.workload.benchmark import Benchmark, Workload
from coarsen.variant.coarsening import Level
from coarsen.variant.space import TransformChoices
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant
from tests.selection import is_one_of_two
from tests.workload_runs import kernels_of, run_workload

# Of each kind of mechanism one: a grid's stride, a product, a window, branches, a sparse row, atomics, tiles,
# a table, a reduction, levels.
SAMPLE = (6, 4, 1, 23, 26, 27, 25, 13, 58, 9)
NAMES = [f"launch-0-{number}" for number in SAMPLE] + [f"nest-0-{number}" for number in range(11)]
DRAWN = 3
LIMITS = DeviceLimits(1024, (1024, 1024, 64), 48 << 10)
SPACE = Space(
    factors=(2, 4, 8),
    strides=(1, 2, 8),
    levels=(Level.ITEM, Level.GROUP),
    at_once=2,
    transforms=TransformChoices(wide_accesses=(False, True)),
    sample=40,
)


def drawn(name: str) -> list[Variant]:
    """Some coarsened variants that divide the smallest size, of items and groups, wide accesses among them."""
    benchmark = training_kernel(name)

    def divides(variant: Variant) -> bool:
        (launch,) = benchmark.launches("test", variant.local_size)
        return undivided(launch, variant.coarsenings) is None

    listed = points(benchmark, "test", SPACE, LIMITS, DeviceKind.CPU)
    coarsened = [each.candidate for each in listed if each.candidate.is_coarsened and each.violation is None]
    possible = list(filter(divides, coarsened))
    return possible[:: len(possible) // DRAWN][:DRAWN]


def coarsened_workload(
    benchmark: Benchmark, workload: Workload, variant: Variant
) -> tuple[str, tuple[str, ...], Workload]:
    """A variant's source, its build options, and the workload with its launch."""
    lowered = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    kernel = run_pipeline(lowered, variant)
    launches = tuple(variant_launch(launch, variant, kernel.added_arguments) for launch in workload.launches)
    return kernel.opencl_c, (kernel.opencl_c_standard,), replace(workload, launches=launches)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", NAMES)
def test_coarsened_gives_the_same_results(queue: cl.CommandQueue, device: DeviceDescription, name: str) -> None:
    benchmark = training_kernel(name)
    original = build_uncached(queue.context, benchmark.source, benchmark.build_options)
    variants = drawn(name)
    assert len(variants) == DRAWN
    # Devices share a kernel's variants: each has one or two of three.
    first = NAMES.index(name) * DRAWN
    for variant in (variants[turn] for turn in range(DRAWN) if is_one_of_two(first + turn, device)):
        workload = benchmark.workload("test", 0, variant.local_size)
        expected = run_workload(queue, workload, kernels_of(original))
        assert not expected.violated
        for output in workload.outputs:
            before = workload.buffers[output]
            assert not np.array_equal(before, expected.outputs[output], equal_nan=before.dtype.kind == "f")
        source, options, launched = coarsened_workload(benchmark, workload, variant)
        program = build_uncached(queue.context, source, options)
        result = run_workload(queue, launched, kernels_of(program))
        assert compare(result.outputs, expected.outputs, workload) == [], variant
        assert not result.violated


@pytest.mark.compiled_devices
def test_results_depend_on_the_local_size_only_where_that_is_said(queue: cl.CommandQueue) -> None:
    for name in ("launch-0-25", "launch-0-13", "launch-0-27"):
        benchmark = training_kernel(name)
        assert benchmark.shared_local_size is not None
        program = build_uncached(queue.context, benchmark.source, benchmark.build_options)
        results = []
        for local_size in benchmark.local_sizes:
            workload = benchmark.workload("test", 0, local_size)
            results.append(run_workload(queue, workload, kernels_of(program)).outputs)
        assert all(compare(result, results[0], workload) == [] for result in results)
    assert training_kernel("launch-0-58").shared_local_size is None
