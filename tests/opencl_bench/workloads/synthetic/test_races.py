"""Synthetic kernels under Oclgrind, which sees every access: no race between work-items, none out of bounds."""

from __future__ import annotations

from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.synthetic.axes import LocalMemory
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_benchmark
from coarsen.opencl_bench.workloads.synthetic.sampling import draw
from coarsen.opencl_bench.workloads.synthetic.text import BARRIER
from coarsen.variant.coarsening import Coarsening
from tests.opencl_bench.workloads.synthetic.on_devices import coarsened, original, run_bare
from tests.opencl_bench.workloads.watched import log, runs_on, watched

__all__ = ["log", "runs_on", "watched"]

# For each use of local memory, and for none, a mistake and what is then found.
NO_BARRIER = (BARRIER, "", "data race at local memory")
MISTAKES = {
    3: NO_BARRIER,
    4: NO_BARRIER,
    45: NO_BARRIER,
    73: NO_BARRIER,
    90: NO_BARRIER,
    105: ("input[middle + 2]", "input[middle + 3]", "Invalid read of size 16 at global memory"),
    216: NO_BARRIER,
    130: ("permutation[position]", "permutation[position / 2]", "data race at global memory"),
}


@pytest.mark.parametrize("index", MISTAKES)
def test_nothing_is_found_but_a_mistake_would_be(watched: cl.CommandQueue, log: Path, index: int) -> None:
    benchmark, context = synthetic_benchmark(0, index), watched.context
    run_bare(watched, index, original(context, index))
    for dimension in benchmark.dimensions:
        run_bare(watched, index, coarsened(context, index, (Coarsening(2, dimension, 1),)))
    assert log.read_text() == ""

    right, wrong, finding = MISTAKES[index]
    assert right in benchmark.source
    run_bare(watched, index, original(context, index, benchmark.source.replace(right, wrong)))
    assert finding in log.read_text()


def test_every_use_of_local_memory_is_looked_at() -> None:
    assert {draw(0, index).axes.local_memory for index in MISTAKES} == set(LocalMemory)
