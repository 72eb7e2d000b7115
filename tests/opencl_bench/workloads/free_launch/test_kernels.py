"""Kernels of free launch: every legal local size and size is one, and all mechanisms come."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.benchmark import BufferArgument
from coarsen.opencl_bench.workloads.free_launch.benchmark import (
    free_launch_benchmark,
    free_launch_kernel,
    free_launch_names,
    is_free_launch,
)
from coarsen.opencl_bench.workloads.free_launch.mechanisms import Mechanism
from coarsen.opencl_bench.workloads.free_launch.sizes import BYTES, byte_count, extents_of
from coarsen.opencl_bench.workloads.kernel_source import measured_family, measured_mechanism
from coarsen.opencl_bench.workloads.lookup import find_benchmark

MANY = free_launch_names(0, range(280))
# Each mechanism once.
ROUND = free_launch_names(0, range(len(Mechanism)))


@pytest.mark.parametrize("name", MANY[::13])
def test_every_local_size_divides_every_size_alike(name: str) -> None:
    kernel, benchmark = free_launch_kernel(name), free_launch_benchmark(name)
    assert len(benchmark.local_sizes) >= 4 and set(benchmark.presets) == {"test", *BYTES}
    for preset in benchmark.presets:
        sizes = set()
        for local_size in benchmark.local_sizes:
            (launch,) = benchmark.launches(preset, local_size)
            assert launch.local_size == local_size
            assert all(g % e == 0 for g, e in zip(launch.global_size, local_size, strict=True))
            sizes.add(launch.global_size)
        assert len(sizes) == 1 or kernel.sketch.item_per_group
    with pytest.raises(InvalidInputError, match=f"{name}: its local sizes are "):
        benchmark.launches("test", (3,) * len(benchmark.dimensions))


@pytest.mark.parametrize("name", ROUND)
def test_compiles_and_every_parameter_is_named(name: str) -> None:
    benchmark = find_benchmark(name)
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    workload = benchmark.workload("test")
    (launch,) = workload.launches
    assert len(launch.arguments) == len(kernel.arguments)
    named = [each.name for each in launch.arguments if isinstance(each, BufferArgument)]
    assert sorted(named) == sorted(workload.buffers) and workload.outputs
    body = benchmark.source.partition("\n{\n")[2]
    assert all(re.search(rf"\b{each}\b", body) for each in named)


def test_all_mechanisms_come_before_any_comes_again() -> None:
    assert {measured_mechanism(name) for name in ROUND} == {mechanism.value for mechanism in Mechanism}
    assert set(Counter(map(measured_mechanism, MANY)).values()) == {10}
    assert measured_family(ROUND[3]).startswith(f"launch-{measured_mechanism(ROUND[3])}-")
    assert measured_mechanism("synthetic-0-0") is None


def test_sizes_and_trips_are_spread() -> None:
    drawn = [free_launch_kernel(name) for name in MANY]
    assert {kernel.frame.dimensions for kernel in drawn} == {1, 2, 3}
    assert {kernel.frame.guard.value for kernel in drawn} == {"none", "condition", "return"}
    trips = [kernel.sketch.trips for kernel in drawn]
    assert {each.is_symbolic for each in trips if each.count > 1} == {True, False}
    assert max(each.count for each in trips) > 1000 and min(each.count for each in trips) == 1
    assert any(extents_of(free_launch_benchmark(kernel.name).presets["few"].size).width % 2 for kernel in drawn)
    for kernel in drawn[::9]:
        presets = free_launch_benchmark(kernel.name).presets
        for name, (_, most) in BYTES.items():
            assert byte_count(kernel, extents_of(presets[name].size)) <= max(most, 2 << 20) * 1.5


def test_names() -> None:
    assert is_free_launch("launch-0-12") and not is_free_launch("launch-0-012") and not is_free_launch("mt")
    with pytest.raises(InvalidInputError, match="a kernel of free launch is called launch-SEED-NUMBER"):
        find_benchmark("launch-0")
