"""Versions of every implementation give the reference's results, and write nowhere else; devices come by turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel
from coarsen.variant.variant import Variant
from tests.opencl_bench.workloads.adaptive.version_run import mistakes, smallest_inputs, some_versions
from tests.selection import is_one_of_two

# The kernels of the suite have their own tests.
VERSIONS = [
    (name, version, f"{name.removeprefix('adaptive-')}-{number}")
    for name, kernel in adaptive().items()
    if kernel.own is None
    for number, version in enumerate(some_versions(kernel))
]


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True for one of two devices, another one from one version to the next."""
    return is_one_of_two(parameters["number"], parameters["device"])


@pytest.mark.compiled_devices
@pytest.mark.parametrize(
    ("number", "name", "version"),
    [pytest.param(number, name, version, id=id) for number, (name, version, id) in enumerate(VERSIONS)],
)
def test_versions_compute_the_reference(queue: cl.CommandQueue, number: int, name: str, version: Variant) -> None:
    kernel = adaptive_kernel(name)
    assert mistakes(queue, kernel, version, smallest_inputs(kernel)) == []
