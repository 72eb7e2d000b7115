"""Versions of kernels of several launches compute the same as the default one, on compiled devices."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.lookup import described, find_benchmark
from coarsen.tuning.measure.comparison import compare, is_same
from coarsen.variant.variant import Definitions
from tests.opencl_bench.workloads.adaptive.version_run import has_launches, run_version
from tests.opencl_bench.workloads.test_described_kernels import macros_of

VERSIONS = [
    (name, definitions)
    for name in described("adaptive-")
    for definitions in macros_of(name)[1:]
    if has_launches(name, definitions)
]


@pytest.mark.compiled_devices
@pytest.mark.parametrize(("name", "definitions"), VERSIONS, ids=str)
def test_a_version_gives_the_results_of_the_default_one(
    queue: cl.CommandQueue, name: str, definitions: Definitions
) -> None:
    benchmark = find_benchmark(name)
    workload = benchmark.workload("test", 2)
    wanted = run_version(queue, name, benchmark.own_definitions, seed=2)
    result = run_version(queue, name, definitions, seed=2)
    assert compare(result.outputs, wanted.outputs, workload) == []
    assert not result.violated
    for output in workload.outputs:
        assert not is_same(result.outputs[output], workload.buffers[output]), output
