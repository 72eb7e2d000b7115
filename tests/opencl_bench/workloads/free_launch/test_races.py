"""Kernels of free launch under Oclgrind, which sees every access: no race between items, none out of bounds."""

from __future__ import annotations

from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.opencl_bench.workloads.free_launch.benchmark import free_launch_benchmark, free_launch_names
from coarsen.opencl_bench.workloads.free_launch.mechanisms import Mechanism
from coarsen.opencl_bench.workloads.synthetic.text import BARRIER
from tests.opencl_bench.workloads.free_launch.running import run_bare
from tests.opencl_bench.workloads.watched import log, runs_on, watched

__all__ = ["log", "runs_on", "watched"]

# Each mechanism once.
ROUND = free_launch_names(0, range(len(Mechanism)))
LEVELS = "launch-0-9"


@pytest.mark.parametrize("name", ROUND)
def test_nothing_is_found(watched: cl.CommandQueue, log: Path, name: str) -> None:
    benchmark = free_launch_benchmark(name)
    program = build_uncached(watched.context, benchmark.source, benchmark.build_options)
    for local_size in benchmark.local_sizes[:2]:
        run_bare(watched, name, program, local_size)
    assert log.read_text() == ""


def test_a_mistake_would_be_found(watched: cl.CommandQueue, log: Path) -> None:
    benchmark = free_launch_benchmark(LEVELS)
    wrong = benchmark.source.replace(BARRIER, "")
    assert wrong != benchmark.source
    program = build_uncached(watched.context, wrong, benchmark.build_options)
    run_bare(watched, LEVELS, program, benchmark.local_sizes[0])
    assert "data race at local memory" in log.read_text()
