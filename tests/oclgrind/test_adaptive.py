"""Oclgrind finds no data race, no access out of bounds and no divergent barrier in kernels that adapt."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel
from coarsen.variant.variant import Variant
from tests.oclgrind.watch import watching
from tests.opencl_bench.workloads.adaptive.version_run import build, run


def runs_on(parameters: dict[str, object]) -> bool:
    """Only Oclgrind looks for races."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


def one_of_each(kernel: AdaptiveKernel) -> dict[str, Variant]:
    """A version of each implementation, not coarsened; the smallest of its local sizes makes the most groups."""
    found: dict[str, Variant] = {}
    for version in sorted(kernel.versions, key=lambda version: version.local_size):
        if not version.is_coarsened:
            found.setdefault(dict(version.definitions).get("IMPL", "0"), version)
    return found


VERSIONS = [
    pytest.param(name, version, id=f"{kernel.kernel}-{implementation}")
    for name, kernel in adaptive().items()
    if kernel.own is None
    for implementation, version in one_of_each(kernel).items()
]


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_nothing_is_found(name: str, version: Variant, device: DeviceDescription) -> None:
    kernel = adaptive_kernel(name)
    workload = kernel.benchmark.workload("test", 1, version.local_size, version.definitions)
    with watching(device) as watched:
        properties = cl.command_queue_properties.PROFILING_ENABLE
        queue = cl.CommandQueue(watched.context, properties=properties)
        result = run(queue, build(watched.context, kernel, version), version, workload, kernel.kernel)
        assert not watched.findings()
    assert compare(result.outputs, workload.expected(), workload) == []
    assert not result.violated
