"""What a synthetic kernel's name stands for never changes: measurements are kept under it.

Where a test here fails, what was measured isn't what is drawn now. Kernels of another kind need another prefix, or
seeds that nothing was measured with.
"""

from __future__ import annotations

import hashlib

import pytest

from coarsen.opencl_bench.workloads.benchmark import Benchmark, ScalarArgument
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_names

COUNT = 300
ALL = "2914d78442c044dc"
INPUTS = "facf618fde593c87"
# A few beside all of them, so that it is seen whether one kernel has changed or every one has.
HASHES = {
    "synthetic-0-0": "3cbb28e375bd01b2",
    "synthetic-0-7": "079948fe1c9451b1",
    "synthetic-0-133": "1d59c0d18c063370",
    "synthetic-0-299": "a0d2fc9ad409a963",
    "synthetic-5-12": "766db23e2bc30139",
}


def what_is_measured(benchmark: Benchmark) -> str:
    """A kernel's source, and its sizes."""
    sizes = [sorted(preset.size.items()) for preset in benchmark.presets.values()]
    return f"{benchmark.source}{sizes}"


@pytest.mark.parametrize("name", HASHES)
def test_a_name_stands_for_the_same_kernel_for_ever(name: str) -> None:
    found = hashlib.sha256(what_is_measured(find_benchmark(name)).encode()).hexdigest()
    assert found[:16] == HASHES[name]


def test_none_of_the_measured_kernels_has_changed() -> None:
    found = hashlib.sha256()
    for benchmark in map(find_benchmark, synthetic_names(0, COUNT)):
        local_sizes = [preset.local_size for preset in benchmark.presets.values()]
        others = [benchmark.name, benchmark.kernel, *benchmark.build_options, benchmark.inputs_hash, *local_sizes]
        found.update(f"{what_is_measured(benchmark)}{others}".encode())
    assert found.hexdigest()[:16] == ALL


def test_their_inputs_have_not_changed() -> None:
    found = hashlib.sha256()
    for benchmark in map(find_benchmark, synthetic_names(0, COUNT)[::5]):
        workload = benchmark.workload("test")
        for name, contents in workload.buffers.items():
            found.update(f"{name}{contents.dtype.str}{contents.shape}".encode())
            found.update(b"" if name == "output" else contents.tobytes())
        (launch,) = workload.launches
        scalars = [a.value.item() for a in launch.arguments if isinstance(a, ScalarArgument)]
        found.update(f"{scalars}{workload.relative_tolerance}{workload.absolute_tolerance}".encode())
    assert found.hexdigest()[:16] == INPUTS
