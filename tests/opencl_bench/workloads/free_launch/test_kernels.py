"""Kernels of free launch: every legal local size and size is one, and all mechanisms come."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.free_launch.kernel import Mechanism, NestMechanism
from coarsen.opencl_bench.workloads.free_launch.workload import (
    BYTES,
    byte_count,
    extents_of,
    free_launch_benchmark,
    free_launch_kernel,
)
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.benchmark import BufferArgument

MANY = [f"launch-0-{number}" for number in range(280)]
# Each mechanism once.
ROUND = MANY[: len(Mechanism)]
NESTS = [f"nest-0-{number}" for number in range(len(NestMechanism))]


@pytest.mark.parametrize("name", MANY[::13] + NESTS)
def test_every_local_size_divides_every_size_alike(name: str) -> None:
    kernel, benchmark = free_launch_kernel(name), free_launch_benchmark(name)
    assert len(benchmark.local_sizes) >= 4 and set(benchmark.presets) == {"test", *BYTES, "cpu", "gpu"}
    assert benchmark.presets["cpu"] == benchmark.presets["memory"] != benchmark.presets["gpu"]
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


@pytest.mark.parametrize("name", ROUND + NESTS)
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
    found = [free_launch_kernel(name).mechanism for name in MANY]
    assert set(found[: len(ROUND)]) == set(Mechanism)
    assert set(Counter(found).values()) == {10}


def test_a_benchmark_has_its_mechanism_and_a_family_within_it() -> None:
    assert {free_launch_kernel(name).mechanism for name in NESTS} == set(NestMechanism)
    for name in ROUND + NESTS:
        benchmark, mechanism = free_launch_benchmark(name), free_launch_kernel(name).mechanism
        assert benchmark.mechanisms == {mechanism.value}
        assert benchmark.family.startswith(f"{name.split('-')[0]}-{mechanism.value}-")


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


@pytest.mark.parametrize("name", ["launch-0", "launch-0-012", "launch-x-1"])
def test_names(name: str) -> None:
    with pytest.raises(InvalidInputError, match="is called launch-SEED-NUMBER or nest-SEED-NUMBER"):
        find_benchmark(name)
