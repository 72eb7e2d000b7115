"""Oclgrind finds no data race, no access out of bounds and no divergent barrier in kernels of several launches."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.workloads.lookup import described, find_benchmark
from coarsen.tuning.measure.comparison import compare
from coarsen.variant.variant import Definitions
from tests.oclgrind.watch import watching
from tests.opencl_bench.workloads.adaptive.version_run import implementations, run_version


def runs_on(parameters: dict[str, object]) -> bool:
    """Only Oclgrind looks for races."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


VERSIONS = [
    pytest.param(name, definitions, id=f"{name}-{number}")
    for name in described("adaptive-")
    for number, definitions in enumerate(implementations(name))
]


@pytest.mark.parametrize(("name", "definitions"), VERSIONS)
def test_nothing_is_found(name: str, definitions: Definitions, device: DeviceDescription) -> None:
    benchmark = find_benchmark(name)
    workload = benchmark.workload("test", 1, None, definitions)
    with watching(device) as watched:
        properties = cl.command_queue_properties.PROFILING_ENABLE
        queue = cl.CommandQueue(watched.context, properties=properties)
        result, wanted = (
            run_version(queue, name, each, seed=1) for each in (definitions, benchmark.own_definitions)
        )
        assert not watched.findings()
    assert compare(result.outputs, wanted.outputs, workload) == []
    assert not result.violated
