"""Benchmarks by name or path: the suite (drivers in the folder `suite`), those that adapt, on records, synthetic,
judging and described ones."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TypeVar

from coarsen.errors import InternalError, InvalidInputError
from coarsen.models.judge import is_judge
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.workloads import suite
from coarsen.opencl_bench.workloads.adaptive_driver import ADAPTIVE_PREFIX, AdaptiveKernel
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.records_driver import RECORDS_PREFIX, RecordsKernel

_Kernel = TypeVar("_Kernel", Benchmark, AdaptiveKernel, RecordsKernel)


def _drivers(package: ModuleType) -> Iterator[Benchmark]:
    for module in pkgutil.iter_modules(package.__path__):
        found = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "BENCHMARK", None)
        if not isinstance(found, Benchmark):
            raise InternalError(f"the driver {module.name} defines no BENCHMARK")
        yield found


SUITE: Mapping[str, Benchmark] = MappingProxyType({driver.name: driver for driver in _drivers(suite)})
"""The seventeen benchmarks, by name."""


@cache
def judge() -> Mapping[str, Benchmark]:
    """The thirty benchmarks of the second judge, by name: for a sweep and for the last step of an evaluation."""
    # Imported late: whoever measures or trains on other kernels doesn't see these.
    from coarsen.opencl_bench.workloads import judge as drivers

    return MappingProxyType({driver.name: driver for driver in _drivers(drivers)})


@cache
def adaptive() -> Mapping[str, AdaptiveKernel]:
    """The kernels of which the best version depends on the input, by the names of their benchmarks."""
    # Imported late: hardly anyone needs them.
    from coarsen.opencl_bench.workloads import adaptive as drivers

    found: dict[str, AdaptiveKernel] = {}
    for module in pkgutil.iter_modules(drivers.__path__):
        kernels = getattr(importlib.import_module(f"{drivers.__name__}.{module.name}"), "KERNELS", None)
        if not isinstance(kernels, tuple):
            raise InternalError(f"the driver {module.name} defines no KERNELS")
        found |= {kernel.name: kernel for kernel in kernels}
    return MappingProxyType(found)


def adaptive_kernel(name: str) -> AdaptiveKernel:
    """Return the kernel that adapts of this name, `adaptive-<kernel>`.

    Raises:
        InvalidInputError: there is none; the message lists the names.
    """
    return _named(name, adaptive())


@cache
def records() -> Mapping[str, RecordsKernel]:
    """The kernels whose arrays hold records, by the names of their benchmarks."""
    # Imported late: hardly anyone needs them.
    from coarsen.opencl_bench.workloads import records as drivers

    found: dict[str, RecordsKernel] = {}
    for module in pkgutil.iter_modules(drivers.__path__):
        if module.ispkg:
            continue
        kernel = getattr(importlib.import_module(f"{drivers.__name__}.{module.name}"), "KERNEL", None)
        if not isinstance(kernel, RecordsKernel):
            raise InternalError(f"the driver {module.name} defines no KERNEL")
        found[kernel.name] = kernel
    return MappingProxyType(found)


def benchmark(name: str) -> Benchmark:
    """The benchmark of this name.

    Raises:
        InvalidInputError: there is none; the message lists the names.
    """
    return _named(name, SUITE)


def _named(name: str, known: Mapping[str, _Kernel]) -> _Kernel:
    if name not in known:
        raise InvalidInputError(
            f"no benchmark {name!r}{did_you_mean(name, known)}; there are {', '.join(sorted(known))}"
        )
    return known[name]


def find_benchmark(name_or_path: str | Path) -> Benchmark:
    """The benchmark of this name: of the suite, synthetic, adaptive, on records, the judge's; or of a TOML file.

    Args:
        name_or_path: a name of the suite, `synthetic-<seed>-<index>`, `launch-<seed>-<index>`,
            `adaptive-<kernel>`, `records-<kernel>` or `judge-<kernel>`; a path, or a text that ends with `.toml`,
            is that of a file.

    Raises:
        InvalidInputError: no such benchmark or file, or a mistake in the file.
    """
    if isinstance(name_or_path, str) and not name_or_path.endswith(".toml"):
        if name_or_path.startswith("synthetic-"):
            from coarsen.opencl_bench.workloads.synthetic.benchmark import benchmark_of_name

            return benchmark_of_name(name_or_path)
        if name_or_path.startswith("launch-"):
            from coarsen.opencl_bench.workloads.free_launch.benchmark import free_launch_benchmark

            return free_launch_benchmark(name_or_path)
        if name_or_path.startswith(ADAPTIVE_PREFIX):
            return adaptive_kernel(name_or_path).benchmark
        if name_or_path.startswith(RECORDS_PREFIX):
            return _named(name_or_path, records()).benchmark
        if is_judge(name_or_path):
            return _named(name_or_path, judge())
        return benchmark(name_or_path)
    from coarsen.opencl_bench.workloads.described.read import read_benchmark

    return read_benchmark(Path(name_or_path))
