"""Synthetic kernels on real devices: they compute something, and coarsened they compute the same."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.synthetic.axes import AXIS_VALUES
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_benchmark
from coarsen.opencl_bench.workloads.synthetic.sampling import draw
from coarsen.variant.coarsening import Coarsening
from tests.opencl_bench.workloads.synthetic.on_devices import coarsened, original, run_guarded, workload_of

SAMPLE = (1, 2, 3, 8, 15, 24, 33, 36, 74, 82, 88, 163, 186, 236, 237, 289)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("index", SAMPLE)
def test_coarsened_gives_the_same_results(queue: cl.CommandQueue, index: int) -> None:
    expected = run_guarded(queue, index, original(queue.context, index))
    assert expected.guards_intact
    before = workload_of(index).buffers
    outputs = workload_of(index).outputs
    assert [name for name in outputs if is_unchanged(before[name], expected.outputs[name])] == []
    for dimension in synthetic_benchmark(0, index).dimensions:
        kernel = coarsened(queue.context, index, (Coarsening(4, dimension, 1),))
        result = run_guarded(queue, index, kernel)
        assert compare(result.outputs, expected.outputs, workload_of(index)) == []
        assert result.guards_intact


def is_unchanged(before: Array, after: Array) -> bool:
    return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")


@pytest.mark.parametrize("axis", ["access", "loop", "local_memory", "store", "guard", "element"])
def test_the_sample_has_every_value_of_an_axis(axis: str) -> None:
    assert {getattr(draw(0, index).axes, axis) for index in SAMPLE} == set(AXIS_VALUES[axis])
