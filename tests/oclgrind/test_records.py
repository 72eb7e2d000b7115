"""Oclgrind finds no data race, no access out of bounds and no divergent barrier in kernels on records."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.workloads.lookup import find_benchmark, records
from coarsen.tuning.measure.comparison import compare
from coarsen.variant.coarsening import Coarsening
from tests.oclgrind.watch import watching
from tests.opencl_bench.workloads.coarsened_run import run_coarsened, run_original


def runs_on(parameters: dict[str, object]) -> bool:
    """Only Oclgrind looks for races."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


@pytest.mark.parametrize("factor", [1, 2, 4])
@pytest.mark.parametrize("name", records())
def test_nothing_is_found(name: str, factor: int, device: DeviceDescription) -> None:
    workload = find_benchmark(name).workload("test", seed=2)
    with watching(device) as watched:
        properties = cl.command_queue_properties.PROFILING_ENABLE
        queue = cl.CommandQueue(watched.context, properties=properties)
        original = run_original(queue, name, workload)
        result = run_coarsened(queue, name, Coarsening(factor, 0), workload) if factor > 1 else original
        assert not watched.findings()
    assert compare(result.outputs, original.outputs, workload) == []
    assert not result.violated
