"""Synthetic kernels as benchmarks, by seed and index or by name."""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache, partial

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.synthetic.axes import Axes
from coarsen.opencl_bench.workloads.synthetic.parameters import parameters
from coarsen.opencl_bench.workloads.synthetic.presets import presets
from coarsen.opencl_bench.workloads.synthetic.sampling import draw
from coarsen.opencl_bench.workloads.synthetic.source import kernel_body, kernel_source
from coarsen.opencl_bench.workloads.synthetic.specification import PREFIX, Specification
from coarsen.opencl_bench.workloads.synthetic.workload import make_launches, make_workload

# What a kernel's inputs are made by; another number where they change.
INPUTS_VERSION = 1
_NAME = re.compile(rf"{PREFIX}-(0|[1-9][0-9]{{0,8}})-(0|[1-9][0-9]{{0,8}})")


def synthetic_benchmark(seed: int, index: int) -> Benchmark:
    """The synthetic kernel of a number; the uncoarsened kernel's results are the measure of the others.

    Args:
        seed: of the whole set of kernels.
        index: of the kernel, from 0 on.
    """
    return _benchmark(draw(seed, index))


def benchmark_of_name(name: str) -> Benchmark:
    """The synthetic kernel `synthetic-<seed>-<index>`. Raises InvalidInputError where the name is none."""
    return synthetic_benchmark(*_numbers(name))


def synthetic_family(name: str) -> str:
    """The structural class of a synthetic kernel, by its benchmark's name. Raises InvalidInputError."""
    return draw(*_numbers(name)).family


def synthetic_axes(name: str) -> Axes:
    """The values of a synthetic kernel's axes, by its benchmark's name. Raises InvalidInputError."""
    return draw(*_numbers(name)).axes


def synthetic_names(seed: int, count: int) -> tuple[str, ...]:
    """The names of the first kernels of a seed."""
    return tuple(f"{PREFIX}-{seed}-{index}" for index in range(count))


def _numbers(name: str) -> tuple[int, int]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise InvalidInputError(f"no benchmark {name!r}; a synthetic kernel is called {PREFIX}-SEED-NUMBER")
    return int(match[1]), int(match[2])


@lru_cache(maxsize=8)
def _benchmark(specification: Specification) -> Benchmark:
    source = kernel_source(specification)
    taken = parameters(specification, kernel_body(specification))
    dimensions = tuple(range(specification.axes.dimensions))
    local_size = specification.axes.local_size
    return Benchmark(
        name=specification.name,
        dimensions=dimensions,
        presets=presets(specification, taken),
        divisible_local_sizes=dict.fromkeys(dimensions, local_size),
        make_workload=partial(make_workload, specification, taken),
        make_launches=partial(make_launches, specification, taken),
        kernel_name=specification.kernel,
        source_text=source,
        inputs_hash=hashlib.sha256(json.dumps([source, INPUTS_VERSION]).encode()).hexdigest(),
    )
