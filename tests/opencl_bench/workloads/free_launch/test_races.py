"""Kernels of free launch under Oclgrind, which sees every access: no race between items, none out of bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.opencl_bench.workloads.free_launch import free_launch_benchmark, free_launch_names
from coarsen.opencl_bench.workloads.free_launch.mechanisms import Mechanism
from coarsen.opencl_bench.workloads.synthetic.text import BARRIER
from tests.opencl_bench.workloads.free_launch.running import run_bare

# Each mechanism once.
ROUND = free_launch_names(0, range(len(Mechanism)))
LEVELS = "launch-0-9"


def runs_on(parameters: Mapping[str, object]) -> bool:
    """Only Oclgrind looks for races."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file into which contexts made from now on write what Oclgrind finds."""
    monkeypatch.setenv("OCLGRIND_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OCLGRIND_DATA_RACES", "1")
    # It counts over all contexts of a process, and is silent once there are so many.
    monkeypatch.setenv("OCLGRIND_MAX_ERRORS", str(2**31 - 1))
    return tmp_path / "log"


@pytest.fixture
def watched(log: Path, device: DeviceDescription) -> cl.CommandQueue:
    """A queue of such a context."""
    assert not log.exists()
    context = cl.Context([open_device(device)])
    return cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)


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
