"""The kernels that adapt: found by name, complete, with versions that differ and inputs that cover their space."""

from __future__ import annotations

import re

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.drawing import draw_inputs, is_within
from coarsen.opencl_bench.workloads.adaptive_driver import LIST_FOLDER
from coarsen.opencl_bench.workloads.benchmark import KERNEL_FOLDER
from coarsen.opencl_bench.workloads.lookup import SUITE, adaptive, adaptive_kernel, find_benchmark

ALL = tuple(adaptive())
OWN = tuple(name for name, kernel in adaptive().items() if kernel.own is None)
# Only powers of two are lengths of these.
FEW_SIZES = {"adaptive-fastWalsh": 11, "adaptive-dwtHaar1D": 14, "adaptive-floydWarshall": 20}
# Of these the outputs depend on the local size, so there is one.
ONE_LOCAL_SIZE = {"adaptive-reduce", "adaptive-dwtHaar1D"}


def test_every_file_has_a_driver() -> None:
    files = {path.stem for path in (KERNEL_FOLDER / "adaptive").iterdir()}
    assert files == {name.removeprefix("adaptive-") for name in OWN}
    assert {path.stem for path in LIST_FOLDER.iterdir()} == {name.removeprefix("adaptive-") for name in ALL}
    assert {f"adaptive-{name}" for name in SUITE} <= set(ALL)


def test_names() -> None:
    assert find_benchmark("adaptive-mvMul") is adaptive_kernel("adaptive-mvMul").benchmark
    with pytest.raises(InvalidInputError, match=r"no benchmark 'adaptive-mvMull' \(did you mean adaptive-mvMul"):
        find_benchmark("adaptive-mvMull")
    assert not set(ALL) & set(SUITE)


@pytest.mark.parametrize("name", ALL)
def test_versions_differ_and_the_default_is_the_first(name: str) -> None:
    kernel = adaptive_kernel(name)
    assert kernel.versions[0] == kernel.default
    assert len(set(kernel.versions)) == len(kernel.versions)
    assert len(kernel.versions) <= 128
    for version in kernel.versions:
        launches = kernel.benchmark.launches("test", version.local_size, version.definitions)
        assert [launch.kernel for launch in launches].count(kernel.kernel) >= 1
        assert {launch.kernel for launch in launches} <= {kernel.kernel, *kernel.other_kernels}
        for launch in launches:
            assert all(g % n == 0 for g, n in zip(launch.global_size, launch.local_size, strict=True))


def test_what_is_no_version_has_no_launches() -> None:
    benchmark = find_benchmark("adaptive-spmvCsr")
    with pytest.raises(InvalidInputError, match="LANES has an effect only where IMPL is 1"):
        benchmark.launches("test", (64,), (("IMPL", "0"), ("LANES", "16")))
    with pytest.raises(InvalidInputError, match="a work-group of 16 can't hold 32 lanes"):
        benchmark.workload("test", 0, (16,), (("IMPL", "1"), ("LANES", "32")))
    # Scratch would not suffice.
    with pytest.raises(InvalidInputError, match="the local size is one of 128, 32, 64, 256, 512, not 16"):
        find_benchmark("adaptive-reduction").workload("test", 0, (16,))
    with pytest.raises(InvalidInputError, match=r"ENTRIES is one of \(32, 8, 128, 512\), not 1"):
        benchmark.workload("test", 0, (16,), (("IMPL", "2"), ("ENTRIES", "1")))


@pytest.mark.parametrize("name", OWN)
def test_macros_have_their_defaults_in_the_source(name: str) -> None:
    kernel = adaptive_kernel(name)
    source = kernel.benchmark.source
    assert source.startswith("/*")
    assert "Origin:" in source and "Threads:" in source
    for macro, values in kernel.macros.items():
        assert f"#ifndef {macro}\n#define {macro} {values[0]}\n#endif\n" in source
    assert set(re.findall(r"#ifndef (\w+)", source)) == set(kernel.macros)


@pytest.mark.parametrize("name", ALL)
def test_the_list_is_what_is_drawn(name: str) -> None:
    kernel = adaptive_kernel(name)
    space = kernel.inputs
    listed = [*kernel.listed.values()]
    assert listed == [*draw_inputs(space)]
    assert len(listed) >= FEW_SIZES.get(name, 24)
    assert len({space.group_of(one) for one in listed}) == space.groups
    assert all(is_within(space, one) for one in listed)
    assert [*kernel.listed] == [preset for preset in kernel.benchmark.presets if preset != "test"]
    assert set(kernel.test) >= set(space.names) - set(space.fixed)


@pytest.mark.parametrize("name", [name for name in ALL if adaptive_kernel(name).supplied])
def test_supplied_features_differ_at_equal_sizes(name: str) -> None:
    kernel = adaptive_kernel(name)
    values: dict[str, set[float]] = {feature: set() for feature in kernel.supplied}
    for settings in kernel.inputs.contents:
        # Larger than the test, where the tails of distributions hardly show.
        size = {**kernel.listed["input-000"], **settings}
        workload = kernel.make_workload(size, kernel.local_sizes[0], np.random.default_rng(0))
        for feature, measure in kernel.supplied.items():
            values[feature].add(round(measure(workload.buffers), 3))
    assert all(len(found) > 1 for found in values.values()), values


@pytest.mark.parametrize("name", ALL)
def test_what_is_computed_does_not_depend_on_the_version(name: str) -> None:
    kernel = adaptive_kernel(name)
    # The test's sizes of the suite's kernels are rounded up to whole work-groups.
    preset = "test" if kernel.own is None else "input-000"
    first, *others = (
        kernel.benchmark.workload(preset, 3, version.local_size, version.definitions)
        for version in (kernel.versions[0], kernel.versions[len(kernel.versions) // 2], kernel.versions[-1])
    )
    assert (len(kernel.local_sizes) == 1) == (name in ONE_LOCAL_SIZE)
    for other in others:
        assert other.outputs == first.outputs
        for buffer, contents in first.buffers.items():
            assert contents.tobytes() == other.buffers[buffer].tobytes(), buffer
