"""What the name of a kernel of free launch stands for never changes: measurements are kept under it.

Where a test here fails, what was measured isn't what is drawn now. Kernels of another kind need another prefix, or
seeds that nothing was measured with.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from coarsen.opencl_bench.workloads.free_launch.workload import USUAL, free_launch_benchmark
from coarsen.tuning.workload.benchmark import ScalarArgument

ALL = "0ef5187db92393b0"
HASHES = {
    "launch-0-0": "a6c68ea32eaa21f8",
    "launch-0-42": "c8f2dc21c5789eb6",
    "launch-0-333": "ef29d56413ae35bd",
    "launch-7-5": "6037846155d1aa67",
}
INPUTS = "618c51cd10018c7f"


def digest(*texts: object) -> str:
    return hashlib.sha256("\0".join(map(str, texts)).encode()).hexdigest()[:16]


def what_is_measured(name: str) -> str:
    """A kernel's source, its sizes and its local sizes."""
    benchmark = free_launch_benchmark(name)
    sizes = [sorted(preset.size.items()) for name, preset in benchmark.presets.items() if name not in USUAL]
    return f"{benchmark.source}{sizes}{benchmark.local_sizes}{benchmark.inputs_hash}"


@pytest.mark.parametrize("name", HASHES)
def test_a_name_stands_for_the_same_kernel_for_ever(name: str) -> None:
    assert digest(what_is_measured(name)) == HASHES[name]


def test_none_of_the_measured_kernels_has_changed() -> None:
    assert digest(*(what_is_measured(f"launch-0-{number}") for number in range(1000))) == ALL


def test_their_inputs_have_not_changed() -> None:
    found = hashlib.sha256()
    for number in range(0, 280, 7):
        workload = free_launch_benchmark(f"launch-0-{number}").workload("test")
        for buffer, contents in workload.buffers.items():
            found.update(f"{buffer}{contents.dtype.str}{contents.shape}".encode())
            found.update(np.nan_to_num(contents).tobytes())
        (launch,) = workload.launches
        scalars = [each.value.item() for each in launch.arguments if isinstance(each, ScalarArgument)]
        found.update(f"{scalars}{workload.absolute_tolerance}".encode())
    assert found.hexdigest()[:16] == INPUTS
