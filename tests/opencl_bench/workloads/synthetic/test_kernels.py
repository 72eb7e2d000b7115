"""Synthetic kernels compile, can be coarsened, and their buffers are what they read and write."""

from __future__ import annotations

import re

import numpy as np
import pytest

from coarsen.errors import InternalError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.benchmark import BufferArgument
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.opencl_bench.workloads.synthetic.benchmark import benchmark_of_name, synthetic_benchmark
from coarsen.transform.coarsen import analyse

# 7 has no divisor in common with the number of values of most axes.
SAMPLE = range(0, 300, 7)


@pytest.mark.parametrize("index", SAMPLE)
def test_compiles_and_can_be_coarsened_along_every_dimension(index: int) -> None:
    benchmark = synthetic_benchmark(0, index)
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    for dimension in benchmark.dimensions:
        assert analyse(kernel, dimension).kernel is kernel
    (launch,) = benchmark.launches("test")
    assert launch.kernel == benchmark.kernel
    assert len(launch.arguments) == len(kernel.arguments)


@pytest.mark.parametrize("index", SAMPLE)
def test_every_buffer_is_an_argument_and_is_used(index: int) -> None:
    benchmark = synthetic_benchmark(0, index)
    workload = benchmark.workload("test")
    (launch,) = workload.launches
    named = [argument.name for argument in launch.arguments if isinstance(argument, BufferArgument)]
    assert sorted(named) == sorted(workload.buffers)
    body = benchmark.source.partition("\n{\n")[2]
    for name, contents in workload.buffers.items():
        assert re.search(rf"\b{name}\[", body)
        assert contents.size
        if name not in workload.outputs:
            assert np.unique(contents).size > 1 or contents.size < 4, f"{name} is constant"


@pytest.mark.parametrize("index", SAMPLE)
def test_sizes_are_whole_groups_and_the_cpus_are_of_a_sensible_number_of_bytes(index: int) -> None:
    benchmark = synthetic_benchmark(0, index)
    assert set(benchmark.presets) == {"test", "cpu", "gpu"}
    items = []
    for preset in ("test", "cpu", "gpu"):
        (launch,) = benchmark.launches(preset)
        assert all(g % l == 0 for g, l in zip(launch.global_size, launch.local_size, strict=True))  # noqa: E741
        items.append(np.prod(launch.global_size))
    assert items[0] <= items[1] <= items[2]
    arrays = benchmark.workload("cpu").buffers.values()
    assert sum(array.nbytes for array in arrays) < 60 << 20


def test_the_same_seed_gives_the_same_inputs() -> None:
    benchmark = benchmark_of_name("synthetic-0-11")
    first, again, other = (benchmark.workload("test", seed).buffers for seed in (3, 3, 4))
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
    assert any(not np.array_equal(first[name], other[name], equal_nan=False) for name in first if name != "output")


def test_the_source_is_a_text_and_no_file() -> None:
    benchmark = synthetic_benchmark(0, 11)
    assert benchmark.code == benchmark.source
    assert SUITE["mt"].code == SUITE["mt"].kernel_file
    with pytest.raises(InternalError, match="the source of synthetic-0-11 is in no file"):
        assert benchmark.kernel_file


def test_what_is_measured_depends_on_the_source() -> None:
    hashes = {synthetic_benchmark(0, index).inputs_hash for index in range(20)}
    assert len(hashes) == 20
