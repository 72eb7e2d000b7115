"""Versions of every implementation give the reference's results on every device, and write nowhere else."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel
from coarsen.variant.variant import Variant
from tests.opencl_bench.workloads.adaptive.version_run import mistakes, smallest_inputs, some_versions

# The kernels of the suite have their own tests.
VERSIONS = [
    pytest.param(name, version, id=f"{name.removeprefix('adaptive-')}-{number}")
    for name, kernel in adaptive().items()
    if kernel.own is None
    for number, version in enumerate(some_versions(kernel))
]


@pytest.mark.compiled_devices
@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_versions_compute_the_reference(queue: cl.CommandQueue, name: str, version: Variant) -> None:
    kernel = adaptive_kernel(name)
    assert mistakes(queue, kernel, version, smallest_inputs(kernel)) == []
