"""Kernels of free launch as benchmarks, by seed and index or by name."""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache, partial

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.free_launch.kernel import PREFIX, DrawnKernel
from coarsen.opencl_bench.workloads.free_launch.sampling import draw
from coarsen.opencl_bench.workloads.free_launch.sizes import presets
from coarsen.opencl_bench.workloads.free_launch.workload import make_launches, make_workload

# What a kernel's inputs are made by; another number where they change.
INPUTS_VERSION = 1
_NAME = re.compile(rf"{PREFIX}-(0|[1-9][0-9]{{0,8}})-(0|[1-9][0-9]{{0,8}})")


def is_free_launch(name: str) -> bool:
    """Return True for the name of a kernel of free launch."""
    return _NAME.fullmatch(name) is not None


def free_launch_kernel(name: str) -> DrawnKernel:
    """The kernel `launch-<seed>-<index>`, with its mechanism and family. Raises InvalidInputError."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise InvalidInputError(f"no benchmark {name!r}; a kernel of free launch is called {PREFIX}-SEED-NUMBER")
    return draw(int(match[1]), int(match[2]))


def free_launch_names(seed: int, numbers: range) -> tuple[str, ...]:
    """The names of some kernels of a seed."""
    return tuple(f"{PREFIX}-{seed}-{number}" for number in numbers)


@lru_cache(maxsize=8)
def free_launch_benchmark(name: str) -> Benchmark:
    """The benchmark of this name; the uncoarsened kernel's results are the measure. Raises InvalidInputError."""
    kernel = free_launch_kernel(name)
    source = kernel.source
    dimensions = tuple(range(kernel.frame.dimensions))
    own = kernel.local_sizes[0]
    return Benchmark(
        name=kernel.name,
        dimensions=dimensions,
        presets=presets(kernel),
        divisible_local_sizes={d: max(kernel.local_sizes, key=lambda size: size[d]) for d in dimensions},
        make_workload=partial(make_workload, kernel),
        make_launches=partial(make_launches, kernel),
        local_sizes=kernel.local_sizes,
        kernel_name=kernel.kernel,
        source_text=source,
        inputs_hash=hashlib.sha256(json.dumps([source, INPUTS_VERSION]).encode()).hexdigest(),
        shared_local_size=None if kernel.sketch.depends_on_group else own,
    )
